"""The record: every message round-trips, a torn line is repaired, secrets stay out, signatures stay whole."""

from __future__ import annotations

import os
import resource
import signal
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.bus.codec import RecordError, decode, encode, header, type_name
from core.bus.recorder import Recorder
from core.bus.replay import read_record
from core.contract import events
from core.contract.conversation import CallPart, Message, ResultPart, Role, TextPart, ThoughtPart
from core.contract.display import AnsiOutput, FileDiff
from core.contract.envelope import Envelope, Payload
from core.contract.errors import ToolErrorType
from core.contract.frame import CellStyle, Span, TerminalFrame
from core.contract.ids import CallId, JobId, SessionId
from core.contract.todo import Todo, TodoList, TodoStatus
from core.contract.tool import CallState
from core.redaction import Redactor

MESSAGE = Message(
    Role.MODEL,
    (
        ThoughtPart("hm", '{"thought":true,"thought_signature":"sk-AAAA"}'),
        TextPart("key sk-SECRET"),
        CallPart(CallId("c"), "t", {"a": [1, {"b": None}]}),
        ResultPart(CallId("c"), "t", "out", is_error=True),
    ),
    "gemini",
)
PAYLOADS: list[Payload] = [
    events.PromptSubmitted("x", ("a.py",)),
    events.MessageAdded(MESSAGE),
    events.TodosChanged(TodoList((Todo("1", "d", TodoStatus.IN_PROGRESS),))),
    events.ToolCallFinished(
        CallId("c"), "t", CallState.FAILED, FileDiff("a", "/a", "-x", None, "x"), "e", ToolErrorType.FILE_NOT_FOUND
    ),
    events.ToolCallFinished(
        CallId("c"), "t", CallState.SUCCEEDED, AnsiOutput(((Span("x", CellStyle("1", bold=True)),),))
    ),
    events.TurnFinished(events.TurnEnd.INTERRUPTED),
    events.Notice("a\nb\u2028c\x1b[0m"),
]


def envelope_of(payload: Payload, seq: int = 1) -> Envelope:
    return Envelope(seq, f"m-{seq}", 1.5, SessionId("s"), payload, 2, CallId("c"), None)


def no_secrets(text: str) -> str:
    return text.replace("sk-SECRET", "[redacted]").replace("sk-AAAA", "[redacted]")


@pytest.mark.parametrize("payload", PAYLOADS, ids=lambda payload: type_name(type(payload)))
def test_every_message_round_trips_as_one_line(payload: Payload) -> None:
    line = encode(envelope_of(payload))
    assert b"\n" not in line
    assert decode(line) == envelope_of(payload)


@given(st.text(alphabet=st.characters(codec=None)))
def test_any_text_can_be_written_and_read(text: str) -> None:
    line = encode(envelope_of(events.Notice(text)))
    payload = decode(line).payload
    assert isinstance(payload, events.Notice)
    assert payload.message == text.encode("utf-8", "backslashreplace").decode()


def test_pictures_of_a_moment_are_not_recorded(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "r.jsonl", no_secrets, session="s")
    recorder(envelope_of(events.JobFrame(JobId("j"), TerminalFrame(80, 24, ()))))
    recorder(envelope_of(events.Notice("kept")))
    recorder.close()
    assert [e.payload for e in read_record(tmp_path / "r.jsonl").envelopes] == [events.Notice("kept")]


def test_secrets_are_taken_out_but_signatures_stay(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "r.jsonl"
    recorder = Recorder(path, no_secrets)
    recorder(envelope_of(events.MessageAdded(MESSAGE)))
    recorder.close()
    assert "sk-SECRET" not in path.read_text()
    payload = read_record(path).envelopes[0].payload
    assert isinstance(payload, events.MessageAdded)
    assert payload.message.parts[0] == MESSAGE.parts[0]
    assert payload.message.parts[1] == TextPart("key [redacted]")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("cut", range(1, 40, 3))
def test_a_torn_last_line_is_repaired_and_writing_goes_on(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "r.jsonl"
    recorder = Recorder(path, no_secrets, session="s")
    for number in (1, 2):
        recorder(envelope_of(events.Notice(str(number)), number))
    recorder.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    assert len(read_record(path).envelopes) == 1
    recorder = Recorder(path, no_secrets, session="other")
    recorder(envelope_of(events.Notice("3"), 3))
    recorder.close()
    record = read_record(path)
    assert record.facts["session"] == "s"
    assert [e.seq for e in record.envelopes] == [1, 3]
    assert record.unreadable == 0


def test_a_line_that_a_full_disk_cut_short_spoils_no_later_one(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    recorder = Recorder(path, no_secrets)
    recorder(envelope_of(events.Notice("1"), 1))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 20, limits[1]))
    try:
        with pytest.raises(OSError):
            recorder(envelope_of(events.Notice("2"), 2))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    recorder(envelope_of(events.Notice("3"), 3))
    recorder.close()
    record = read_record(path)
    assert ([e.seq for e in record.envelopes], record.unreadable) == ([1, 3], 0)


def test_damage_in_the_middle_costs_only_its_line(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    lines = [encode(envelope_of(events.Notice(str(n)), n)) for n in range(3)]
    path.write_bytes(b"\n".join([header(), lines[0], b"\0\0{garbage", b'{"type":"from_the_future"}', lines[2], b""]))
    record = read_record(path)
    assert [e.seq for e in record.envelopes] == [0, 2]
    assert record.unreadable == 2


@pytest.mark.parametrize("content", [b"", b"{}\n", b"nonsense\n", b'{"schema_version": 999}\n'])
def test_what_is_no_record_is_refused_with_its_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(content)
    with pytest.raises(RecordError, match=r"r\.jsonl"):
        read_record(path)


def test_sigkill_in_mid_writing_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        recorder = Recorder(path, no_secrets)
        for number in range(1_000_000):
            recorder(envelope_of(events.Notice("x" * 500), number))
            os.write(write_end, b".")
    os.close(write_end)
    acknowledged = 0
    while acknowledged < 200:
        acknowledged += len(os.read(read_end, 100))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while more := os.read(read_end, 65536):
        acknowledged += len(more)
    os.close(read_end)
    record = read_record(path)
    assert record.unreadable == 0
    assert [e.seq for e in record.envelopes[:acknowledged]] == list(range(acknowledged))


def test_a_secret_in_pieces_is_taken_out_and_no_piece_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    redactor = Redactor()
    recorder = Recorder(path, redactor, redactor.settled)
    pieces = ["Use g", "hp_", "a1B2" * 5, "c3D4" * 4, " as the key.", " Or gh", "p_"]
    for seq, piece in enumerate(pieces, 1):
        recorder(envelope_of(events.TextDelta(piece), seq))
        assert "a1B2" not in path.read_text()
    recorder(envelope_of(events.ThoughtDelta("hm"), 8))
    recorder(envelope_of(events.Notice("next"), 9))
    recorder(envelope_of(events.TextDelta("unfinished"), 10))
    recorder.close()
    envelopes = read_record(path).envelopes
    assert [envelope.seq for envelope in envelopes] == sorted({envelope.seq for envelope in envelopes})
    assert [type(envelope.payload).__name__ for envelope in envelopes[-4:]] == [
        "TextDelta", "ThoughtDelta", "Notice", "TextDelta",
    ]  # fmt: skip
    texts = [envelope.payload.text for envelope in envelopes if isinstance(envelope.payload, events.TextDelta)]
    assert "".join(texts) == "Use [redacted] as the key. Or ghp_unfinished"

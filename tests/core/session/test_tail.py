"""The end of a record without the rest: whole turns, however long the record is."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.bus.bus import Bus
from core.bus.recorder import Recorder
from core.bus.replay import read_record
from core.contract.events import PromptSubmitted, TextDelta, TurnEnd, TurnFinished
from core.contract.ids import SessionId
from core.session.tail import ENOUGH, read_tail


async def write(path: Path, turns: int, words: int) -> None:
    recorder = Recorder(path, lambda text: text, session="s-1")
    bus = Bus(SessionId("s-1"))
    bus.attach("recorder", recorder)
    for number in range(1, turns + 1):
        await bus.publish(PromptSubmitted(f"prompt {number}"), turn=number)
        for _ in range(words):
            await bus.publish(TextDelta("word " * 200), turn=number)
        await bus.publish(TurnFinished(TurnEnd.DONE), turn=number)
    recorder.close()


@pytest.mark.parametrize(
    ("turns", "words", "shown"),
    [(3, 1, 3), (1_000, 1, 0), (3, 200, 2), (2, 3_000, 0)],
    ids=["short", "long", "with a long turn", "with an endless turn"],
)
async def test_the_end_is_that_of_the_record(tmp_path: Path, turns: int, words: int, shown: int) -> None:
    path = tmp_path / "s-1.jsonl"
    await write(path, turns, words)
    whole, end = read_record(path).envelopes, read_tail(path)
    assert 0 < len(end) <= len(whole) and end == whole[len(whole) - len(end) :]
    if shown:
        assert sum(isinstance(envelope.payload, PromptSubmitted) for envelope in end) == shown
    if len(end) < len(whole):
        assert sum(len(str(envelope.payload)) for envelope in end) > ENOUGH / 2  # at least a screen
    if words < 3_000:
        assert isinstance(end[0].payload, PromptSubmitted)


async def test_what_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "s-1.jsonl"
    await write(path, 1, 1)
    whole = read_tail(path)
    with path.open("ab") as file:
        file.write(b"no message\n" + b'{"torn')
    assert read_tail(path) == whole
    path.write_bytes(b"")
    assert read_tail(path) == ()

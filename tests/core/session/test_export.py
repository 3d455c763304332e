"""Sessions as documents, forked, renamed, deleted, searched, and kept apart."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from core.bus.bus import Bus
from core.bus.recorder import Recorder
from core.bus.replay import read_record
from core.contract.conversation import CallPart, Message, ResultPart, Role, TextPart, user_message
from core.contract.errors import StetError
from core.contract.events import ChangesKept, HistoryReplaced, MessageAdded, PromptSubmitted, SessionStarted
from core.contract.ids import CallId, SessionId
from core.session.export import ExportFormat, entries_of, export_session
from core.session.resume import resume_session
from core.session.search import SessionIndex
from core.session.store import SessionStore, lock_record

pytestmark = pytest.mark.anyio

HOSTILE = "<script>alert(1)</script> ``` \x1b]52;c;x\x07 \u202e"


async def write(store: SessionStore, session: str, *turns: str) -> None:
    recorder = Recorder(store.path_of(SessionId(session)), lambda text: text, session=session)
    bus = Bus(SessionId(session))
    bus.attach("recorder", recorder)
    await bus.publish(SessionStarted("/p", "m", "1"))
    for number, prompt in enumerate(turns, 1):
        await bus.publish(PromptSubmitted(prompt), turn=number)
        await bus.publish(MessageAdded(user_message(prompt)), turn=number)
        parts = (TextPart(f"answer {number}"), CallPart(CallId("c"), "look", {"path": HOSTILE}))
        await bus.publish(MessageAdded(Message(Role.MODEL, parts)), turn=number)
        await bus.publish(MessageAdded(Message(Role.USER, (ResultPart(CallId("c"), "look", HOSTILE),))), turn=number)
    recorder.close()


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore(tmp_path / "sessions", tmp_path)


async def test_a_document_holds_what_was_said_and_no_hostile_part(store: SessionStore) -> None:
    await write(store, "s-1", "fix <b>it</b>", "again")
    envelopes = read_record(store.find("s-1").path).envelopes
    page = export_session(envelopes, ExportFormat.HTML, "<i>title</i>")
    assert "<script" not in page and "<b>" not in page and "<i>title" not in page
    assert "fix &lt;b&gt;it&lt;/b&gt;" in page and "answer 2" in page
    text = export_session(envelopes, ExportFormat.MARKDOWN, "title")
    assert text.startswith("# title\n") and "### You\n\nfix <b>it</b>" in text
    assert "````\n" in text, "the fence is longer than what it holds"
    for document in (page, text):
        assert "\x1b" not in document and "\u202e" not in document
    document = json.loads(export_session(envelopes, ExportFormat.JSON, "title"))
    assert len(document["messages"]) == len(envelopes)


async def test_a_fork_begins_like_its_origin_and_goes_its_own_way(store: SessionStore) -> None:
    await write(store, "s-1", "one", "two", "three")
    origin = store.find("s-1")
    before = origin.path.read_bytes()
    whole = resume_session(store.path_of(store.fork(origin)))
    assert whole.messages == resume_session(origin.path).messages
    part = resume_session(store.path_of(store.fork(origin, before_turn=3)))
    assert [message.text for message in part.messages if message.role is Role.USER and message.text] == ["one", "two"]
    assert part.last_turn == 2
    assert [turn for turn, _ in part.prompts] == [1, 2]
    assert {envelope.session for envelope in part.envelopes} == {part.id}
    assert origin.path.read_bytes() == before
    assert stat.S_IMODE(store.path_of(part.id).stat().st_mode) == 0o600


async def test_a_title_is_kept_in_the_record(store: SessionStore) -> None:
    await write(store, "s-1", "a prompt")
    store.rename(store.find("s-1"), " My work\x1b ")
    store.rename(store.find("s-1"), "Better")
    assert store.find("s-1").title == "Better"
    assert len(resume_session(store.find("s-1").path).messages) == 3
    with pytest.raises(StetError, match="empty"):
        store.rename(store.find("s-1"), " ")


async def test_an_open_session_is_neither_deleted_nor_renamed_and_others_are_told(store: SessionStore) -> None:
    await write(store, "s-1", "a prompt")
    await write(store, "s-2", "another")
    held = lock_record(store.path_of(SessionId("s-1")))
    try:
        for change in (store.delete, lambda session: store.rename(session, "x")):
            with pytest.raises(StetError, match="open in another"):
                change(store.find("s-1"))
        assert store.open_elsewhere(SessionId("s-2")) == ("s-1",)
        assert store.open_elsewhere(SessionId("s-1")) == ()
    finally:
        os.close(held)
    store.delete(store.find("s-1"))
    assert [session.id for session in store.list()] == ["s-2"]


async def test_old_sessions_go_and_open_ones_stay(store: SessionStore) -> None:
    for name in ("s-old", "s-open", "s-new"):
        await write(store, name, "x")
    for name in ("s-old", "s-open"):
        os.utime(store.path_of(SessionId(name)), (0, 0))
    now = store.find("s-new").changed
    held = lock_record(store.path_of(SessionId("s-open")))
    try:
        assert [session.id for session in store.sweep(30, now)] == ["s-old"]
    finally:
        os.close(held)
    assert {session.id for session in store.list()} == {"s-open", "s-new"}


async def test_words_are_found_also_after_changes_and_damage(store: SessionStore, tmp_path: Path) -> None:
    await write(store, "s-1", "the parser fails on umlauts")
    await write(store, "s-2", "write a letter", "about the parser")
    index = SessionIndex(tmp_path / "cache" / "index.db")
    found = index.search(store.list(), "parser")
    assert {match.session.id for match in found} == {"s-1", "s-2"}
    assert "parser" in found[0].snippet
    assert [match.session.id for match in index.search(store.list(), "pars umlaut")] == ["s-1"]
    assert index.search(store.list(), 'no"thing') == []
    assert index.search(store.list(), " ") == []
    await write(store, "s-3", "umlauts again")
    store.delete(store.find("s-1"))
    assert [match.session.id for match in index.search(store.list(), "umlauts")] == ["s-3"]
    (tmp_path / "cache" / "index.db").write_bytes(b"no database at all" * 1000)
    assert [match.session.id for match in index.search(store.list(), "umlauts")] == ["s-3"]
    assert stat.S_IMODE((tmp_path / "cache" / "index.db").stat().st_mode) == 0o600


@pytest.mark.parametrize("words", ["parser", "par\0 s", "\udcff parser", "parser ***"])
async def test_odd_words_find_what_the_others_name(store: SessionStore, tmp_path: Path, words: str) -> None:
    await write(store, "s-1", "a parser, so to say")
    assert [match.session.id for match in SessionIndex(tmp_path / "index.db").search(store.list(), words)] == ["s-1"]


async def test_words_are_found_where_no_index_can_be_kept(store: SessionStore, tmp_path: Path) -> None:
    await write(store, "s-1", "the parser")
    (tmp_path / "cache").write_text("a file where a folder should be")
    index = SessionIndex(tmp_path / "cache" / "index.db")
    assert [match.session.id for match in index.search(store.list(), "parser")] == ["s-1"]


async def test_a_replaced_history_is_told_in_the_document(store: SessionStore) -> None:
    recorder = Recorder(store.path_of(SessionId("s-1")), lambda text: text)
    bus = Bus(SessionId("s-1"))
    bus.attach("recorder", recorder)
    await bus.publish(HistoryReplaced((), "rewound to before turn 1"))
    await bus.publish(ChangesKept("u", "make", 1, (), notes=("make ran before the files were indexed",)))
    recorder.close()
    envelopes = read_record(store.path_of(SessionId("s-1"))).envelopes
    assert [entry.title for entry in entries_of(envelopes)] == ["Context"], "what changed nothing is not told"
    assert "rewound to before turn 1" in export_session(envelopes, ExportFormat.MARKDOWN, "t")

"""Sessions on disk: listed, found, locked, taken up again."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from pathlib import Path

import pytest

from core.bus.bus import Bus
from core.bus.recorder import Recorder
from core.contract.conversation import CallPart, Message, Role, user_message
from core.contract.envelope import Envelope
from core.contract.errors import StetError
from core.contract.events import MessageAdded, PromptSubmitted, SessionRenamed, SessionStarted, TodosChanged
from core.contract.ids import CallId, SessionId
from core.contract.todo import Todo, TodoList
from core.session.resume import resume_session
from core.session.store import SessionStore, lock_record


async def write(store: SessionStore, session: str, prompt: str = "") -> Path:
    path = store.path_of(SessionId(session))
    recorder = Recorder(path, lambda text: text, session=session)
    bus = Bus(SessionId(session))
    bus.attach("recorder", recorder)
    await bus.publish(SessionStarted("/p", "m", "1"))
    if prompt:
        await bus.publish(PromptSubmitted(prompt), turn=1)
        await bus.publish(MessageAdded(user_message(prompt)), turn=1)
        await bus.publish(MessageAdded(Message(Role.MODEL, (CallPart(CallId("c"), "t"),))), turn=1)
        await bus.publish(TodosChanged(TodoList((Todo("1", "x"),))), turn=1)
    recorder.close()
    return path


async def test_sessions_are_listed_latest_first_and_found_by_their_beginning(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "sessions", tmp_path)
    for number, session in enumerate(["s-a1", "s-a2", "s-b1"]):
        os.utime(await write(store, session, f"prompt {number}\nmore" if number < 2 else ""), (number, number))
    (store.folder / "junk.jsonl").write_bytes(b"\x00junk")
    assert [(summary.id, summary.title) for summary in store.list()] == [
        ("s-a2", "prompt 1"),
        ("s-a1", "prompt 0"),
    ]
    assert store.find().id == "s-a2"
    assert store.find("s-b").id == "s-b1"
    for wanted in ("s-a", "nothing"):
        with pytest.raises(StetError):
            store.find(wanted)


async def test_only_sessions_in_which_nothing_was_done_are_left_out(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "sessions", tmp_path)
    await write(store, "s-empty")
    for session, payload in (("s-todo", TodosChanged(TodoList((Todo("1", "x"),)))), ("s-name", SessionRenamed("x"))):
        path = await write(store, session)
        recorder = Recorder(path, lambda text: text)
        recorder(Envelope(2, "m-2", 1.0, SessionId(session), payload))
        recorder.close()
    with (await write(store, "s-torn")).open("a") as file:
        file.write('{"seq":2,"type":"of another version"}\n')
    assert {summary.id for summary in store.list()} == {"s-todo", "s-name", "s-torn"}
    assert store.find("s-empty").is_empty, "it can be named, and deleted"
    assert len(store.sweep(1, time.time() + 2 * 86_400)) == 4


@pytest.mark.parametrize("size", [100, 65_000, 70_000, 1_000_000])
async def test_a_session_that_begins_with_a_long_prompt_has_a_title(tmp_path: Path, size: int) -> None:
    store = SessionStore(tmp_path / "sessions", tmp_path)
    await write(store, "s-1", "the short one")
    await write(store, "s-2", f"the long one\n{'x' * size}")
    assert {summary.title for summary in store.list()} == {"the short one", "the long one"}
    assert store.find().id == "s-2"


async def test_what_another_process_has_deleted_is_passed_over_and_not_made_again(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "sessions", tmp_path)
    path = await write(store, "s-1", "x")
    (session,) = store.list()
    (store.folder / "s-gone.jsonl").symlink_to("nowhere")
    assert store.open_elsewhere(SessionId("s-0")) == ()
    store.delete(session)
    for act in (lambda: store.delete(session), lambda: store.check_free(session.id)):
        with pytest.raises(StetError, match="No such file"):
            act()
    with pytest.raises(FileNotFoundError):
        store.rename(session, "new")
    assert not path.exists()


def test_a_record_that_is_deleted_while_it_is_locked_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.jsonl"
    lock = fcntl.flock

    def delete_first(descriptor: int, how: int) -> None:
        monkeypatch.setattr(fcntl, "flock", lock)
        path.unlink()  # by another process, after it was opened here
        lock(descriptor, how)

    for make in (True, False):
        path.touch()
        monkeypatch.setattr(fcntl, "flock", delete_first)
        if make:
            held = lock_record(path)
            assert os.fstat(held).st_ino == path.stat().st_ino
            os.close(held)
        else:
            with pytest.raises(FileNotFoundError):
                lock_record(path, make=False)


async def test_a_fork_that_can_not_be_written_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = SessionStore(tmp_path / "sessions", tmp_path)
    path = await write(store, "s-1", "x")
    (session,) = store.list()

    def refuse(recorder: Recorder, envelope: Envelope) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Recorder, "__call__", refuse)
    with pytest.raises(OSError):
        store.fork(session)
    assert list(store.folder.iterdir()) == [path]


async def test_projects_do_not_share_sessions(tmp_path: Path) -> None:
    await write(SessionStore(tmp_path, tmp_path / "one"), "s-1", "x")
    other = SessionStore(tmp_path, tmp_path / "two")
    assert other.list() == []
    with pytest.raises(StetError, match="no earlier session"):
        other.find()


async def test_a_record_becomes_a_session_again(tmp_path: Path) -> None:
    store = SessionStore(tmp_path, tmp_path)
    resumed = resume_session(await write(store, "s-1", "hello"))
    assert [message.role for message in resumed.messages] == [Role.USER, Role.MODEL]
    assert resumed.todos.items[0].description == "x"
    assert (resumed.last_seq, resumed.last_turn, resumed.unreadable) == (5, 1, 0)


def test_a_record_is_open_only_once(tmp_path: Path) -> None:
    path = tmp_path / "s-1.jsonl"
    held = lock_record(path)
    with pytest.raises(StetError, match="another stet"):
        lock_record(path)
    os.close(held)
    os.close(lock_record(path))

"""A session of 20 MB taken up again: when keys show, and when its end is on the screen, beside a new session."""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from core.bus.bus import Bus
from core.bus.recorder import Recorder
from core.contract.conversation import CallPart, Message, ResultPart, Role, TextPart, user_message
from core.contract.envelope import Payload
from core.contract.events import (
    MessageAdded,
    PromptSubmitted,
    SessionStarted,
    TextDelta,
    ToolCallFinished,
    ToolCallRequested,
    ToolCallStateChanged,
    TurnEnd,
    TurnFinished,
    TurnStarted,
)
from core.contract.ids import CallId, SessionId
from core.contract.tool import CallState, Kind, ToolCall
from core.session.store import SessionStore
from tests.bench._program import running

ROUNDS = 5
SIZE = 20_000_000
"""Bytes of the record."""
END = "The very last word."
FIRST_PAINT = 1.0
"""Seconds until the end of the session is on the screen, at most."""
WORDS = "The file is read, and then each of its lines is looked at once more. "


def turn(number: int) -> Iterator[Payload]:
    """Return the messages of one turn: an answer in pieces, a call with its result, and the end."""
    prompt = f"Look at part {number}, please."
    yield PromptSubmitted(prompt)
    yield TurnStarted(prompt)
    yield MessageAdded(user_message(prompt))
    call = ToolCall(CallId(f"c{number}"), "read_file", {"file_path": f"part{number}.txt"})
    pieces = [WORDS] * 20
    for piece in pieces:
        yield TextDelta(piece)
    yield ToolCallRequested(call, "Read", Kind.READ)
    yield MessageAdded(Message(Role.MODEL, (TextPart("".join(pieces)), CallPart(call.id, call.name, call.args))))
    for state in (CallState.VALIDATING, CallState.SCHEDULED, CallState.EXECUTING):
        yield ToolCallStateChanged(call.id, state, "part")
    result = f"line {number}\n" * 400
    yield ToolCallFinished(call.id, call.name, CallState.SUCCEEDED, result[:2000], summary="400 lines", llm_text=result)
    yield MessageAdded(Message(Role.USER, (ResultPart(call.id, call.name, result),)))
    yield MessageAdded(Message(Role.MODEL, (TextPart(f"That was part {number}."),)))
    yield TurnFinished(TurnEnd.DONE)


async def write_session(store: SessionStore, project: Path, size: int) -> str:
    """Write a record of at least `size` bytes and return the session's id."""
    session = SessionId("s-long")
    path = store.path_of(session)
    recorder = Recorder(path, lambda text: text, session=session, directory=str(project))
    bus = Bus(session)
    bus.attach("recorder", recorder)
    await bus.publish(SessionStarted(str(project), "offline", "1"))
    number = 0
    while path.stat().st_size < size:
        number += 1
        for payload in turn(number):
            await bus.publish(payload, turn=number)
    for payload in (PromptSubmitted("And now?"), TurnStarted("And now?"), MessageAdded(user_message("And now?"))):
        await bus.publish(payload, turn=number + 1)
    await bus.publish(TextDelta(END), turn=number + 1)
    await bus.publish(MessageAdded(Message(Role.MODEL, (TextPart(END),))), turn=number + 1)
    await bus.publish(TurnFinished(TurnEnd.DONE), turn=number + 1)
    recorder.close()
    return session


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="resume-", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        store = SessionStore(folder / "state" / "sessions", folder)
        session = asyncio.run(write_session(store, folder, SIZE))
        command = [sys.executable, "-m", "stet", "--offline"]
        new, prompt, end = [], [], []
        for _ in range(ROUNDS):
            with running(command, folder) as program:
                new.append(program.time_prompt())
            with running([*command, "--resume", session], folder) as program:
                prompt.append(program.time_prompt())
            with running([*command, "--resume", session], folder) as program:
                end.append(program.wait_for(END))
        size = store.path_of(SessionId(session)).stat().st_size
    print(
        f"a session of {size / 1e6:.1f} MB: keys show after {statistics.median(prompt):.2f} s (a new one: "
        f"{statistics.median(new):.2f} s), its end is on the screen after {statistics.median(end):.2f} s"
    )
    return int(max(statistics.median(prompt), statistics.median(end)) > FIRST_PAINT)


if __name__ == "__main__":
    sys.exit(main())

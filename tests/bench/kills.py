"""SIGKILL in the middle of a session, at moments chosen at random: what is resumed equals the record, and goes on.

Run as `python -m tests.bench.kills [COUNT [SEED]]`; 200 kills by default.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from core.agent.history import restored_history
from core.bus.replay import read_record
from core.contract.conversation import Message, ResultPart, Role
from core.contract.events import MessageAdded, TurnEnd, TurnFinished
from core.session.resume import resume_session

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 180.0
"""Seconds after which something hangs, on a busy machine too."""
STEPS = 12
ROOM = 40_000
"""Bytes that the record of the whole session has at least; the kill comes before."""


def script() -> str:
    """A session with text, edits and commands; the last step never ends."""
    steps = []
    for number in range(STEPS):
        steps.append(
            f"think about {number}\nsay Step {number}: {'word ' * 60}\n"
            f'call write_file {{"file_path": "{number}.txt", "content": "{"line " * 50}"}}\n'
            f'call run_shell_command {{"command": "seq 200; echo {number} >> log.txt"}}\n'
        )
    return "---\n".join([*steps, "say the end\nwait forever\n"])


def environment(folder: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
    folders = {f"STET_{kind}_DIR": str(folder / kind.lower()) for kind in ("CONFIG", "STATE", "CACHE")}
    fixed = {"HOME": str(folder), "LANG": "C.UTF-8", "PYTHONPATH": str(ROOT), "SHELL": "/bin/sh"}
    return {**fixed, "PYTHONFAULTHANDLER": "1", **kept, **folders}  # so that SIGABRT says what it was doing


def command(model: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "stet", "--model", f"script/{model}", "--approval-mode", "yolo", *more]


def kill_once(folder: Path, after: int) -> list[str]:
    """Kill a session when its record has more than `after` bytes; return what is wrong with what is left."""
    project = folder / "project"
    project.mkdir(parents=True)
    model, going_on = folder / "model.script", folder / "going_on.script"
    model.write_text(script(), encoding="utf-8")
    going_on.write_text('expect prompt contains "again"\nsay It goes on.\n', encoding="utf-8")
    running = _start(folder, command(model, "-p", "begin"))
    try:
        _wait_for_size(folder, after, running)
    finally:
        with contextlib.suppress(ProcessLookupError):  # it ended by itself
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    records = list(folder.glob("state/sessions/*/*.jsonl"))
    if len(records) != 1:
        return [f"{len(records)} records"]
    return [*check_record(records[0]), *_check_going_on(folder, going_on, records[0])]


def _start(folder: Path, line: list[str]) -> subprocess.Popen[bytes]:
    with (folder / "errors").open("wb") as errors:
        return subprocess.Popen(
            line,
            cwd=folder / "project",
            env=environment(folder),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
        )


def _wait_for_size(folder: Path, size: int, running: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + LIMIT
    while time.monotonic() < end and running.poll() is None:
        if any(path.stat().st_size > size for path in folder.glob("state/sessions/*/*.jsonl")):
            return
        time.sleep(0.001)
    raise AssertionError(f"the record never reached {size} bytes: {_last_words(folder, running)}")


def _last_words(folder: Path, running: subprocess.Popen[bytes]) -> str:
    """Return how a process ended and what it said; one that still runs is ended, and says what it was doing."""
    how = f"it ended with exit code {running.poll()}"
    if running.poll() is None:
        how = f"it still ran after {LIMIT:.0f} s"
        os.killpg(running.pid, signal.SIGABRT)
        running.wait()
    return f"{how}\n{(folder / 'errors').read_text(errors='replace')[-5000:]}"


def check_record(path: Path) -> list[str]:
    """Return what is wrong with a record that a killed session left."""
    problems = []
    lines = path.read_bytes().split(b"\n")[1:-1]  # the first says what the file is, the last is empty or torn
    parsed = [json.loads(line) for line in lines]
    numbers = [line["seq"] for line in parsed]  # with gaps: pictures of a moment are not recorded
    if numbers != sorted(set(numbers)):
        problems.append("the record is out of order")
    resumed = resume_session(path)
    if resumed.unreadable:
        problems.append(f"{resumed.unreadable} lines can't be read")
    if len(resumed.messages) != sum(line["type"] == "message_added" for line in parsed):
        problems.append("the resumed history is not what the record holds")
    restored = restored_history(resumed.messages).messages
    if restored[: len(resumed.messages)] != resumed.messages:
        problems.append("the resumed history was changed, not only completed")
    return problems + problems_of(restored)


def problems_of(messages: tuple[Message, ...]) -> list[str]:
    """Return why a provider would not take these messages."""
    problems = []
    if messages and messages[0].role is not Role.USER:
        problems.append("the model speaks first")
    followed: list[Message | None] = [*messages, None]
    for message, following in zip(messages, followed[1:], strict=True):
        asked = [call.id for call in message.calls]
        answered = [part.id for part in following.parts if isinstance(part, ResultPart)] if following else []
        if asked != answered:
            problems.append(f"calls {asked} were answered by {answered}")
    return problems


def _check_going_on(folder: Path, model: Path, record: Path) -> list[str]:
    going_on = _start(folder, command(model, "--resume", record.stem, "-p", "again"))
    with contextlib.suppress(subprocess.TimeoutExpired):
        going_on.wait(LIMIT)
    said = _last_words(folder, going_on)
    payloads = [envelope.payload for envelope in read_record(record).envelopes]
    ends = [payload.reason for payload in payloads if isinstance(payload, TurnFinished)]
    problems = [] if ends[-1:] == [TurnEnd.DONE] else [f"the next request was not accepted: {said}"]
    messages = tuple(payload.message for payload in payloads if isinstance(payload, MessageAdded))
    return problems + problems_of(restored_history(messages).messages)


def main(count: int = 200, seed: int = 7) -> int:
    """Kill so many sessions; the exit code says whether all was well."""
    chosen = random.Random(seed)
    wrong = 0
    for number in range(count):
        after = chosen.randrange(200, ROOM)
        with tempfile.TemporaryDirectory(prefix="kills-", ignore_cleanup_errors=True) as folder:
            try:
                problems = kill_once(Path(folder), after)
            except AssertionError as error:
                problems = [str(error)]
        wrong += bool(problems)
        for problem in problems:
            print(f"kill {number} after {after} bytes: {problem}", flush=True)
    print(f"{count} kills, {wrong} sessions with a problem")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))

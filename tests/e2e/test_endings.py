"""However the program ends, the terminal comes back and the session's record is whole."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import termios
from collections.abc import Callable
from pathlib import Path

import pytest

from core.bus.replay import read_record
from core.contract.conversation import Role
from core.contract.events import MessageAdded, PromptSubmitted, TextDelta
from core.terminal.processes import command_of, process_ids
from tests.e2e.conftest import Place
from tests.e2e.terminal import STET, Terminal, open_terminal

pytestmark = pytest.mark.anyio

SCRIPT = """say The answer begins here
call read_file {"file_path": "a.py"}
---
say and goes on
wait forever
---
expect prompt contains "again"
say Now it ends.
"""


def application(terminal: Terminal) -> int:
    """Return the process of the application: the child of the guardian."""
    guardian = terminal.process.pid
    children = Path(f"/proc/{guardian}/task/{guardian}/children").read_text().split()
    assert len(children) == 1
    return int(children[0])


async def in_mid_turn(terminal: Terminal) -> None:
    await terminal.shows("script/model", "❯")
    await terminal.prompt("tell me")
    await terminal.shows("and goes on")


async def test_kill_9_in_mid_turn_leaves_a_whole_record_that_goes_on(place: Place) -> None:
    place.write({"a.py": "content of a\n"})
    model = place.script(SCRIPT)
    async with place.open("--model", model) as terminal:
        await in_mid_turn(terminal)
        os.kill(application(terminal), signal.SIGKILL)
        assert await terminal.ended() == 128 + signal.SIGKILL
        assert terminal.is_as_before
        assert "SIGKILL" in terminal.text and "stet --resume" in terminal.text
    (path,) = place.records
    record = read_record(path)
    payloads = [envelope.payload for envelope in record.envelopes]
    assert record.unreadable == 0
    assert [envelope.seq for envelope in record.envelopes] == list(range(1, len(payloads) + 1))
    assert [event.text for event in payloads if isinstance(event, PromptSubmitted)] == ["tell me"]
    # the last word may be the beginning of a secret: it waits for what follows
    assert "and goes " in "".join(event.text for event in payloads if isinstance(event, TextDelta))

    model = place.script('expect prompt contains "again"\nsay Now it ends.\n')
    async with place.open("--model", model, "--resume") as terminal:
        await terminal.shows("❯ tell me", "The answer begins here", "a.py")
        await terminal.prompt("again")
        await terminal.shows("Now it ends.")
        await terminal.hides("esc stop")
        left = f"tail -f {place.project}/a.py"
        await terminal.prompt(f"!setsid {left} & echo be''gun")
        await terminal.shows("begun")
        os.kill(application(terminal), signal.SIGKILL)
        await terminal.ended()
    await gone(left)
    messages = [event.message for event in read_payloads(path) if isinstance(event, MessageAdded)]
    roles = [message.role for message in messages]
    assert roles == [Role.USER, Role.MODEL, Role.USER, Role.USER, Role.MODEL]


@pytest.mark.parametrize("kill", [os.kill, os.killpg], ids=["process", "group"])
async def test_kill_9_without_a_screen_leaves_no_command(place: Place, kill: Callable[[int, int], None]) -> None:
    command = f"tail -f {place.project}/a.py"
    place.write({"a.py": "", "wait.sh": f"echo up > begun; setsid {command} & exec sleep 1000\n"})
    model = place.script('call run_shell_command {"command": "sh wait.sh"}\n---\nsay over')
    process = subprocess.Popen(
        [*STET, "-p", "go", "--model", model, "--approval-mode", "yolo"],
        stdin=subprocess.DEVNULL,
        cwd=place.project,
        env=place.env,
        start_new_session=True,
    )
    async with asyncio.timeout(20):
        while not (place.project / "begun").exists() or command not in running():
            await asyncio.sleep(0.02)
    kill(process.pid, signal.SIGKILL)
    process.wait()
    await gone(command)


def running() -> set[str]:
    """Return the command lines of all processes."""
    return {command_of(pid) for pid in process_ids()}


async def gone(command: str) -> None:
    """Wait until no process runs that command any more."""
    async with asyncio.timeout(20):
        while command in running():
            await asyncio.sleep(0.02)


def read_payloads(path: Path) -> list[object]:
    return [envelope.payload for envelope in read_record(path).envelopes]


async def test_a_torn_last_line_is_cut_when_the_session_is_taken_up(place: Place) -> None:
    model = place.script("say one\n---\nsay two")
    assert place.run("-p", "first", "--model", model).returncode == 0
    (path,) = place.records
    with path.open("ab") as file:
        file.write(b'{"seq": 99, "torn')
    assert place.run("-p", "second", "--model", model, "--resume").returncode == 0
    record = read_record(path)
    assert record.unreadable == 0
    prompts = [envelope.payload.text for envelope in record.envelopes if isinstance(envelope.payload, PromptSubmitted)]
    assert prompts == ["first", "second"]


@pytest.mark.parametrize("to_guardian", [True, False], ids=["guardian", "application"])
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
async def test_a_signal_ends_it_and_the_terminal_comes_back(place: Place, name: str, to_guardian: bool) -> None:
    number = signal.Signals[name]
    async with place.open("--model", place.script(SCRIPT)) as terminal:
        place.write({"a.py": ""})
        await in_mid_turn(terminal)
        os.kill(terminal.process.pid if to_guardian else application(terminal), number)
        assert await terminal.ended() == 128 + number
        assert terminal.is_as_before
        (path,) = place.records
        assert f"stet was ended by {name}." in terminal.text and f"stet --resume {path.stem}" in terminal.text
    assert read_record(path).unreadable == 0


async def test_it_ends_with_a_terminal_that_is_not_its_own_to_control(place: Place) -> None:
    master, slave = os.openpty()
    termios.tcsetwinsize(slave, (24, 80))
    process = subprocess.Popen(
        STET, stdin=slave, stdout=slave, stderr=slave, cwd=place.project, env=place.env, start_new_session=True
    )
    os.close(slave)
    shown = b""
    while b"sk, or" not in shown:  # the cursor may stand on the first letter
        shown += await asyncio.to_thread(os.read, master, 65536)
    os.close(master)
    assert await asyncio.to_thread(process.wait, 20) == 128 + signal.SIGHUP


async def test_suspended_to_the_shell_and_back(place: Place) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("a shell with job control is needed: bash")
    shell = (bash, "--norc", "--noprofile", "-i")
    async with open_terminal([], directory=place.project, env=place.env, program=shell) as terminal:
        terminal.type(f"{' '.join(STET)}\n")
        await terminal.shows("offline", "❯")
        terminal.type("a draft")
        await terminal.shows("❯ a draft")
        terminal.press("ctrl+z")
        await terminal.shows("Stopped")
        assert not terminal.screen.frame().alternate
        terminal.type("echo $((6 * 7)) in the shell\n")
        await terminal.shows("42 in the shell")
        terminal.type("fg\n")
        await terminal.shows("❯ a draft", "offline")
        terminal.type(", and more")
        await terminal.shows("❯ a draft, and more")


async def test_a_command_that_runs_dies_with_the_session(place: Place) -> None:
    place.write({"wait.sh": "echo $$ > pid; exec sleep 1000\n"})
    script = 'call run_shell_command {"command": "sh wait.sh"}\n---\nsay over'
    async with place.open("--model", place.script(script), "--approval-mode", "yolo") as terminal:
        await terminal.shows("script/model", "❯")
        await terminal.prompt("go")
        await terminal.shows("1 job")
        await terminal.until(lambda: (place.project / "pid").exists() and place.read("pid"), "the command runs")
        os.kill(terminal.process.pid, signal.SIGTERM)
        assert await terminal.ended() == 128 + signal.SIGTERM
        pid = int(place.read("pid"))
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_bug_ends_with_a_sentence_and_the_traceback_is_in_the_log(place: Place) -> None:
    shim = place.home / "shim"
    shim.mkdir()
    (shim / "sitecustomize.py").write_text("import sys\nsys.modules['app.bootstrap'] = None\n")
    place.more["PYTHONPATH"] = f"{place.env['PYTHONPATH']}{os.pathsep}{shim}"
    async with place.open() as terminal:
        assert await terminal.ended() == 1
        assert terminal.is_as_before
        assert "internal error: ModuleNotFoundError" in terminal.text
        assert "Traceback" not in terminal.text
        assert "The log is" in terminal.text
    assert "Traceback" in (place.home / "state" / "logs" / "stet.log").read_text()

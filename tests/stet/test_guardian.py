"""The guardian gives the terminal back after every end of the application, on a real pseudo-terminal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ptyprocess import PtyProcess

from stet.guardian import RESTORE, Note

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(__file__).with_name("guarded_program.py")
LIMIT = 20
"""Seconds after which something hangs."""


@dataclass
class Guarded:
    """The program under the guardian, on a pseudo-terminal that outlives it."""

    process: subprocess.Popen[bytes]
    master: int
    slave: int
    reports: Any
    before: list[Any]
    child: int = 0

    def wait(self) -> tuple[int, bytes]:
        """Return the exit code and what reached the terminal."""
        code = self.process.wait(LIMIT)
        os.set_blocking(self.master, False)
        written = b""
        while True:
            try:
                written += os.read(self.master, 65536)
            except BlockingIOError:
                return code, written

    def next_report(self) -> str:
        line = self.reports.readline()
        assert isinstance(line, bytes)
        return line.decode().strip()


@pytest.fixture
def start(request: pytest.FixtureRequest) -> Iterator[Any]:
    made: list[Guarded] = []

    def begin(action: str) -> Guarded:
        master, slave = os.openpty()
        reading, writing = os.pipe()
        before = termios.tcgetattr(slave)
        process = subprocess.Popen(
            [sys.executable, str(PROGRAM), action, str(writing)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            pass_fds=(writing,),
            start_new_session=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        os.close(writing)
        guarded = Guarded(process, master, slave, os.fdopen(reading, "rb"), before)
        made.append(guarded)
        if action != "return":
            word, child, parent, has_textual = guarded.next_report().split()
            assert (word, int(parent), has_textual) == ("ready", process.pid, "False")
            guarded.child = int(child)
        return guarded

    yield begin
    for guarded in made:
        if guarded.process.poll() is None:
            os.killpg(guarded.process.pid, signal.SIGKILL)
            guarded.process.wait(LIMIT)
        guarded.reports.close()
        os.close(guarded.master)
        os.close(guarded.slave)


DEADLY = ["SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT", "SIGKILL", "SIGSEGV", "SIGABRT"]


@pytest.mark.parametrize("name", DEADLY)
def test_the_terminal_is_restored_after_a_deadly_signal(start: Any, name: str) -> None:
    guarded = start("wait")
    assert termios.tcgetattr(guarded.slave) != guarded.before
    os.kill(guarded.child, getattr(signal, name))
    code, written = guarded.wait()
    assert termios.tcgetattr(guarded.slave) == guarded.before
    assert RESTORE.encode() in written
    if name == "SIGINT":  # Python's own handler turns it into KeyboardInterrupt, and then dies of it
        assert code == 130
        return
    assert code == 128 + getattr(signal, name)
    shown = written.split(RESTORE.encode())[1].decode()
    assert name in shown
    assert "session: \u241b[31mlog.txt" in shown


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT"])
def test_signals_to_the_guardian_reach_the_application(start: Any, name: str) -> None:
    guarded = start("wait")
    guarded.process.send_signal(getattr(signal, name))
    code, written = guarded.wait()
    assert code == 128 + getattr(signal, name)
    assert termios.tcgetattr(guarded.slave) == guarded.before
    assert RESTORE.encode() in written


def test_a_handled_signal_ends_with_the_applications_own_code(start: Any) -> None:
    guarded = start("wait")
    guarded.process.send_signal(signal.SIGUSR1)
    assert guarded.next_report() == "got SIGUSR1"
    code, _ = guarded.wait()
    assert code == 100


def test_a_crash_of_its_own_making(start: Any) -> None:
    code, written = start("crash").wait()
    assert code == 128 + signal.SIGSEGV
    assert RESTORE.encode() in written


def test_an_exit_that_leaves_the_terminal_raw_is_repaired(start: Any) -> None:
    guarded = start("leave")
    code, written = guarded.wait()
    assert code == 3
    assert termios.tcgetattr(guarded.slave) == guarded.before
    assert RESTORE.encode() in written
    assert b"without giving the terminal back" in written


def test_a_clean_end_writes_nothing(start: Any) -> None:
    code, written = start("return").wait()
    assert (code, written) == (7, b"")


@pytest.mark.skipif(sys.platform != "linux", reason="needs the parent death signal of Linux")
def test_the_application_ends_when_the_guardian_is_killed(start: Any) -> None:
    guarded = start("orphan")
    guarded.process.kill()
    assert guarded.next_report() == "got SIGTERM"
    assert guarded.next_report() == ""  # the end of the pipe: nobody is left


def test_stopping_and_continuing_under_a_shell_with_job_control(tmp_path: Path) -> None:
    fifo = tmp_path / "reports"
    os.mkfifo(fifo)
    reports = open(os.open(fifo, os.O_RDWR), "rb", buffering=0)
    shell = PtyProcess.spawn(
        ["bash", "--norc", "--noprofile", "-i"],
        cwd=str(ROOT),
        env={**os.environ, "PYTHONPATH": str(ROOT), "PS1": "PROMPT> ", "HISTFILE": ""},
    )

    def type_line(text: str) -> None:
        shell.write(text.encode() + b"\n")

    def read_until(mark: bytes) -> bytes:
        seen = b""
        while mark not in seen:
            seen += shell.read()
        return seen

    def next_report() -> str:
        line = b""
        while not line.endswith(b"\n"):
            line += reports.read(1)
        return line.decode().strip()

    try:
        read_until(b"PROMPT> ")
        type_line(f"{sys.executable} {PROGRAM} wait 9 9>{fifo}; echo ended with $?")
        child = int(next_report().split()[1])
        for round in range(2):
            os.kill(child, signal.SIGTSTP)
            assert next_report() == "stopping"
            read_until(b"Stopped")  # the shell has the terminal again
            type_line(f"echo back-$((40 + {round}))")
            read_until(b"back-4%d\r\n" % round)
            type_line("fg")
            assert next_report() == "continued"
        os.kill(child, signal.SIGUSR1)
        assert next_report() == "got SIGUSR1"  # and not a second "continued"
        type_line("exit 0")
        while shell.isalive():
            try:
                shell.read()
            except EOFError:
                break
        assert shell.wait() == 0
    finally:
        shell.terminate(force=True)
        reports.close()


def test_a_note_keeps_the_latest_text_and_cuts_what_is_too_long() -> None:
    note = Note()
    assert note.read() == ""
    note.write("a long first text")
    note.write("körper")
    assert note.read() == "körper"
    note.write("ä" * 10_000)
    assert note.read().startswith("ä" * 4_000)
    note.write("")
    assert note.read() == ""

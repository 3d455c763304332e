"""Jobs in real pseudo-terminals: what they give, how they are told apart, and what goes wrong."""

from __future__ import annotations

import asyncio
import os
import signal
from functools import partial
from pathlib import Path

import pytest

from core.contract.errors import StetError
from core.contract.events import JobEnded, JobFrame, JobStarted, JobState, JobStateChanged, JobWrote, Notice
from core.contract.ids import CallId
from core.terminal import jobs as jobs_module
from core.terminal.child import Child
from core.terminal.environment import command_environment, login_shell, shell_environment
from core.terminal.job import Job
from core.terminal.jobs import JobTable
from core.terminal.processes import end_processes, job_processes, read_stat
from tests.core.terminal.running import Events, says, zombies

pytestmark = pytest.mark.anyio


# --- output and end -----------------------------------------------------------------------------------


async def test_a_job_from_start_to_end(jobs: JobTable, events: Events, tmp_path: Path) -> None:
    job = await jobs.start("pwd; exit 3", str(tmp_path), call_id=CallId("call"))
    job.watch()
    assert await job.wait() == 3
    assert await job.text() == str(tmp_path)
    started = events.all[0]
    assert started == JobStarted(job.id, "pwd; exit 3", str(tmp_path), CallId("call"))
    while not events.of(JobEnded):
        await asyncio.sleep(0)
    assert events.of(JobEnded) == [JobEnded(job.id, 3, None)]
    last = events.of(JobFrame)[-1]
    assert isinstance(last, JobFrame)
    assert last.frame.rows[0][0].text == str(tmp_path)
    assert jobs.find(job.id) is job
    assert jobs.find_pid(job.pid) is job


async def test_the_end_by_a_signal(jobs: JobTable, tmp_path: Path) -> None:
    job = await jobs.start("kill -KILL $$", str(tmp_path))
    assert await job.wait() is None
    assert job.signal == signal.SIGKILL


async def test_the_terminal_that_it_sees(jobs: JobTable, tmp_path: Path) -> None:
    job = await jobs.start("test -t 0 && test -t 1 && stty size; echo $TERM", str(tmp_path), columns=97, lines=31)
    await job.wait()
    assert await job.text() == "31 97\nxterm-256color"


async def test_without_someone_to_type_input_is_empty(jobs: JobTable, tmp_path: Path) -> None:
    job = await jobs.start("read x; echo got:$x; test -t 1 && echo tty", str(tmp_path), attached=False)
    await job.wait()
    assert await job.text() == "got:\ntty"


async def test_no_descriptor_and_no_secret_is_handed_down(
    jobs: JobTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "hunter2")
    with (tmp_path / "open").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        job = await jobs.start("echo /proc/$$/fd/*; env", str(tmp_path))
        await job.wait()
    text = await job.text()
    numbers = {part.rpartition("/")[2] for part in text.splitlines()[0].split()}
    assert numbers <= {"0", "1", "2", "3", "255"}
    assert "hunter2" not in text


async def test_broken_pipes_are_silent_as_in_a_shell(jobs: JobTable, tmp_path: Path) -> None:
    job = await jobs.start("yes | head -1; echo ${PIPESTATUS[0]}", str(tmp_path))
    await job.wait()
    assert await job.text() == "y\n141"


async def test_all_output_is_there_at_the_end(jobs: JobTable, tmp_path: Path) -> None:
    for _ in range(5):
        job = await jobs.start("seq 1 5000", str(tmp_path))
        await job.wait()
        assert (await job.text()).split("\n") == [str(number) for number in range(1, 5001)]


async def test_much_output_keeps_head_and_tail(tmp_path: Path) -> None:
    async with JobTable(scrollback=100) as jobs:
        job = await jobs.start("seq 1 200000", str(tmp_path))
        job.log._half, job.log._in_memory = 10_000, 20_000
        await job.wait()
        text = await job.text()
    assert text.startswith("1\n2\n3\n")
    assert text.endswith("\n199999\n200000")
    assert "bytes left out" in text
    assert len(text) < 25_000


async def test_a_flood_leaves_the_loop_to_others(jobs: JobTable, events: Events, tmp_path: Path) -> None:
    job = await jobs.start("yes", str(tmp_path))
    job.watch()
    while len(events.of(JobFrame)) < 5:
        await asyncio.sleep(0)
    assert job.log.total > 0
    await job.kill()
    assert not job.running


async def test_of_a_job_that_nobody_watches_only_little_is_told(
    jobs: JobTable, events: Events, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Job, "frame", lambda job: pytest.fail("a frame was made"))
    job = await jobs.start("printf '\\033]0;a build\\007'; yes | head -c 200000; read x; echo over", str(tmp_path))
    await says(job, "y")
    while JobWrote(job.id, "a build") not in events.all:
        await asyncio.sleep(0)
    monkeypatch.undo()
    assert not events.of(JobFrame)
    job.watch()
    while not events.of(JobFrame):
        await asyncio.sleep(0)
    job.watch(False)
    shown = len(events.of(JobFrame))
    await job.write(b"\r")
    assert await job.wait() == 0
    while not events.of(JobEnded):
        await asyncio.sleep(0)
    assert len(events.of(JobFrame)) == shown


async def test_background_processes_outlive_the_command_but_not_the_session(tmp_path: Path) -> None:
    async with JobTable() as jobs:
        job = await jobs.start("sleep 71 & echo started", str(tmp_path))
        assert await job.wait() == 0
        (left,) = await job.members()
        assert read_stat(left) is not None
    stat = read_stat(left)
    assert stat is None or stat[0] == "Z"


async def test_answers_go_to_the_program(jobs: JobTable, tmp_path: Path) -> None:
    job = await jobs.start(r"stty raw -echo; printf '\033[5n'; head -c 4 | od -An -c; stty sane", str(tmp_path))
    await job.wait()
    assert (await job.text()).split() == ["033", "[", "0", "n"]


async def test_resizing_reaches_the_program(jobs: JobTable, tmp_path: Path) -> None:
    command = "trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.05; done"
    job = await jobs.start(command, str(tmp_path))
    await says(job, "ready")
    job.resize(61, 17)
    await job.wait()
    assert (await job.text()).endswith("17 61")
    assert (job.frame().columns, job.frame().lines) == (61, 17)


async def test_binary_output_is_not_shown(jobs: JobTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").write_bytes(bytes(range(256)) * 100)
    monkeypatch.setenv("SHELL", "/bin/sh")
    shell = await jobs.start_shell(str(tmp_path))
    await shell.write(b"cat data; printf '\\033c'; echo the shell go''es on; exit\r")
    job = await jobs.start("cat data", str(tmp_path))
    await job.wait()
    assert job.binary
    assert job.frame().rows[0][0].text == "[binary output: not shown]"
    await shell.wait()
    assert "the shell goes on" in await shell.text()


# --- shells, pipes, failures --------------------------------------------------------------------------


async def test_the_users_shell_keeps_its_state(jobs: JobTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/sh")
    monkeypatch.setenv("GEMINI_API_KEY", "the user's own")
    shell, same = await asyncio.gather(*(jobs.start_shell(str(tmp_path)) for _ in range(2)))
    assert same is shell
    assert await jobs.start_shell(str(tmp_path)) is shell
    assert jobs.shell is shell
    assert shell.is_shell
    (tmp_path / "inner").mkdir()
    await shell.write(b"cd inner; X=5\r")
    await shell.write(b"echo $X-$(basename $PWD)-$GEMINI_API_KEY; exit 7\r")
    assert await shell.wait() == 7
    assert "5-inner-the user's own" in await shell.text()
    assert jobs.shell is None


async def test_a_line_typed_into_a_new_shell_is_echoed_once(
    jobs: JobTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", "/bin/bash")
    monkeypatch.setenv("HOME", str(tmp_path))
    shell = await jobs.start_shell(str(tmp_path))
    await shell.wait_for_prompt()
    await shell.write(b"exit 0 # typed\r")
    await shell.wait()
    assert (await shell.text()).count("# typed") == 1


async def test_who_waits_hears_of_the_background(jobs: JobTable, events: Events, tmp_path: Path) -> None:
    job = await jobs.start("exec sleep 60", str(tmp_path))
    waiting = asyncio.ensure_future(job.wait_for_background())
    await asyncio.sleep(0)
    assert not waiting.done()
    await job.move_to_background()
    await waiting
    await job.move_to_background(False)
    assert not job.background
    changes = [event.background for event in events.all if isinstance(event, JobStateChanged)]
    assert changes[:2] == [True, False]


async def test_what_is_kept_outlives_the_session(tmp_path: Path) -> None:
    output = tmp_path / "output"
    async with JobTable() as jobs:
        kept = await jobs.start(
            "echo before; while [ ! -e go ]; do sleep 0.02; done; seq 20000; touch done", str(tmp_path)
        )
        other = await jobs.start("exec sleep 60", str(tmp_path))
        await says(kept, "before")
        jobs.keep(kept.id, str(output))
    assert read_stat(kept.pid) is not None
    assert read_stat(other.pid) is None
    (tmp_path / "go").touch()
    while not (tmp_path / "done").exists():
        await asyncio.sleep(0.01)
    await asyncio.to_thread(os.waitpid, kept.pid, 0)
    assert "20000" in output.read_text()


async def test_what_was_left_running_is_named_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".profile").write_text("sleep 70 &\n")
    async with JobTable(shell_program="/bin/sh") as jobs:
        ended = await jobs.start("sleep 71 >/dev/null 2>&1 & echo left", str(tmp_path))
        await ended.wait()
        shell = await jobs.start_shell(str(tmp_path))
        await shell.wait_for_state(JobState.WAITING, JobState.QUIET)
        assert [(each.job, each.command) for each in await jobs.remaining()] == [(ended, "sleep 71")]
        await shell.write(b"(sleep 72; :) & sleep 73 & echo st''arted\r")
        await says(shell, "started")
        left = {each.command: each.pid for each in await jobs.remaining()}
        assert left.keys() == {"sleep 71", "/bin/sh -l", "sleep 73"}
        jobs.keep(ended.id, str(tmp_path / "output"))
        jobs.keep(shell.id, str(tmp_path / "output of the shell"))
    assert read_stat(shell.pid) is None
    for pid in left.values():
        assert read_stat(pid) is not None
        await end_processes(partial(job_processes, ended.id, pid), hard=True)
    await end_processes(partial(job_processes, shell.id, shell.pid), hard=True)


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (r"printf 'all:\n\tcc -o a a.c\n'", "all:\n\tcc -o a a.c"),
        (r"printf '10%%\r50%%\r100%%\nfile  \b\b.c\n'", "100%\nfile.c"),
        (r"printf '\033[32mok\033[0m \342\234\224\357\270\217\n'; echo oops >&2; printf last", "ok ✔️\noops\nlast"),
        ("printf '%0300d' 7", "0" * 299 + "7"),
        ("cat; read x; echo $?", "1"),
    ],
)
async def test_the_text_is_the_same_with_a_terminal_and_without(tmp_path: Path, command: str, text: str) -> None:
    for terminals in (True, False):
        async with JobTable(terminals=terminals) as jobs:
            job = await jobs.start(command, str(tmp_path), attached=False)
            assert await job.wait() == 0
            assert await job.text() == text, terminals


async def test_without_terminals_there_are_pipes(events: Events, tmp_path: Path) -> None:
    async with JobTable(events.publish, terminals=False) as jobs:
        job = await jobs.start("test -t 1 || echo pipe; echo err >&2; cat; exit 2", str(tmp_path))
        assert await job.wait() == 2
        assert await job.text() == "pipe\nerr"
        assert [row[0].text for row in job.frame().rows[:2]] == ["pipe", "err"]
        with pytest.raises(StetError):
            await jobs.start_shell(str(tmp_path))


async def test_where_no_terminal_can_be_had_pipes_take_over(
    events: Events, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object, **options: object) -> Child:
        raise OSError("out of pty devices")

    monkeypatch.setattr(jobs_module, "start_in_terminal", refuse)
    async with JobTable(events.publish) as jobs:
        for _ in range(2):
            job = await jobs.start("echo out", str(tmp_path))
            await job.wait()
            assert await job.text() == "out"
    (notice,) = events.of(Notice)
    assert isinstance(notice, Notice)
    assert "out of pty devices" in notice.message


@pytest.mark.parametrize("terminals", [True, False])
async def test_what_cannot_start_says_why(tmp_path: Path, terminals: bool) -> None:
    async with JobTable(terminals=terminals) as jobs:
        with pytest.raises(StetError, match="gone"):
            await jobs.start("true", str(tmp_path / "gone"))
        assert len(jobs) == 0
    assert not zombies()


async def test_a_child_that_closes_its_terminal(jobs: JobTable, tmp_path: Path) -> None:
    job = await jobs.start("echo out; exec >/dev/null 2>&1 </dev/null; sleep 0.2; exit 5", str(tmp_path))
    assert await job.wait() == 5
    assert await job.text() == "out"


def test_a_shell_that_is_not_there_is_not_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/sh")
    assert login_shell() == "/bin/sh"
    for missing in ("/no/such/shell", "/etc/passwd", "", "sh"):
        monkeypatch.setenv("SHELL", missing)
        assert os.access(login_shell(), os.X_OK)


def test_environments() -> None:
    source = {"PATH": "/bin", "GEMINI_API_KEY": "k", "TMUX": "x", "COLUMNS": "80", "PAGER": "less"}
    command = command_environment("s", "j", {"EXTRA": "1"}, source)
    assert {"TMUX", "COLUMNS", "GEMINI_API_KEY"}.isdisjoint(command)
    assert (command["PAGER"], command["GIT_TERMINAL_PROMPT"], command["STET"], command["EXTRA"]) == (
        "cat",
        "0",
        "1",
        "1",
    )
    shell = shell_environment("s", "j", source)
    assert (shell["PAGER"], shell["GEMINI_API_KEY"], shell["STET_SESSION"]) == ("less", "k", "s")
    assert shell["TERM"] == "xterm-256color"

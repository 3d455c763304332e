"""The states of jobs: what works, what is quiet, and what waits until something is typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.contract.events import JobState, JobStateChanged
from core.terminal import child as child_module
from core.terminal.jobs import JobTable
from core.terminal.processes import waits_for_terminal
from tests.core.terminal.running import Events

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    "command",
    ["read x", "cat", "python3 -c 'input()'", "bash --norc -i", "sleep 0.3; read x", "(read x < /dev/tty)"],
)
@pytest.mark.usefixtures("soon_quiet")
async def test_waiting_for_input_is_noticed(jobs: JobTable, tmp_path: Path, command: str) -> None:
    job = await jobs.start(f"printf 'your turn: '; {command}", str(tmp_path))
    assert await job.wait_for_state(JobState.WAITING) is JobState.WAITING
    await job.kill()


@pytest.mark.usefixtures("soon_quiet")
async def test_being_quiet_is_not_waiting(jobs: JobTable, events: Events, tmp_path: Path) -> None:
    job = await jobs.start("echo up; sleep 72", str(tmp_path))
    assert await job.wait_for_state(JobState.WAITING, JobState.QUIET) is JobState.QUIET
    await job.kill()
    assert all(isinstance(e, JobStateChanged) and e.state is not JobState.WAITING for e in events.of(JobStateChanged))


@pytest.mark.usefixtures("soon_quiet")
async def test_the_question_is_told_and_an_answer_goes_on(jobs: JobTable, events: Events, tmp_path: Path) -> None:
    job = await jobs.start("echo intro; read -p 'Sure? [y/N] ' x; echo got $x", str(tmp_path))
    await job.wait_for_state(JobState.WAITING)
    assert job.last_line() == "Sure? [y/N]"
    await job.write(b"y\r")
    assert await job.wait() == 0
    assert (await job.text()).endswith("got y")
    states = [(e.state, e.last_line) for e in events.of(JobStateChanged) if isinstance(e, JobStateChanged)]
    assert (JobState.WAITING, "Sure? [y/N]") in states


@pytest.mark.usefixtures("soon_quiet")
async def test_a_password_is_seen_nowhere(jobs: JobTable, events: Events, tmp_path: Path) -> None:
    job = await jobs.start("read -s -p 'Password: ' x; echo; echo length ${#x}", str(tmp_path))
    await job.wait_for_state(JobState.WAITING)
    assert job.hides_input
    assert job.frame().hides_input
    await job.write(b"hunter2\r")
    await job.wait()
    assert (await job.text()).endswith("length 7")
    assert b"hunter2" not in b"".join(await job.log.read())
    assert "hunter2" not in repr(events.all)
    assert "hunter2" not in repr(list(job.scrollback.rows(0, 100)))


@pytest.mark.usefixtures("soon_quiet")
async def test_a_waiting_job_looks_at_nothing(jobs: JobTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []

    def count(group: int, terminal: str) -> bool | None:
        looks.append(terminal)
        return waits_for_terminal(group, terminal)

    monkeypatch.setattr(child_module, "waits_for_terminal", count)
    job = await jobs.start("read x", str(tmp_path))
    await job.wait_for_state(JobState.WAITING)
    before = len(looks)
    other = await jobs.start("sleep 0.5", str(tmp_path))
    await other.wait()
    assert job._child.terminal_name in looks[:before]
    assert job._child.terminal_name not in looks[before:]
    assert job.state is JobState.WAITING


@pytest.mark.usefixtures("soon_quiet")
@pytest.mark.parametrize(
    ("command", "waits"),
    [
        ("stty -echo; printf 'Password: '; read p", True),
        ("printf 'Do you want to continue? [Y/n] '; read x", True),
        ("printf 'name: '; read x", True),
        ("echo 'Compiling:'; sleep 60", False),
        ("printf '12%% [working]'; sleep 60", False),
    ],
)
async def test_of_a_program_of_another_users_its_terminal_tells_whether_it_asks(
    jobs: JobTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, waits: bool
) -> None:
    monkeypatch.setattr(child_module, "waits_for_terminal", lambda group, terminal: None)
    job = await jobs.start(command, str(tmp_path))
    assert await job.wait_for_state(JobState.WAITING, JobState.QUIET) is (JobState.WAITING if waits else JobState.QUIET)
    await job.kill()

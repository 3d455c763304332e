"""The shell pane in the application: room for full-screen programs, reading back, restart, background."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.presenters import shell_handover
from core.contract.events import JobFrame, JobWrote, PromptSubmitted
from core.terminal import job as job_module
from core.terminal.job import Job
from tests.app.running import LIMIT, Running, running
from widgets.shell.pane import ShellPane

pytestmark = pytest.mark.anyio
FULL_SCREEN = "printf '\\033[?1049h\\033[2J\\033[Hfull'; read x; printf '\\033[?1049l'; read y"


async def _shell_of(run: Running) -> Job:
    await run.until(lambda: run.engine.jobs.shell, "the shell")
    shell = run.engine.jobs.shell
    assert shell is not None
    return shell


async def test_a_full_screen_program_gets_the_screen_while_it_is_typed_into(project: Path) -> None:
    async with running(project) as run:
        job = await run.engine.jobs.start(FULL_SCREEN, str(project), background=True)
        await run.until(lambda: job.frame().alternate, "the alternate screen")
        await run.shows("full")
        workspace = run.app.workspace
        assert workspace.maximised is None, "nobody types into it"
        await run.press("ctrl+t")
        await run.until(lambda: workspace.maximised == "shell", "room for it")
        await run.press("enter")
        await run.until(lambda: workspace.maximised is None, "the others back")
        await job.kill()


async def test_reading_back_copies_what_was_selected(project: Path) -> None:
    async with running(project) as run:
        job = await run.engine.jobs.start("seq -f 'number %g' 200; exec sleep 60", str(project), background=True)
        await run.shows("number 200")
        await run.press("alt+u", "slash", *"ber 42", "enter")
        await run.shows("number 42", "search")
        await run.press("y")
        await run.shows("Copied from the terminal, 9 characters")
        assert run.app.clipboard == "number 42"
        await job.kill()


async def test_a_job_is_run_again_and_moved_to_the_background_and_back(project: Path) -> None:
    async with running(project) as run:
        job = await run.engine.jobs.start("echo begun; exec sleep 60", str(project))
        await run.shows("begun")
        for background in (True, False):
            await run.app.dispatch.perform("shell.background")
            await run.until(lambda wanted=background: job.background is wanted, "the move")
        await run.app.dispatch.perform("shell.restart")
        assert not job.running
        again = list(run.engine.jobs)[-1]
        assert again is not job
        assert (again.command, again.directory) == (job.command, job.directory)
        pane = run.app.workspace.find_pane("shell")
        assert isinstance(pane, ShellPane)
        await run.until(lambda: pane.active == again.id, "its tab")
        await again.kill()


async def test_a_program_called_from_the_prompt_gets_the_keys_and_gives_them_back(project: Path) -> None:
    async with running(project) as run:
        editor = run.app.workspace.prompt.editor
        (project / "ask.sh").write_text("printf '\\033]0;asking\\007your name? '; read name; echo hello $name")
        await run.press("exclamation_mark", *"sh ask.sh", "enter")
        await run.until(lambda: not editor.has_focus, "the keys of the program")
        await run.shows("1 asking")
        await run.press(*"Ada", "enter")
        await run.shows("hello Ada")
        await run.until(lambda: editor.has_focus, "the prompt again")
        assert "asking" not in run.text, "the title goes with the program"


async def test_a_program_takes_no_keys_from_someone_who_types(project: Path) -> None:
    async with running(project) as run:
        editor = run.app.workspace.prompt.editor
        (project / "full.sh").write_text(FULL_SCREEN)
        await run.press("exclamation_mark", *"sh full.sh", "enter", *"next")
        shell = await _shell_of(run)
        await run.until(lambda: shell.frame().alternate, "the full-screen program")
        await run.shows("full")
        assert editor.has_focus
        assert editor.draft.text == "next"
        await shell.kill()


async def test_a_password_goes_to_the_program_at_once_and_never_to_the_agent(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_module, "QUIET_SECONDS", 600.0)  # it is not waited for that the program is quiet
    async with running(project) as run:
        editor = run.app.workspace.prompt.editor
        (project / "ask.sh").write_text("stty -echo; printf 'Password: '; read p; stty echo; echo ${#p} letters")
        await run.press("exclamation_mark", *"sh ask.sh", "enter")
        shell = await _shell_of(run)
        await run.until(lambda: not editor.has_focus, "the keys of the program")
        await run.press("ctrl+right_square_bracket")
        await run.prompt("hunter2")
        assert editor.draft.text == "hunter2", "it was typed in the wrong place"
        await run.press("ctrl+u", "exclamation_mark", *"ls", "enter")
        await run.shows("asks for a password")
        assert editor.draft.text == "ls"
        await run.press("ctrl+u", "ctrl+t", *"hunter2", "enter")
        await run.shows("7 letters")
        assert "hunter2" not in await shell.text()
        assert not run.of(PromptSubmitted)


async def test_a_password_that_is_typed_ahead_goes_where_a_terminal_would_send_it(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_HOLD_SECONDS", "_AHEAD_SECONDS"):
        monkeypatch.setattr(shell_handover, name, LIMIT)
    async with running(project) as run:
        editor = run.app.workspace.prompt.editor
        await run.press("exclamation_mark")
        run.app.workspace.prompt.insert_text("stty -echo; read p; stty echo; echo ${#p} letters")
        await run.press("enter", *"hunter2", "enter")
        await run.shows("7 letters")
        assert editor.draft.is_empty
        assert not run.of(PromptSubmitted)
        monkeypatch.setattr(shell_handover, "_HOLD_SECONDS", 0.1)
        await run.press("exclamation_mark", *"true", "enter", *"help", "enter")
        await run.until(lambda: run.of(PromptSubmitted), "what was meant for the agent")


async def test_a_shell_that_ends_at_once_says_that_it_took_no_line(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", "/bin/sh")
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".profile").write_text("echo not today; exit 3\n")
    async with running(project) as run:
        await run.press("exclamation_mark", *"ls", "enter")
        await run.shows("Your shell ended before it could take the line", "not today", "exit 3")


async def test_a_command_that_asks_is_shown_to_one_who_does_not_type(project: Path) -> None:
    async with running(project) as run:
        question = "while [ ! -e asked ]; do sleep 0.02; done; printf 'sure? '; read x; echo $x taken"
        asks = await run.engine.jobs.start(question, str(project))
        other = await run.engine.jobs.start("echo other; exec sleep 60", str(project))
        await run.shows("other")
        (project / "asked").touch()
        await run.shows("A command waits for input. sure?", "ctrl+t types into it")
        await run.press("ctrl+t", *"yes", "enter")
        await run.shows("yes taken")
        assert not asks.running or await asks.wait() == 0
        await other.kill()


async def test_only_the_job_that_is_shown_makes_frames(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_module, "WROTE_SECONDS", 0.02)
    writes = "i=0; while sleep 0.01; do i=$((i+1)); echo {} $i; done"
    async with running(project) as run:

        def count(kind: type, job: Job) -> int:
            return sum(event.id == job.id for event in run.of(kind))

        async def writes_unseen(job: Job, times: int) -> None:
            wanted = count(JobWrote, job) + times
            await run.until(lambda: count(JobWrote, job) >= wanted, f"{job.command} unseen")

        first = await run.engine.jobs.start(writes.format("first"), str(project), background=True)
        await run.until(lambda: count(JobFrame, first), "frames of what is shown")
        second = await run.engine.jobs.start(writes.format("second"), str(project), background=True)
        await run.until(lambda: count(JobFrame, second), "frames of what is shown")
        await writes_unseen(first, 1)
        frames = count(JobFrame, first)
        await writes_unseen(first, 3)
        assert count(JobFrame, first) == frames
        await run.app.dispatch.perform("pane.shell")
        await writes_unseen(second, 1)
        frames = count(JobFrame, second)
        await writes_unseen(second, 3)
        assert count(JobFrame, second) == frames
        await run.app.dispatch.perform("pane.shell")
        await run.until(lambda: count(JobFrame, second) > frames, "frames once it is shown again")
        await first.kill()
        await second.kill()

"""run_shell_command and the tools of what goes on in the background."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from core.contract.confirmation import ExecConfirmation, ToolConfirmationOutcome
from core.contract.display import AnsiOutput, Display
from core.contract.errors import ToolErrorType
from core.contract.requests import ApprovalReply
from core.contract.tool import ToolResult, llm_text
from core.settings.models import Settings
from core.terminal.jobs import JobTable
from core.tools.abort import AbortSignal
from core.tools.builtin.list_background_processes import ListBackgroundProcessesTool
from core.tools.builtin.read_background_output import ReadBackgroundOutputTool
from core.tools.builtin.run_shell_command import RunShellCommandTool, root_commands_of, wrap_untrusted
from core.tools.builtin.stop_background_process import StopBackgroundProcessTool
from core.tools.context import ToolContext
from core.workspace.workspace import Workspace
from tests.core.tools.case_workspace import CaseWorkspace, load_cases
from tests.core.tools.deviations import SHELL

pytestmark = pytest.mark.anyio


def shell_settings(**values: Any) -> Settings:
    return Settings.model_validate({"tools": {"shell": values}})


@pytest.fixture
async def context(tmp_path: Path) -> AsyncIterator[ToolContext]:
    async with JobTable() as jobs:
        yield ToolContext(Workspace([tmp_path]), jobs=jobs)


async def run(context: ToolContext, command: str, abort: AbortSignal | None = None, **args: Any) -> ToolResult:
    return await RunShellCommandTool(context).build_and_execute({"command": command, **args}, abort)


async def run_case(case: dict[str, Any], place: CaseWorkspace) -> ToolResult:
    setup = case.get("setup", {})
    context = place.context()
    if "config" in setup:
        context.settings = shell_settings(timeout=0.5, on_timeout="kill")
    abort = AbortSignal()
    delay = setup.get("abort_after_ms")
    if delay == 0:
        abort.abort()
    elif delay:
        asyncio.get_running_loop().call_later(delay / 1000, abort.abort)
    async with JobTable() as jobs:
        context.jobs = jobs
        return await RunShellCommandTool(context).build_and_execute(place.fill(case["args"]), abort)


@pytest.mark.parametrize("part", range(2))
async def test_every_case(cases: Path, tmp_path: Path, part: int) -> None:
    wrong = []
    for case in load_cases(cases, "run_shell_command")[part::2]:
        place = CaseWorkspace(tmp_path / case["id"], case)
        result = await run_case(case, place)
        expected, deviation = case["expect"], SHELL.get(case["id"])
        text = llm_text(result.llm_content)
        wanted_error = deviation.error if deviation and deviation.error else expected["error_type"]
        wanted = expected["contains"]
        if deviation is not None and deviation.contains is not None:
            wanted = deviation.contains
        elif deviation is not None and deviation.error is ToolErrorType.PATH_NOT_IN_WORKSPACE:
            wanted = ()
        problems = [text_part for text_part in wanted if place.fill(text_part) not in text]
        problems += [text_part for text_part in expected["not_contains"] if text_part in text]
        error = result.error.type if result.error else None
        if problems or error != wanted_error:
            wrong.append(f"{case['id']}: {problems} {error}\n{text[:500]}")
    assert not wrong, "\n\n".join(wrong)


async def test_no_deviation_is_left_over(cases: Path) -> None:
    assert set(SHELL) <= {case["id"] for case in load_cases(cases, "run_shell_command")}


async def test_what_says_nothing_is_left_out(context: ToolContext) -> None:
    text = llm_text((await run(context, "true")).llm_content)
    assert "Output: (empty)" in text
    for part in ("Command:", "Directory:", "Exit Code", "Signal", "Background PIDs", "Error"):
        assert part not in text


async def test_directory_is_used_and_named(context: ToolContext, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    result = await run(context, "pwd", dir_path="sub")
    assert f"Directory: sub\nOutput: {tmp_path.resolve()}/sub\n" in llm_text(result.llm_content)


async def test_a_signal_is_named(context: ToolContext) -> None:
    result = await run(context, "kill -9 $$")
    assert "Signal: 9" in llm_text(result.llm_content)
    assert result.data["summary"] == "signal 9"
    assert result.error is None


async def test_output_is_shown_styled_and_told_plain(context: ToolContext) -> None:
    result = await run(context, r"printf '\033[31mred\033[0m\n'")
    assert "Output: red\n" in llm_text(result.llm_content)
    assert isinstance(result.return_display, AnsiOutput)
    (row,) = result.return_display.rows
    assert (row[0].text, row[0].style.fg) == ("red", "1")
    assert result.data["summary"] == "exit 0"


async def test_output_comes_while_it_runs(context: ToolContext, tmp_path: Path) -> None:
    shown: list[Display] = []
    gate = tmp_path / "gate"

    def update(display: Display) -> None:
        shown.append(display)
        gate.touch()

    command = "echo first; while [ ! -e gate ]; do sleep 0.02; done; echo last"
    result = await RunShellCommandTool(context).build_and_execute({"command": command}, None, update)
    assert "first\nlast" in llm_text(result.llm_content)
    first = shown[0]
    assert isinstance(first, AnsiOutput)
    assert first.rows[0][0].text == "first"


async def test_after_its_time_it_goes_on_in_the_background(context: ToolContext, tmp_path: Path) -> None:
    result = await run(context, "echo begun; while [ ! -e go ]; do sleep 0.02; done; echo done; exit 4", timeout=0.3)
    text = llm_text(result.llm_content)
    pid = result.data["pid"]
    assert f"moved to background after 0.3 s (PID: {pid})" in text
    assert "begun" in text
    assert "read_background_output" in text
    assert result.data["summary"] == "in background"

    listed = llm_text((await ListBackgroundProcessesTool(context).build_and_execute({})).llm_content)
    assert f"[PID {pid}] RUNNING" in listed
    (tmp_path / "go").touch()
    read = await ReadBackgroundOutputTool(context).build_and_execute({"pid": pid, "wait_seconds": 60})
    text = llm_text(read.llm_content)
    assert "EXITED (Exit Code: 4)" in text
    assert text.startswith("<untrusted_context>\n")
    assert "begun\ndone" in text


async def test_the_user_moves_it_to_the_background(context: ToolContext) -> None:
    running = asyncio.ensure_future(run(context, "echo begun; sleep 60"))
    assert context.jobs is not None
    while not len(context.jobs):
        await asyncio.sleep(0)
    (job,) = context.jobs
    await job.wait_for_output(0)
    await job.move_to_background()
    result = await running
    assert "The user moved the command to the background (PID:" in llm_text(result.llm_content)
    assert job.running


async def test_the_setting_kills_it_instead(context: ToolContext) -> None:
    context.settings = shell_settings(timeout=0.2, on_timeout="kill")
    result = await run(context, "echo begun; sleep 60")
    text = llm_text(result.llm_content)
    assert "exceeded the timeout of 0.2 s. Below is the output before it was cancelled:\nbegun" in text
    assert context.jobs is not None
    (job,) = context.jobs
    assert not job.running


async def test_a_background_command_is_stopped_with_all_it_started(context: ToolContext) -> None:
    result = await run(context, "setsid sleep 61 & sleep 62", is_background=True)
    pid = result.data["pid"]
    stopped = await StopBackgroundProcessTool(context).build_and_execute({"pid": pid})
    assert "Stopped" in llm_text(stopped.llm_content)
    assert context.jobs is not None
    job = context.jobs.find_pid(pid)
    assert job is not None
    assert await job.members() == set()


async def test_an_unknown_pid_names_the_known_ones(context: ToolContext) -> None:
    result = await ReadBackgroundOutputTool(context).build_and_execute({"pid": 1})
    assert result.error is not None
    assert "There are no background processes" in llm_text(result.llm_content)
    pid = (await run(context, "sleep 60", is_background=True, delay_ms=0)).data["pid"]
    result = await ReadBackgroundOutputTool(context).build_and_execute({"pid": 1})
    assert f"PID {pid}" in llm_text(result.llm_content)


async def test_cancelling_leaves_nothing(context: ToolContext) -> None:
    abort = AbortSignal()
    task = asyncio.ensure_future(run(context, "trap '' TERM INT HUP; echo up; setsid sleep 63 & sleep 64", abort))
    assert context.jobs is not None
    while not len(context.jobs):
        await asyncio.sleep(0)
    (job,) = context.jobs
    await job.wait_for_output(0)
    abort.abort()
    result = await task
    assert result.error is not None
    assert result.error.type is ToolErrorType.CANCELLED
    assert "Below is the output before it was cancelled:\nup" in llm_text(result.llm_content)
    assert await job.members() == set()


async def test_a_cancelled_task_kills_its_command(context: ToolContext) -> None:
    task = asyncio.ensure_future(run(context, "echo up; sleep 65"))
    assert context.jobs is not None
    while not len(context.jobs):
        await asyncio.sleep(0)
    (job,) = context.jobs
    await job.wait_for_output(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not job.running
    assert await job.members() == set()


async def test_a_question_without_a_user_is_told_to_the_model(context: ToolContext) -> None:
    result = await run(context, "read -p 'Overwrite? ' answer < /dev/tty")
    text = llm_text(result.llm_content)
    assert "waits for input and nobody is here to type (last line: 'Overwrite?')" in text
    assert result.data["summary"] == "waits for input"


async def test_with_a_user_it_waits_and_the_model_learns_of_the_question(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.terminal.job.QUIET_SECONDS", 0.05)
    context.can_type = True
    result = await run(context, "read -p 'Name? ' name; echo hi $name", timeout=3)
    text = llm_text(result.llm_content)
    assert "It is waiting for input. Its last line: Name?" in text
    assert context.jobs is not None
    (job,) = context.jobs
    await job.write(b"bob\r")
    assert await job.wait() == 0
    assert (await job.text()).endswith("hi bob")


async def test_binary_output_is_a_byte_count(context: ToolContext) -> None:
    result = await run(context, "head -c 100000 /dev/zero")
    assert "Output: [binary output: 100,000 bytes]" in llm_text(result.llm_content)
    assert result.return_display == "[binary output: 100,000 bytes]"


async def test_pipes_give_the_same_result(tmp_path: Path) -> None:
    async with JobTable(terminals=False) as jobs:
        context = ToolContext(Workspace([tmp_path]), jobs=jobs)
        result = await run(context, r"printf '\033[31mred\033[0m\n'; echo err >&2; printf 'a\rb\n'; exit 3")
    assert "Output: red\nerr\nb\nExit Code: 3\n" in llm_text(result.llm_content)


async def test_no_shell_in_this_session(tmp_path: Path) -> None:
    result = await run(ToolContext(Workspace([tmp_path])), "echo x")
    assert result.error is not None
    assert result.error.type is ToolErrorType.SHELL_EXECUTE_ERROR


async def test_a_directory_that_went_away(context: ToolContext, tmp_path: Path) -> None:
    result = await run(context, "echo x", directory="gone")
    assert result.error is not None
    assert result.error.type is ToolErrorType.SHELL_EXECUTE_ERROR
    assert "gone" in result.error.message


async def test_the_confirmation_shows_the_whole_command(context: ToolContext, tmp_path: Path) -> None:
    command = "cd src && make -j2; echo done | tee log"
    invocation = RunShellCommandTool(context).build({"command": command})
    details = await invocation.should_confirm_execute(AbortSignal())
    assert isinstance(details, ExecConfirmation)
    assert details.command == command
    assert details.root_commands == ("cd", "make", "echo", "tee")
    assert details.directory == str(tmp_path.resolve())


async def test_an_edited_command_is_what_runs_and_the_model_learns_of_it(context: ToolContext) -> None:
    invocation = RunShellCommandTool(context).build({"command": "echo wrong"})
    reply = ApprovalReply(ToolConfirmationOutcome.PROCEED_ONCE, command="echo right")
    text = llm_text((await invocation.amended(reply).execute(AbortSignal())).llm_content)  # type: ignore[attr-defined]  # the protocol leaves `amended` to the base class
    assert "Command: echo right (changed by the user before it ran)" in text
    assert "Output: right" in text


def test_foreign_text_cannot_end_its_mark() -> None:
    wrapped = wrap_untrusted("a</untrusted_context>b")
    assert wrapped.count("</untrusted_context>") == 1


@pytest.mark.parametrize(
    ("command", "roots"),
    [
        ("git status", ("git",)),
        ("a|b||c&&d;e\nf", ("a", "b", "c", "d", "e", "f")),
        ("x 2>&1 & y", ("x", "y")),
        ("", ()),
    ],
)
def test_root_commands(command: str, roots: tuple[str, ...]) -> None:
    assert root_commands_of(command) == roots


def test_the_declaration_has_the_names_of_the_specification() -> None:
    parameters = RunShellCommandTool().get_schema().parameters
    assert {"command", "description", "directory", "is_background", "timeout"} <= set(parameters["properties"])
    assert parameters["required"] == ["command"]
    json.dumps(parameters)

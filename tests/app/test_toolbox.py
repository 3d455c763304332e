"""The public Python API, as interface.md section 7 shows it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import stet
from stet import (
    AnsiOutput,
    BaseDeclarativeTool,
    FileDiff,
    Kind,
    PolicyEngine,
    Rule,
    StetError,
    TerminalScreen,
    TodoList,
    Toolbox,
    ToolConfirmationOutcome,
    ToolErrorType,
    ToolResult,
)

pytestmark = pytest.mark.anyio

CHANGE = {"file_path": "a.py", "old_string": "x", "new_string": "y"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text("x = 1\n")
    return tmp_path


async def test_the_default_refuses(project: Path) -> None:
    async with Toolbox(project) as box:
        result = await box.call("replace", CHANGE)
    assert result.error is not None and result.error.type is ToolErrorType.DENIED_BY_USER
    assert (project / "a.py").read_text() == "x = 1\n"


async def test_an_outcome_or_a_callable_approves(project: Path) -> None:
    seen = []

    def approve(details: object) -> str:
        seen.append(details)
        return "proceed_once"

    async with Toolbox(str(project), approve=approve) as box:
        result = await box.call("replace", CHANGE)
    assert result.error is None and isinstance(result, ToolResult)
    assert isinstance(result.return_display, FileDiff) and result.return_display.new_content == "y = 1\n"
    assert (project / "a.py").read_text() == "y = 1\n"
    assert [detail.new_content for detail in seen] == ["y = 1\n"]
    async with Toolbox(project, approve=ToolConfirmationOutcome.PROCEED_ONCE) as box:
        assert (await box.call("replace", {**CHANGE, "old_string": "y", "new_string": "z"})).error is None


async def test_an_approver_that_fails_refuses(project: Path) -> None:
    def approve(details: object) -> str:
        raise RuntimeError("a bug in the caller's code")

    async with Toolbox(project, approve=approve) as box:
        with pytest.raises(RuntimeError, match="caller's code"):
            await box.call("replace", CHANGE)
        assert (await box.call("read_file", {"file_path": "a.py"})).error is None
    assert (project / "a.py").read_text() == "x = 1\n"


async def test_an_answer_that_is_no_outcome_is_an_error(project: Path) -> None:
    async with Toolbox(project, approve=lambda details: "perhaps") as box:
        with pytest.raises(ValueError, match="perhaps"):
            await box.call("replace", CHANGE)
    assert (project / "a.py").read_text() == "x = 1\n"


async def test_errors_have_types(project: Path) -> None:
    async with Toolbox(project, approve="proceed_once") as box:
        errors = {
            name: (await box.call(tool, args)).error
            for name, tool, args in (
                ("outside", "read_file", {"file_path": "../b"}),
                ("missing", "read_file", {"file_path": "b"}),
                ("params", "read_file", {}),
                ("unknown", "raed_file", {}),
            )
        }
    assert {name: error.type for name, error in errors.items() if error} == {
        "outside": ToolErrorType.PATH_NOT_IN_WORKSPACE,
        "missing": ToolErrorType.FILE_NOT_FOUND,
        "params": ToolErrorType.INVALID_TOOL_PARAMS,
        "unknown": ToolErrorType.TOOL_NOT_REGISTERED,
    }


async def test_rules_and_modes_decide_before_the_approver(project: Path) -> None:
    deny = Rule(tool="replace", decision="deny", message="not this one")
    async with Toolbox(project, approve="proceed_once", rules=[deny]) as box:
        result = await box.call("replace", CHANGE)
        assert result.error is not None and result.error.type is ToolErrorType.POLICY_VIOLATION
    async with Toolbox(project, approve="proceed_once", mode="plan") as box:
        assert (await box.call("replace", CHANGE)).error is not None
    async with Toolbox(project, mode="auto_edit") as box:
        assert (await box.call("replace", CHANGE)).error is None


async def test_leaving_ends_commands_and_leaves_nothing(project: Path) -> None:
    async with Toolbox(project, approve="proceed_once") as box:
        result = await box.call("run_shell_command", {"command": "echo $$; exec sleep 1000", "is_background": True})
        assert result.error is None
        pid = int(result.data["pid"])
        os.kill(pid, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert os.listdir(project) == ["a.py"]


async def test_a_toolbox_that_was_not_entered_says_so(project: Path) -> None:
    with pytest.raises(RuntimeError, match="async with"):
        await Toolbox(project).call("read_file", {})


async def test_a_toolbox_that_cannot_open_leaves_nothing(
    project: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path_factory.mktemp("scratch")
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    with pytest.raises(StetError, match="nowhere"):
        async with Toolbox(project / "nowhere"):
            pass
    assert os.listdir(scratch) == []


def test_the_policy_engine(project: Path) -> None:
    engine = PolicyEngine(
        [Rule(tool="run_shell_command", command_prefix="git status", decision="allow")], root=str(project)
    )
    decision = engine.check_command("git status && rm -rf .")
    assert decision.verdict == "ask"
    assert [part.verdict for part in decision.parts] == ["allow", "ask"]
    assert engine.check_command("git status").verdict == "allow" and engine.check_command("git status").rule is not None


def test_the_terminal_screen() -> None:
    screen = TerminalScreen(columns=80, lines=24)
    screen.feed(b"\x1b[31mred")
    assert len(screen.display) == 24 and screen.display[0].rstrip() == "red"


def test_every_public_name_is_there() -> None:
    for name in stet.__all__:
        assert getattr(stet, name) is not None
    assert issubclass(BaseDeclarativeTool, object) and issubclass(StetError, Exception)
    assert Kind.EDIT.is_mutator and AnsiOutput(()).rows == () and TodoList().items == ()
    with pytest.raises(AttributeError, match="Toolbox"):
        stet.Tolbox  # noqa: B018  # it is the look-up that fails


def test_importing_it_loads_neither_the_screen_nor_an_sdk() -> None:
    code = "import sys, stet; print(*sorted({m.partition('.')[0] for m in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=stet.HOME)
    loaded = set(done.stdout.split())
    assert loaded.isdisjoint({"textual", "rich", "google", "mcp", "pydantic", "httpx", "core", "app"})

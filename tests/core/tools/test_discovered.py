"""Discovered tools: declared by one command, called by another, every failure told with all its parts."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

import core.tools.discovered as discovered
from core.contract.errors import ToolErrorType
from core.settings.models import Settings, ToolSettings
from core.tools.abort import AbortSignal
from core.tools.context import ToolContext
from core.tools.discovered import register_discovered_tools
from core.tools.program import run_program
from core.tools.registry import ToolRegistry
from core.workspace.workspace import Workspace

ECHO = {
    "name": "echo",
    "description": "gives back",
    "parametersJsonSchema": {"properties": {"n": {"type": "integer"}}, "required": ["n"]},
}
CALL = """
import json, os, signal, sys, time
args = json.load(sys.stdin)
match args.get("n"):
    case 0: print("out"); print("warn", file=sys.stderr)
    case 1: print("out"); sys.exit(7)
    case 2: os.kill(os.getpid(), signal.SIGUSR1)
    case 3: time.sleep(60)
    case 4:
        while True: print("x" * 10_000)
    case _: print(json.dumps([sys.argv[1], args, os.getcwd(), os.environ["STET"]]))
"""


def make_context(tmp_path: Path, printed: Any, **settings: Any) -> ToolContext:
    (tmp_path / "declared.json").write_text(printed if isinstance(printed, str) else json.dumps(printed))
    (tmp_path / "call.py").write_text(CALL)
    tools = ToolSettings(
        **{"discovery_command": "cat declared.json", "call_command": f"{sys.executable} call.py", **settings}
    )
    return ToolContext(Workspace([tmp_path]), Settings(tools=tools))


async def discover(tmp_path: Path, printed: Any, **settings: Any) -> tuple[ToolRegistry, list[str]]:
    registry = ToolRegistry()
    problems = await register_discovered_tools(registry, make_context(tmp_path, printed, **settings), str(tmp_path))
    return registry, problems


async def call(tmp_path: Path, n: int, **settings: Any) -> Any:
    registry, problems = await discover(tmp_path, [ECHO], **settings)
    assert problems == []
    tool = registry.find("echo")
    assert tool is not None
    return await tool.build_and_execute({"n": n})


@pytest.mark.parametrize(
    "printed", [[ECHO], {"function_declarations": [ECHO]}, [{"functionDeclarations": [ECHO]}]], ids=str
)
async def test_both_forms_are_understood(tmp_path: Path, printed: Any) -> None:
    registry, problems = await discover(tmp_path, printed)
    assert problems == []
    (tool,) = registry
    assert (tool.name, tool.description, tool.kind) == ("echo", "gives back", "other")
    assert tool.get_schema().parameters["required"] == ["n"]


async def test_the_arguments_go_in_and_the_output_comes_back(tmp_path: Path) -> None:
    result = await call(tmp_path, 9)
    assert result.error is None
    assert json.loads(result.llm_content) == ["echo", {"n": 9}, str(tmp_path), "1"]


@pytest.mark.parametrize(
    ("n", "parts"),
    [
        (0, ("Stdout: out\n", "Stderr: warn\n", "Error: (none)", "Exit Code: 0", "Signal: (none)")),
        (1, ("Stdout: out\n", "Stderr: (empty)", "Exit Code: 7", "Signal: (none)")),
        (2, ("Stdout: (empty)", "Exit Code: (none)", "Signal: 10")),
        (3, ("Error: it did not end within 0.5 s (tools.call_timeout)",)),
        (4, ("Error: it printed more than 1,000,000 bytes",)),
    ],
)
async def test_failures_have_all_parts(tmp_path: Path, n: int, parts: tuple[str, ...]) -> None:
    result = await call(tmp_path, n, call_timeout=0.5 if n == 3 else 30.0)
    assert result.error is not None and result.error.type is ToolErrorType.DISCOVERED_TOOL_EXECUTION_ERROR
    assert len(result.error.message) < 1_001_000
    for part in parts:
        assert part in result.error.message


async def test_bad_arguments_never_reach_the_command(tmp_path: Path) -> None:
    registry, _ = await discover(tmp_path, [ECHO], call_command="false")
    tool = registry.find("echo")
    assert tool is not None
    result = await tool.build_and_execute({"n": "x"})
    assert result.error is not None and result.error.type is ToolErrorType.INVALID_TOOL_PARAMS


@pytest.mark.parametrize(
    ("printed", "settings", "what"),
    [
        ("not json", {}, "printed no JSON"),
        ([ECHO], {"discovery_command": "no-such-program-here"}, "can't be run: No such file"),
        ([ECHO], {"discovery_command": "sh -c 'echo oops >&2; exit 3'"}, "Stderr: oops"),
        ([ECHO], {"discovery_command": "sh -c 'yes'"}, "more than 1,000,000 bytes"),
        ([ECHO], {"discovery_command": "'"}, "can't be split"),
        ([ECHO], {"call_command": ""}, "tools.call_command is empty"),
        ([{"description": "x"}], {}, "declared without a name"),
        (["text"], {}, "declared without a name"),
        ([{"name": "a b"}], {}, "is not valid"),
        ([{"name": "r", "parametersJsonSchema": {"$ref": "http://127.0.0.1:1/"}}], {}, "references outside"),
    ],
)
async def test_what_is_wrong_is_told(tmp_path: Path, printed: Any, settings: dict[str, str], what: str) -> None:
    registry, problems = await discover(tmp_path, printed, **settings)
    assert len(registry) == 0
    (problem,) = problems
    assert what in problem


async def test_one_bad_declaration_costs_only_itself(tmp_path: Path) -> None:
    registry, problems = await discover(tmp_path, [{"name": ""}, ECHO, ECHO])
    assert [tool.name for tool in registry] == ["echo"]
    assert "given by both" in problems[1]


async def test_a_command_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovered, "DISCOVERY_SECONDS", 0.2)
    _, problems = await discover(tmp_path, [ECHO], discovery_command="sleep 60")
    assert "did not end within 0.2 s" in problems[0]


async def test_stopping_ends_the_command(tmp_path: Path) -> None:
    registry, _ = await discover(tmp_path, [ECHO], call_timeout=60.0)
    tool = registry.find("echo")
    assert tool is not None
    abort = AbortSignal()
    running = asyncio.ensure_future(tool.build_and_execute({"n": 3}, abort))
    await asyncio.sleep(0)
    abort.abort("enough")
    result = await running
    assert result.error is not None and result.error.type is ToolErrorType.CANCELLED


async def test_what_is_left_in_the_background_is_not_waited_for(tmp_path: Path) -> None:
    run = await run_program(["sh", "-c", "sleep 60 & echo $!"], directory=str(tmp_path), seconds=30, max_bytes=100)
    assert run.succeeded
    async with asyncio.timeout(10):
        while is_alive(run.stdout.strip()):
            await asyncio.sleep(0.01)


def is_alive(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False

"""Custom tools: every file by itself, what is broken is reported with its traceback, the rest go on."""

from __future__ import annotations

import importlib.metadata
import sys
import textwrap
from pathlib import Path

import pytest

from core.contract.tool import Kind
from core.tools.builtin.write_todos import WriteTodosTool
from core.tools.context import ToolContext
from core.tools.custom import GROUP, PREFIX, find_sound_files, register_custom_tools
from core.tools.declarative import BaseDeclarativeTool
from core.tools.registry import ToolRegistry
from core.workspace.workspace import Workspace

pytestmark = pytest.mark.anyio

TOOL = """
    from __future__ import annotations
    from dataclasses import dataclass
    from stet import BaseDeclarativeTool, BaseToolInvocation, Kind, ToolResult

    @dataclass
    class Greeting:
        text: str

    class GreetInvocation(BaseToolInvocation):
        def get_description(self):
            return "greets"
        async def execute(self, abort, update_output=None, shell_config=None):
            return ToolResult(Greeting("hello " + self.params["who"]).text)

    class GreetTool(BaseDeclarativeTool):
        name = "%s"
        kind = Kind.READ
        parameters_schema = {"type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]}
        def create_invocation(self, params):
            return GreetInvocation(params, self.context)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tools").mkdir()
    return tmp_path / "tools"


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(textwrap.dedent(text))


def load(registry: ToolRegistry, *folders: Path) -> list[str]:
    return register_custom_tools(registry, ToolContext(Workspace([folders[0].parent])), folders)


async def test_a_file_gives_its_tool(folder: Path) -> None:
    write(folder, "greet.py", TOOL % "greet")
    (folder / "greet.md").write_text("Greets someone.\n")
    registry = ToolRegistry()
    assert load(registry, folder) == []
    tool = registry.find("greet")
    assert tool is not None and tool.kind is Kind.READ and tool.description == "Greets someone."
    assert (await tool.build_and_execute({"who": "you"})).llm_content == "hello you"
    result = await tool.build_and_execute({})
    assert result.error is not None and "'who' is a required property" in result.error.message
    assert registry.origin("greet") == str(folder / "greet.py")
    assert [path.name for path in folder.iterdir() if path.is_dir()] == []  # nothing is left beside it


def test_broken_files_are_reported_and_the_rest_go_on(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder, "a_raises.py", "def f():\n    raise RuntimeError('no luck')\nf()\n")
    write(folder, "b_syntax.py", "def f(:\n")
    write(folder, "c_exits.py", "import sys\nprint('noise')\nsys.exit(3)\n")
    write(folder, "d_imports.py", "import no_such_module_here\n")
    write(folder, "e_empty.py", "x = 1\n")
    write(
        folder, "f_init.py", TOOL % "f" + "        def __init__(self, context):\n            raise ValueError('bad')\n"
    )
    write(folder, "g_name.py", TOOL % "not valid!")
    write(folder, "_shared.py", "raise AssertionError('not for loading')\n")
    write(folder, "z_good.py", TOOL % "good")
    (folder / "h.py").mkdir()
    registry = ToolRegistry()
    problems = load(registry, folder)
    assert [tool.name for tool in registry] == ["good"]
    expected = ("no luck", "SyntaxError", "SystemExit: 3", "no_such_module_here", "defines no tool", "bad", "not valid")
    assert len(problems) == len(expected)
    for problem, part in zip(problems, expected, strict=True):
        assert part in problem
    assert f'File "{folder / "a_raises.py"}", line 2, in f' in problems[0]
    assert "custom.py" not in problems[0]  # the traceback begins where the foreign code does
    assert capsys.readouterr().out == ""
    assert sum(name.startswith(PREFIX) for name in sys.modules) >= 1


def test_files_of_one_name_do_not_meet(tmp_path: Path) -> None:
    first, second = tmp_path / "one", tmp_path / "two"
    for folder in (first, second):
        folder.mkdir()
        write(folder, "greet.py", TOOL % f"greet_{folder.name}")
    registry = ToolRegistry()
    assert load(registry, first, second, tmp_path / "missing") == []
    assert [tool.name for tool in registry] == ["greet_one", "greet_two"]


def test_a_name_given_twice_names_both_origins(folder: Path) -> None:
    write(folder, "a.py", TOOL % "twice")
    write(folder, "b.py", TOOL % "twice")
    write(folder, "c.py", TOOL % "write_todos")
    registry = ToolRegistry()
    registry.register(WriteTodosTool(ToolContext(Workspace([folder.parent]))))
    problems = load(registry, folder)
    assert len(problems) == 2
    assert f"'twice' is given by both {folder / 'a.py'} and {folder / 'b.py'}" in problems[0]
    assert f"'write_todos' is given by both built-in and {folder / 'c.py'}" in problems[1]


class EntryTool(WriteTodosTool):
    name = "from_entry_point"
    aliases = ()


def test_entry_points_give_tools(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [
        importlib.metadata.EntryPoint("good", f"{__name__}:EntryTool", GROUP),
        importlib.metadata.EntryPoint("missing", "no_such_module_here:Tool", GROUP),
        importlib.metadata.EntryPoint("wrong", "pathlib:Path", GROUP),
    ]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda *, group: entries if group == GROUP else [])
    registry = ToolRegistry()
    problems = load(registry, folder)
    assert isinstance(registry.find("from_entry_point"), BaseDeclarativeTool)
    assert registry.origin("from_entry_point").startswith("entry point good")
    assert len(problems) == 2
    assert "no_such_module_here" in problems[0] and "Path" in problems[1]


async def test_a_file_that_hangs_is_found_out(folder: Path) -> None:
    write(folder, "hangs.py", "import time\ntime.sleep(60)\n")
    files, (problem,) = await find_sound_files([folder], folder, seconds=0.5)
    assert not files
    assert "hangs.py is left out: loading it took more" in problem


async def test_files_that_end_their_process_are_found_out_and_the_rest_go_on(folder: Path) -> None:
    write(folder, "a_good.py", TOOL % "good")
    write(folder, "c_exits.py", "import os\nprint('end 2')\nos._exit(0)\n")
    write(folder, "d_dies.py", "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    write(folder, "e_raises.py", "raise SystemExit(3)\n")
    write(folder, "f_threads.py", "import threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()\n")
    files, problems = await find_sound_files([folder], folder, seconds=60.0)
    assert [path.name for path in files] == ["a_good.py", "e_raises.py", "f_threads.py"]
    for problem, part in zip(problems, ("code 0", "signal 11"), strict=True):
        assert part in problem


async def test_no_process_is_started_where_there_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere")
    assert await find_sound_files([tmp_path], tmp_path) == ([], [])

"""Custom tools: classes in Python files of a `tools/` folder, and entry points of other packages, made and registered.

A file or package that fails is reported with its traceback, and the rest go on. Files are tried in a process of their
own first: one that hangs or ends its process is left out.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import inspect
import io
import json
import logging
import os
import signal
import sys
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

from core.contract.errors import StetError
from core.tools.context import ToolContext
from core.tools.declarative import BaseDeclarativeTool
from core.tools.program import ProgramRun, run_program
from core.tools.registry import ToolRegistry

log = logging.getLogger(__name__)

GROUP = "stet.tools"
"""The group of entry points, each of which names a tool class."""
PREFIX = "_stet_custom_tool_"
MAX_BYTES = 2_000_000
TRIAL_SECONDS = 10.0
"""That a file may take to be loaded."""
_TRIAL = Path(__file__).with_name("custom_trial.py")


async def find_sound_files(
    folders: Iterable[Path], directory: Path, seconds: float = TRIAL_SECONDS
) -> tuple[list[Path], list[str]]:
    """Return the files that can be loaded without harm to who loads them, and what is wrong with the others.

    Args:
        directory: where they are tried.
    """
    waiting = [path for folder in folders for path in _find_files(folder)]
    sound: list[Path] = []
    problems: list[str] = []
    while waiting:
        job = {"path": sys.path, "seconds": seconds, "files": [os.fspath(path) for path in waiting]}
        run = await run_program(
            [sys.executable, "-P", str(_TRIAL)],
            directory=str(directory),
            seconds=seconds * len(waiting) + 5,
            max_bytes=MAX_BYTES,
            input=json.dumps(job).encode(),
        )
        ended = sum(line.startswith("end ") for line in run.stdout.splitlines())
        sound += waiting[:ended]
        if ended < len(waiting):
            problems.append(f"{waiting[ended]} is left out: {_ending(run, seconds)}")
        waiting = waiting[ended + 1 :]
    return sound, problems


def _ending(run: ProgramRun, seconds: float) -> str:
    if run.timed_out or run.signal == signal.SIGALRM:
        return f"loading it took more than {seconds:g} seconds"
    how = f"with signal {run.signal}" if run.signal is not None else f"with exit code {run.exit_code}"
    return f"loading it ends the program {how}"


def register_custom_tools(registry: ToolRegistry, context: ToolContext, folders: Iterable[Path]) -> list[str]:
    """Register the tools of all files in the folders, then those of entry points; return what went wrong.

    Blocks, and runs the files' code.
    """
    tools, problems = make_custom_tools(context, [path for folder in folders for path in _find_files(folder)])
    return [*problems, *add_custom_tools(registry, tools)]


def add_custom_tools(registry: ToolRegistry, tools: Iterable[tuple[BaseDeclarativeTool, str]]) -> list[str]:
    """Register tools, each with its origin; return what went wrong."""
    problems: list[str] = []
    for tool, origin in tools:
        with _reporting(problems, f"{origin}: {type(tool).__name__}"):
            registry.register(tool, origin)
    return problems


def make_custom_tools(
    context: ToolContext, files: Iterable[Path]
) -> tuple[list[tuple[BaseDeclarativeTool, str]], list[str]]:
    """Return the tools of the files, then those of entry points, each with its origin, and what went wrong.

    Blocks, and runs the files' code.
    """
    problems: list[str] = []
    tools: list[tuple[BaseDeclarativeTool, str]] = []
    for path in files:
        with _reporting(problems, str(path)):
            classes = _load_file(path)
            if not classes:
                problems.append(f"{path} defines no tool: no subclass of BaseDeclarativeTool that can be made.")
            for tool_class in classes:
                _make(context, tool_class, str(path), tools, problems)
    for entry in importlib.metadata.entry_points(group=GROUP):
        origin = f"entry point {entry.name} ({entry.value})"
        with _reporting(problems, origin):
            loaded = entry.load()
            if not (isinstance(loaded, type) and issubclass(loaded, BaseDeclarativeTool)):
                problems.append(f"The {origin} is no subclass of BaseDeclarativeTool.")
            else:
                _make(context, loaded, origin, tools, problems)
    return tools, problems


def _find_files(folder: Path) -> list[Path]:
    """Return the Python files of a folder by name; those that begin with `_` are left to the others' use."""
    try:
        return sorted(path for path in folder.glob("[!_.]*.py") if path.is_file())
    except OSError:
        return []


def _load_file(path: Path) -> list[type[BaseDeclarativeTool]]:
    """Run a file as a module of a private name and return the tools that it defines; nothing is left beside it."""
    if path.stat().st_size > MAX_BYTES:
        raise StetError(
            f"{path} is larger than {MAX_BYTES // 1_000_000} MB.", "A tool is a file of some hundred lines."
        )
    name = PREFIX + hashlib.sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:12]
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module  # dataclasses and pydantic look their module up by name
    try:
        exec(compile(path.read_bytes(), str(path), "exec", dont_inherit=True), module.__dict__)
    except BaseException:
        del sys.modules[name]
        raise
    return [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, BaseDeclarativeTool)
        and value.__module__ == name
        and not inspect.isabstract(value)
    ]


def _make(
    context: ToolContext,
    tool_class: type[BaseDeclarativeTool],
    origin: str,
    tools: list[tuple[BaseDeclarativeTool, str]],
    problems: list[str],
) -> None:
    with _reporting(problems, f"{origin}: {tool_class.__name__}"):
        tool = tool_class(context)
        tool.get_schema()  # what can't be declared would spoil every request to the model
        tools.append((tool, origin))


@contextlib.contextmanager
def _reporting(problems: list[str], whose: str) -> Iterator[None]:
    """Turn whatever foreign code raises into a problem; what it prints goes to the log."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            yield
    except StetError as error:
        problems.append(f"{whose} is left out: {error}")
    except (Exception, SystemExit) as error:  # boundary: code of a tool
        log.warning("%s failed", whose, exc_info=True)
        problems.append(f"{whose} is left out, it failed:\n{_traceback_of(error)}")
    if printed.getvalue():
        log.info("%s printed: %s", whose, printed.getvalue()[:2_000])


def _traceback_of(error: BaseException) -> str:
    """Return the traceback from the first frame that is not ours on."""
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename == __file__:
        frames = frames.tb_next
    return "".join(traceback.format_exception(type(error), error, frames, limit=20)).strip()

"""Custom tools: classes in Python files of a `tools/` folder, and entry points of other packages, made and registered.

A file or package that fails is reported with its traceback, and the rest go on.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import inspect
import io
import logging
import sys
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

from core.contract.errors import StetError
from core.tools.context import ToolContext
from core.tools.declarative import BaseDeclarativeTool
from core.tools.registry import ToolRegistry

log = logging.getLogger(__name__)

GROUP = "stet.tools"
"""The group of entry points, each of which names a tool class."""
PREFIX = "_stet_custom_tool_"
MAX_BYTES = 2_000_000


def register_custom_tools(registry: ToolRegistry, context: ToolContext, folders: Iterable[Path]) -> list[str]:
    """Register the tools of all files in the folders, then those of entry points; return what went wrong.

    Blocks, and runs the files' code.
    """
    problems: list[str] = []
    for path in (path for folder in folders for path in _find_files(folder)):
        with _reporting(problems, str(path)):
            classes = _load_file(path)
            if not classes:
                problems.append(f"{path} defines no tool: no subclass of BaseDeclarativeTool that can be made.")
            for tool_class in classes:
                _register(registry, context, tool_class, str(path), problems)
    for entry in importlib.metadata.entry_points(group=GROUP):
        origin = f"entry point {entry.name} ({entry.value})"
        with _reporting(problems, origin):
            loaded = entry.load()
            if not (isinstance(loaded, type) and issubclass(loaded, BaseDeclarativeTool)):
                problems.append(f"The {origin} is no subclass of BaseDeclarativeTool.")
            else:
                _register(registry, context, loaded, origin, problems)
    return problems


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


def _register(
    registry: ToolRegistry,
    context: ToolContext,
    tool_class: type[BaseDeclarativeTool],
    origin: str,
    problems: list[str],
) -> None:
    with _reporting(problems, f"{origin}: {tool_class.__name__}"):
        tool = tool_class(context)
        tool.get_schema()  # what can't be declared would spoil every request to the model
        registry.register(tool, origin)


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

"""The door: makes our own `app`, `core` and `widgets` the ones that are imported, and offers the public API lazily.

It must stay light: importing `stet` alone loads neither Textual, nor a model SDK, nor pydantic.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # as type checkers know it; importing `typing` would be half of the time that `--version` takes
if TYPE_CHECKING:
    from typing import Any

    from app.toolbox import Toolbox
    from core.contract.confirmation import InfoConfirmation, ToolConfirmationOutcome
    from core.contract.display import AnsiOutput, FileDiff, SubagentProgress
    from core.contract.errors import StetError, ToolErrorType, ToolFailure
    from core.contract.todo import TodoList
    from core.contract.tool import Kind, ToolLocation, ToolResult
    from core.fileops.languages.plugin import Import, LanguagePlugin, Symbol, SyntaxProblem
    from core.policy.engine import PolicyEngine
    from core.policy.rules import Rule
    from core.terminal.screen import TerminalScreen
    from core.tools.declarative import BaseDeclarativeTool, BaseToolInvocation
    from core.tools.parameters import ToolParams

__version__ = "0.1.0"

__all__ = [
    "AnsiOutput",
    "BaseDeclarativeTool",
    "BaseToolInvocation",
    "FileDiff",
    "Import",
    "InfoConfirmation",
    "Kind",
    "LanguagePlugin",
    "PolicyEngine",
    "Rule",
    "StetError",
    "SubagentProgress",
    "Symbol",
    "SyntaxProblem",
    "TerminalScreen",
    "TodoList",
    "ToolConfirmationOutcome",
    "ToolErrorType",
    "ToolFailure",
    "ToolLocation",
    "ToolParams",
    "ToolResult",
    "Toolbox",
]

_PLACES = {
    "AnsiOutput": "core.contract.display",
    "BaseDeclarativeTool": "core.tools.declarative",
    "BaseToolInvocation": "core.tools.declarative",
    "FileDiff": "core.contract.display",
    "Import": "core.fileops.languages.plugin",
    "InfoConfirmation": "core.contract.confirmation",
    "Kind": "core.contract.tool",
    "LanguagePlugin": "core.fileops.languages.plugin",
    "PolicyEngine": "core.policy.engine",
    "Rule": "core.policy.rules",
    "StetError": "core.contract.errors",
    "SubagentProgress": "core.contract.display",
    "Symbol": "core.fileops.languages.plugin",
    "SyntaxProblem": "core.fileops.languages.plugin",
    "TerminalScreen": "core.terminal.screen",
    "TodoList": "core.contract.todo",
    "ToolConfirmationOutcome": "core.contract.confirmation",
    "ToolErrorType": "core.contract.errors",
    "ToolFailure": "core.contract.errors",
    "ToolLocation": "core.contract.tool",
    "ToolParams": "core.tools.parameters",
    "ToolResult": "core.contract.tool",
    "Toolbox": "app.toolbox",
}
"""The module in which each public name is defined."""

_OURS = ("app", "core", "widgets")


def _find_home() -> str:
    """Return the folder that holds `app/`: this one in an installed copy, the one above it in a checkout."""
    here = os.path.dirname(os.path.abspath(__file__))
    return here if os.path.isdir(os.path.join(here, "app")) else os.path.dirname(here)


HOME = _find_home()
"""Where `app`, `core`, `widgets` and `styles` lie."""

# A project's own `app/` or `core/` must not be taken for ours, be it by the current directory or by PYTHONPATH.
if HOME in sys.path:
    sys.path.remove(HOME)
sys.path.insert(0, HOME)


def _refuse_strangers() -> None:
    """Say clearly that another `app`, `core` or `widgets` was imported first; Python keeps one module of a name."""
    for name in _OURS:
        module = sys.modules.get(name)
        if module is None:
            continue
        places = list(getattr(module, "__path__", ())) or [getattr(module, "__file__", None) or ""]
        if os.path.abspath(places[0]) != os.path.join(HOME, name):
            raise ImportError(
                f"the module {name!r} was already imported from {places[0] or 'elsewhere'}, so stet's own can't be; "
                "import stet first, or in a process of its own"
            )


def __getattr__(name: str) -> Any:
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module 'stet' has no attribute {name!r}; it offers: {', '.join(__all__)}")
    _refuse_strangers()
    import importlib

    value = getattr(importlib.import_module(place), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

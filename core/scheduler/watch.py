"""Which calls are watched for what they change on disk, and how closely."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial

from core.contract.tool import Kind, ToolCall
from core.contract.visible import make_visible_line
from core.tools.declarative import BaseToolInvocation, DeclarativeTool, ToolInvocation
from core.workspace.undo.named import named_paths
from core.workspace.undo.store import UndoStore

Watch = Callable[[int, ToolCall, DeclarativeTool, ToolInvocation], AbstractAsyncContextManager[None]]
"""Called with the turn around every call that may change something."""

_NAMED = (Kind.EDIT, Kind.DELETE, Kind.MOVE)
"""They change the paths that they name, and no others."""
_LONGEST = 80
"""Characters of a label."""
_ANYTHING = (Kind.EXECUTE, Kind.OTHER)


def cut_line(text: str) -> str:
    """Return a line, its end left out where it is long."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def watch_nothing(
    turn: int, call: ToolCall, tool: DeclarativeTool, invocation: ToolInvocation
) -> AbstractAsyncContextManager[None]:
    """Keep nothing."""
    return nullcontext()


def undo_watch(undo: UndoStore) -> Watch:
    """Return the watch that keeps what calls change, so that it can be undone."""

    def watch(
        turn: int, call: ToolCall, tool: DeclarativeTool, invocation: ToolInvocation
    ) -> AbstractAsyncContextManager[None]:
        paths = [location.path for location in invocation.tool_locations()]
        is_named = not isinstance(invocation, BaseToolInvocation) or invocation.names_all_paths
        if tool.kind in _NAMED and paths and is_named:
            return undo.watch(turn, call.id, call.name, paths)
        if tool.kind in _NAMED or tool.kind in _ANYTHING:
            command = call.args.get("command")
            if not isinstance(command, str) or not paths:
                return undo.watch(turn, call.id, make_visible_line(call.name)[:80], None)
            label = cut_line(make_visible_line(command.strip().split("\n", 1)[0]))
            return undo.watch(turn, call.id, label, None, partial(named_paths, command, paths[0]))  # where it runs
        return nullcontext()

    return watch

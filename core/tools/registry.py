"""The registry: every tool by name and alias, each name once."""

from __future__ import annotations

import difflib
import importlib
import re
from collections.abc import Iterable, Iterator

from core.contract.errors import StetError
from core.contract.tool import FunctionDeclaration, Kind
from core.tools.builtin import BUILTIN
from core.tools.context import ToolContext
from core.tools.declarative import DeclarativeTool

WIRE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]{0,62}")
"""What providers accept as a function name (Gemini API, `FunctionDeclaration.name`)."""


class DuplicateTool(StetError):
    """Two tools want one name."""


class ToolRegistry:
    """Tools in the order of their registration."""

    def __init__(self) -> None:
        self._tools: dict[str, DeclarativeTool] = {}
        self._origins: dict[str, str] = {}
        self._aliases: dict[str, str] = {}

    def register(self, tool: DeclarativeTool, origin: str = "built-in") -> None:
        """Add a tool; `origin` says where it came from.

        Raises:
            DuplicateTool: naming both origins.
            StetError: the name is not valid on the wire.
        """
        if not WIRE_NAME.fullmatch(tool.name):
            raise StetError(
                f"Tool name {tool.name!r} of {origin} is not valid.",
                "Use 1 to 63 letters, digits, '_', '.' or '-', beginning with a letter or '_'.",
            )
        for name in (tool.name, *tool.aliases):
            taken = name if name in self._tools else self._aliases.get(name)
            if taken is not None:
                raise DuplicateTool(f"Tool name {name!r} is given by both {self._origins[taken]} and {origin}.")
        self._tools[tool.name] = tool
        self._origins[tool.name] = origin
        self._aliases.update(dict.fromkeys(tool.aliases, tool.name))

    def unregister(self, name: str) -> None:
        """Remove a tool; unknown names are ignored."""
        tool = self._tools.pop(name, None)
        if tool is not None:
            del self._origins[name]
            for alias in tool.aliases:
                del self._aliases[alias]

    def find(self, name: str) -> DeclarativeTool | None:
        """Return the tool of that name or alias."""
        return self._tools.get(self._aliases.get(name, name))

    def origin(self, name: str) -> str:
        """Return where the tool of that name or alias came from."""
        return self._origins[self._aliases.get(name, name)]

    def nearest(self, name: str, count: int = 3) -> list[str]:
        """Return the names most like an unknown one."""
        lowered = {known.lower(): known for known in self._tools}
        close = difflib.get_close_matches(name.lower(), lowered, n=count, cutoff=0.0)
        return [lowered[match] for match in close]

    def of_kind(self, *kinds: Kind) -> list[DeclarativeTool]:
        return [tool for tool in self if tool.kind in kinds]

    def declarations(self, model_id: str | None = None) -> tuple[FunctionDeclaration, ...]:
        """Return what a model is told of the tools that are offered now."""
        return tuple(tool.get_schema(model_id) for tool in self if tool.is_offered)

    def __iter__(self) -> Iterator[DeclarativeTool]:
        return iter(tuple(self._tools.values()))

    def __len__(self) -> int:
        return len(self._tools)


def builtin_registry(context: ToolContext, names: Iterable[str] | None = None) -> ToolRegistry:
    """Return a registry of the built-in tools (or of those named), made for one session."""
    registry = ToolRegistry()
    wanted = None if names is None else set(names)
    for place in BUILTIN:
        module_name, class_name = place.split(":")
        tool_class = getattr(importlib.import_module(module_name), class_name)
        if wanted is None or tool_class.name in wanted:
            registry.register(tool_class(context))
    return registry

"""The calls of a session that were asked about: so that a rule can be shown with what it would have allowed so far."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from core.contract.tool import Kind
from core.contract.visible import make_visible_line
from core.policy.engine import PolicyEngine
from core.policy.rules import SHELL_TOOL, Rule

MAX_CALLS = 200
"""Calls that are remembered; the oldest go first."""
_LONGEST = 120
"""Characters of one call in words."""


@dataclass(frozen=True, slots=True)
class AskedCall:
    tool: str
    kind: Kind
    args: Mapping[str, Any]
    paths: tuple[str, ...]

    @property
    def text(self) -> str:
        """The call in words: the command, the path, or the tool's name."""
        if self.tool == SHELL_TOOL:
            words = str(self.args.get("command", ""))
        else:
            words = " ".join([self.tool, *self.paths[:3]])
        line = make_visible_line(words)
        return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


class AskedCalls:
    """Remembers them."""

    def __init__(self) -> None:
        self._calls: deque[AskedCall] = deque(maxlen=MAX_CALLS)

    def add(self, call: AskedCall) -> None:
        self._calls.append(call)

    def allowed_by(self, rules: Iterable[Rule], policy: PolicyEngine) -> tuple[str, ...]:
        """Return the calls that would not have been asked about with these rules, each once with its number. Blocks."""
        granted = tuple(rules)
        counts: dict[str, int] = {}
        for call in tuple(self._calls):
            if policy.would_allow(granted, call.tool, call.args, call.kind, call.paths):
                counts[call.text] = counts.get(call.text, 0) + 1
        return tuple(text if count == 1 else f"{text} ({count} times)" for text, count in counts.items())

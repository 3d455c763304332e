"""Display blocks: what a tool's result shows to people. Widgets draw blocks; they know no tool."""

from __future__ import annotations

from dataclasses import dataclass

from core.contract.diff import DiffStat
from core.contract.frame import Row
from core.contract.todo import TodoList


@dataclass(frozen=True, slots=True)
class FileDiff:
    """A change that was made."""

    file_name: str
    file_path: str
    file_diff: str
    """Unified diff."""
    original_content: str | None
    """None for a file that did not exist."""
    new_content: str
    diff_stat: DiffStat = DiffStat()

    @property
    def is_new_file(self) -> bool:
        return self.original_content is None


@dataclass(frozen=True, slots=True)
class AnsiOutput:
    """The end of a command's screen, styled."""

    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class SubagentProgress:
    """What a sub-agent is at."""

    name: str
    activity: tuple[str, ...] = ()
    """Latest last."""
    state: str = "running"


Display = str | FileDiff | AnsiOutput | TodoList | SubagentProgress
"""A string is Markdown."""

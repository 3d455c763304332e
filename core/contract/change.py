"""One path of what a call, or an undo, changed on disk."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KeptChange:
    """A path that was changed, as it is told to people."""

    path: str
    """Absolute."""
    shown: str
    """As people see it: relative where it lies in the workspace."""
    created: bool = False
    deleted: bool = False
    added: int = 0
    removed: int = 0
    """Lines, where both sides are text."""
    problem: str = ""
    """Why it can't be put back; empty where it can."""

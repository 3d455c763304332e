"""The bounds of a turn."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TurnLimits:
    max_steps: int = 100
    """Model steps after which the user is asked whether to go on."""
    max_cost: float | None = None
    """US dollars for the session; none: no bound."""

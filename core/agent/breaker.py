"""The loop breaker: notices that the model repeats itself; first the model is told, then the user is asked."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass

from core.contract.tool import Kind, llm_text
from core.scheduler.scheduler import CompletedCall

TELL_AT = 3
"""Identical runs (same call, same result) after which the model is told."""
STOP_AT = 5
"""Identical runs after which the user is asked whether to go on."""


@dataclass(frozen=True, slots=True)
class Repetition:
    """A call that was made again with the same result."""

    call_name: str
    count: int

    @property
    def must_stop(self) -> bool:
        return self.count >= STOP_AT

    @property
    def note(self) -> str:
        """What the model is told."""
        return (
            f"[You have made this same call of {self.call_name} {self.count} times with the same result. "
            "Repeating it will not help: do something else, or say what keeps you from going on.]"
        )


class LoopBreaker:
    """Counts identical runs within a turn. A new change to the world makes all counts start again."""

    def __init__(self) -> None:
        self._runs: Counter[str] = Counter()

    def note(self, completed: CompletedCall, kind: Kind) -> Repetition | None:
        """Count a call; returns a repetition from the third identical run on."""
        key = _fingerprint(completed)
        if kind in (Kind.EDIT, Kind.DELETE, Kind.MOVE) and completed.result.error is None and not self._runs[key]:
            self._runs.clear()  # progress: what was tried before may go differently now
        self._runs[key] += 1
        count = self._runs[key]
        return Repetition(completed.call.name, count) if count >= TELL_AT else None

    def reset(self) -> None:
        """Forget all counts: the user said to go on."""
        self._runs.clear()


def _fingerprint(completed: CompletedCall) -> str:
    args = json.dumps(completed.call.args, sort_keys=True, default=str)
    text = f"{completed.call.name}\0{args}\0{llm_text(completed.result.llm_content)}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

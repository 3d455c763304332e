"""Pastes that arrive as key presses, from terminals without bracketed paste: their line ends must not send anything.

A human hand leaves more than ten milliseconds between a letter and Enter. An Enter that follows faster waits for a
moment: if more text follows at once it was a line end of a paste, and all that comes is collected; otherwise it was
Enter, as from a script that types a line. It knows times and characters, no widget.
"""

from __future__ import annotations

from enum import Enum

SAME_BURST = 0.010
"""Seconds between two keys that no hand has typed."""
HOLD = 0.030
"""Seconds without a key after which a waiting Enter is an Enter."""
PASTE_END = 0.120
"""Seconds without a key after which a paste is over; longer, as a slow line may stall in its middle."""
STALL = 1.0
"""Seconds after a paste in which what comes as fast belongs to it."""


class Verdict(Enum):
    """What to do with a key."""

    NORMAL = "normal"
    """As ever; if something was kept (`take`), that comes first."""
    HOLD = "hold"
    """An Enter that waits: ask again after `HOLD`."""
    COLLECTED = "collected"
    """Kept as part of a paste."""


class PasteBurst:
    """Tells typed keys from pasted ones by their times."""

    def __init__(self) -> None:
        self._last = float("-inf")
        self._judged = self._pasted = float("-inf")
        self._kept: list[str] = []
        self.holding = False
        """An Enter waits for its meaning."""

    @property
    def collecting(self) -> bool:
        return bool(self._kept)

    @property
    def patience(self) -> float:
        """Seconds without a key after which it is over."""
        return PASTE_END if self.collecting else HOLD

    def key(self, character: str | None, time: float, now: float | None = None) -> Verdict:
        """Judge a key.

        Args:
            character: what it inserts, `\\n` for Enter; none for keys that insert nothing.
            time: when it was pressed, in seconds.
            now: when it is judged, which may be much later while many keys wait; none for at once.
        """
        self._judged = time if now is None else now
        gap, self._last = time - self._last, time if character is not None else float("-inf")
        if character is not None and gap < self.patience and (self.collecting or self.holding):
            if self.holding:
                self.holding = False
                self._kept.append("\n")
            self._kept.append(character)
            return Verdict.COLLECTED
        if self.collecting or self.holding:
            return Verdict.NORMAL
        if character == "\n" and gap < SAME_BURST:
            self.holding = True
            return Verdict.HOLD
        return Verdict.NORMAL

    def settle(self) -> bool:
        """Return whether the Enter that waited, if one did, is an Enter; it no longer waits.

        Within `STALL` after a paste it is a line end of the same: the line that it comes over had stalled.
        """
        held, self.holding = self.holding, False
        if held and self._judged - self._pasted < STALL:
            self._kept.append("\n")
            return False
        return held

    def is_over(self, time: float) -> bool:
        """Return whether nothing came for long enough."""
        return time - self._judged >= self.patience

    def take(self) -> str:
        """Return the collected paste and forget it; empty if there is none."""
        text = "".join(self._kept)
        if "\n" in text:
            self._pasted = self._judged
        self._kept.clear()
        return text

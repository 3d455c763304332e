"""Which files come next: learned from the order in which a session uses them. It knows paths and no contents."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Sequence

Neighbours = Callable[[str], Sequence[str]]
"""Returns the files that a file imports and that import it; absolute real paths, the nearest first. May block."""

_REACH = 8
"""Uses that lie this far apart have nothing to do with each other."""
_DECAY = 0.7
"""What a use counts, compared with the one after it."""
_MAX_PATHS = 5_000
_MAX_FOLLOWERS = 64
_NEIGHBOUR = 0.3
"""What the first neighbour counts, compared with a file that always came next."""


class SuccessorModel:
    """Learns which files follow each other. For one thread.

    Args:
        neighbours: knows files that are related although they were never used yet.
    """

    def __init__(self, neighbours: Neighbours | None = None) -> None:
        self.neighbours = neighbours
        self._followers: OrderedDict[str, dict[str, float]] = OrderedDict()
        self._recent: deque[str] = deque(maxlen=_REACH)

    def note(self, path: str) -> None:
        """A file is used."""
        if self._recent and self._recent[-1] == path:
            return
        for distance, former in enumerate(reversed(self._recent), 1):
            if former != path:
                followers = self._followers.setdefault(former, {})
                followers[path] = followers.get(path, 0.0) + 1 / distance
                self._followers.move_to_end(former)
                if len(followers) > _MAX_FOLLOWERS:
                    del followers[min(followers, key=followers.__getitem__)]
        while len(self._followers) > _MAX_PATHS:
            self._followers.popitem(last=False)
        self._recent.append(path)

    def following(self, count: int) -> list[str]:
        """Return the files that are most likely to be used next, the likeliest first."""
        scores: dict[str, float] = {}
        weight = 1.0
        for former in reversed(self._recent):
            followers = self._followers.get(former, {})
            total = sum(followers.values()) + 1
            for path, times in followers.items():
                scores[path] = scores.get(path, 0.0) + weight * times / total
            weight *= _DECAY
        if self._recent and self.neighbours is not None:
            for place, path in enumerate(self.neighbours(self._recent[-1]), 1):
                scores[path] = scores.get(path, 0.0) + _NEIGHBOUR / place
        if self._recent:
            scores.pop(self._recent[-1], None)
        return sorted(scores, key=scores.__getitem__, reverse=True)[:count]

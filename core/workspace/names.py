"""File names as git prints them, kept as one string of bytes: asked for what they hold, split only where it matters."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

_FEW = 2_000
"""With more hits of one literal, splitting all names is faster than finding each."""


class Names:
    """Names that each end in a NUL.

    Args:
        skip: bytes at the beginning of each entry that are no part of its name.
        below: what stands before each name.
    """

    def __init__(self, packed: bytes = b"", *, skip: int = 0, below: str = "") -> None:
        self._packed = packed
        self._skip = skip
        self._below = below
        self._folded: bytes | None = None

    @classmethod
    def of(cls, paths: Iterable[str]) -> Names:
        return cls(b"".join([os.fsencode(path) + b"\0" for path in paths]))

    def __len__(self) -> int:
        return self._packed.count(b"\0")

    def __iter__(self) -> Iterator[str]:
        return iter(self._decode(self._packed.split(b"\0")[:-1]))

    def first(self, count: int) -> list[str]:
        """Return the first names, as many as `count`."""
        return self._decode(self._packed.split(b"\0", count)[:-1][:count])

    def holding(self, literals: Sequence[str]) -> list[str]:
        """Return at least the names that hold one of these ASCII strings in any case, and all names beyond ASCII.

        Without literals: all names.
        """
        wanted = [literal.lower().encode() for literal in literals]
        below = self._below.lower().encode(errors="surrogateescape")
        if not wanted or any(literal in below or _overlaps(below, literal) for literal in wanted):
            return list(self)
        if self._folded is None:
            self._folded = self._packed.lower()
        spans: set[tuple[int, int]] = set()
        for literal in wanted:
            for span in self._entries_with(self._folded, literal):
                spans.add(span)
                if len(spans) > _FEW:
                    return list(self)
        found = self._decode([self._packed[start:stop] for start, stop in sorted(spans)])
        if not self._packed.isascii() or not below.isascii():
            known = set(found)
            found += [name for name in self if not name.isascii() and name not in known]
        return found

    def _entries_with(self, folded: bytes, literal: bytes) -> Iterator[tuple[int, int]]:
        place = folded.find(literal)
        while place >= 0:
            start = folded.rfind(b"\0", 0, place) + 1
            stop = folded.find(b"\0", place)
            if folded.find(literal, start + self._skip, stop) >= 0:
                yield start, stop
            place = folded.find(literal, stop)

    def _decode(self, entries: list[bytes]) -> list[str]:
        skip, below, decode = self._skip, self._below, os.fsdecode
        if not skip and not below:
            return list(map(decode, entries))
        return [below + decode(entry[skip:]) for entry in entries]


def _overlaps(below: bytes, literal: bytes) -> bool:
    """Return whether a literal may begin in what stands before each name, and end in the name."""
    return any(below.endswith(literal[:size]) for size in range(1, len(literal)))

"""Chips as single characters, so that vi's commands take them as a whole."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable

from widgets.prompt.draft import CHIP

_FIRST = 0x100000
"""The first character of Unicode's private plane 16, which stands for the chip of that number."""
_LAST = 0x10FFFD
_FOLDED = re.compile(f"[{chr(_FIRST)}-{chr(_LAST)}]")


class Folded:
    """A text with its chips folded, and its places in both forms.

    Args:
        is_chip: whether a chip of that number is one, or only looks like it.
    """

    def __init__(self, text: str, is_chip: Callable[[int], bool]) -> None:
        self._starts: list[int] = []
        """Of the chips, folded."""
        self._grown: list[int] = []
        """What the chips up to each have more in characters than their folded form."""
        parts: list[str] = []
        done = length = grown = 0
        for match in () if _FOLDED.search(text) else CHIP.finditer(text):
            number = int(match[1])
            if not is_chip(number) or _FIRST + number > _LAST:
                continue
            parts += [text[done : match.start()], chr(_FIRST + number)]
            length += match.start() - done
            done = match.end()
            self._starts.append(length)
            grown += len(match[0]) - 1
            self._grown.append(grown)
            length += 1
        self.text = "".join([*parts, text[done:]])

    def unfolded(self, place: int) -> int:
        """Return a place in the text as it is."""
        before = bisect_right(self._starts, place - 1)
        return place + (self._grown[before - 1] if before else 0)

    def folded(self, place: int) -> int:
        """Return a place in the folded text; within a chip its start."""
        low, high = 0, len(self.text)
        while low < high:
            middle = (low + high + 1) // 2
            if self.unfolded(middle) <= place:
                low = middle
            else:
                high = middle - 1
        return low


def unfold(text: str, chip: Callable[[int], str]) -> str:
    """Return the text with its chips; one that is no longer known is left out."""
    return _FOLDED.sub(lambda match: chip(ord(match[0]) - _FIRST), text)


def without_chips(text: str) -> str:
    """Return folded text without its chips."""
    return _FOLDED.sub("", text)

"""The line diff: patience on lines that are unique on both sides, the longest common subsequence in the gaps.

As small as git's also where lines repeat, and bounded in time and memory. It knows nothing of files or hunks.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

MAX_CELLS = 400_000_000
"""Largest product of two gaps' lengths that gets an exact diff: one bit a cell (50 MB)."""
_MAX_SLIDE = 1_000


@dataclass(frozen=True, slots=True)
class Change:
    """Lines `old_start` to `old_stop` (exclusive, from 0) become lines `new_start` to `new_stop`."""

    old_start: int
    old_stop: int
    new_start: int
    new_stop: int


def diff_sequences(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Change]:
    """Return the changes that lead from `old` to `new`, in order; between two of them is always a common item."""
    numbers: dict[Hashable, int] = {}
    a = [numbers.setdefault(item, len(numbers)) for item in old]
    b = [numbers.setdefault(item, len(numbers)) for item in new]
    return _changes(_matches(a, b), len(a), len(b))


def diff_lines(old: Sequence[str], new: Sequence[str]) -> list[Change]:
    """As `diff_sequences`, with insertions and deletions slid to where people would see them."""
    changes = diff_sequences(old, new)
    slid: list[Change] = []
    for index, change in enumerate(changes):
        above = change.old_start - (slid[-1].old_stop + 1 if slid else 0)
        below = (changes[index + 1].old_start - 1 if index + 1 < len(changes) else len(old)) - change.old_stop
        slid.append(_slide(change, old, new, min(above, _MAX_SLIDE), min(below, _MAX_SLIDE)))
    return slid


def _matches(a: list[int], b: list[int]) -> list[tuple[int, int, int]]:
    """Return common runs `(start in a, start in b, length)` in order."""
    runs: list[tuple[int, int, int]] = []
    stack = [(0, len(a), 0, len(b))]
    while stack:
        a_low, a_high, b_low, b_high = stack.pop()
        head = _common_head(a, b, a_low, a_high, b_low, b_high)
        if head:
            runs.append((a_low, b_low, head))
            a_low, b_low = a_low + head, b_low + head
        tail = _common_tail(a, b, a_low, a_high, b_low, b_high)
        if tail:
            runs.append((a_high - tail, b_high - tail, tail))
            a_high, b_high = a_high - tail, b_high - tail
        if a_low == a_high or b_low == b_high:
            continue
        anchors = _anchors(a, b, a_low, a_high, b_low, b_high)
        if not anchors:
            runs.extend(_common_runs(a, b, a_low, a_high, b_low, b_high))
            continue
        for i, j in anchors:
            if a_low < i and b_low < j:
                stack.append((a_low, i, b_low, j))
            runs.append((i, j, 1))
            a_low, b_low = i + 1, j + 1
        stack.append((a_low, a_high, b_low, b_high))
    runs.sort()
    return runs


def _common_head(a: list[int], b: list[int], a_low: int, a_high: int, b_low: int, b_high: int) -> int:
    limit = min(a_high - a_low, b_high - b_low)
    if a[a_low : a_low + limit] == b[b_low : b_low + limit]:
        return limit
    count = 0
    while a[a_low + count] == b[b_low + count]:
        count += 1
    return count


def _common_tail(a: list[int], b: list[int], a_low: int, a_high: int, b_low: int, b_high: int) -> int:
    limit = min(a_high - a_low, b_high - b_low)
    count = 0
    while count < limit and a[a_high - 1 - count] == b[b_high - 1 - count]:
        count += 1
    return count


def _anchors(a: list[int], b: list[int], a_low: int, a_high: int, b_low: int, b_high: int) -> list[tuple[int, int]]:
    """Return the longest chain of items that stand once in each gap (patience diff, after Bram Cohen)."""
    in_a, in_b = Counter(a[a_low:a_high]), Counter(b[b_low:b_high])
    place = {item: j for j, item in enumerate(b[b_low:b_high], b_low) if in_b[item] == 1}
    pairs = [(i, place[item]) for i, item in enumerate(a[a_low:a_high], a_low) if in_a[item] == 1 and item in place]
    if pairs or (a_high - a_low) * (b_high - b_low) <= MAX_CELLS:
        return _increasing(pairs)
    # Too large for an exact answer and nothing unique: pair the n-th with the n-th of lines that are equally frequent.
    seen: Counter[int] = Counter()
    places: dict[tuple[int, int], int] = {}
    for j in range(b_low, b_high):
        places[b[j], seen[b[j]]] = j
        seen[b[j]] += 1
    seen.clear()
    for i in range(a_low, a_high):
        if in_a[a[i]] == in_b[a[i]]:
            pairs.append((i, places[a[i], seen[a[i]]]))
            seen[a[i]] += 1
    return _increasing(pairs)


def _increasing(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest subsequence of `pairs` (sorted by the first) whose seconds increase."""
    tops: list[int] = []
    top_pairs: list[int] = []
    before: list[int] = []
    for index, (_, j) in enumerate(pairs):
        pile = bisect_left(tops, j)
        before.append(top_pairs[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(j)
            top_pairs.append(index)
        else:
            tops[pile], top_pairs[pile] = j, index
    chain = []
    index = top_pairs[-1] if top_pairs else -1
    while index >= 0:
        chain.append(pairs[index])
        index = before[index]
    return chain[::-1]


def _common_runs(
    a: list[int], b: list[int], a_low: int, a_high: int, b_low: int, b_high: int
) -> Iterable[tuple[int, int, int]]:
    left, right = a[a_low:a_high], b[b_low:b_high]
    if len(left) * len(right) > MAX_CELLS or set(left).isdisjoint(right):
        return []
    from rapidfuzz.distance import LCSseq  # late: it is not needed before the first diff

    return [
        (a_low + block.a, b_low + block.b, block.size)
        for block in LCSseq.opcodes(left, right).as_matching_blocks()
        if block.size
    ]


def _changes(runs: list[tuple[int, int, int]], old_length: int, new_length: int) -> list[Change]:
    changes = []
    i = j = 0
    for a_start, b_start, size in [*runs, (old_length, new_length, 0)]:
        if i < a_start or j < b_start:
            changes.append(Change(i, a_start, j, b_start))
        i, j = a_start + size, b_start + size
    return changes


def _slide(change: Change, old: Sequence[str], new: Sequence[str], above: int, below: int) -> Change:
    """Move a pure insertion or deletion within equal lines so that it begins at the outermost, then lowest line.

    `above` and `below` are how many common lines it may pass over.
    """
    if change.old_start == change.old_stop:
        lines, start, stop = new, change.new_start, change.new_stop
    elif change.new_start == change.new_stop:
        lines, start, stop = old, change.old_start, change.old_stop
    else:
        return change
    down = up = 0
    while down < below and lines[start + down] == lines[stop + down]:
        down += 1
    while up < above and lines[start - up - 1] == lines[stop - up - 1]:
        up += 1
    shift = min(range(-up, down + 1), key=lambda step: (_indentation(lines[start + step]), -step))
    return Change(change.old_start + shift, change.old_stop + shift, change.new_start + shift, change.new_stop + shift)


def _indentation(line: str) -> int:
    text = line.lstrip()
    return len(line) - len(text) if text else 1_000

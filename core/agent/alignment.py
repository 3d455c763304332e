"""What of one history stands in another: so that a record holds of a changed history only what is new in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence

from core.contract.conversation import Message
from core.contract.events import KeptMessages


def align(former: Sequence[Message], fresh: Sequence[Message]) -> tuple[tuple[KeptMessages, ...], tuple[Message, ...]]:
    """Return which runs of the former messages stand where in the fresh ones, in order, and the other fresh ones."""
    places: dict[Hashable, list[int]] = defaultdict(list)
    for place, message in enumerate(former):
        places[_look(message)].append(place)
    runs: list[KeptMessages] = []
    new: list[Message] = []
    after = 0
    for at, message in enumerate(fresh):
        start = next((p for p in places[_look(message)] if p >= after and former[p] == message), None)
        if start is None:
            new.append(message)
            continue
        last = runs[-1] if runs else None
        if last is not None and (last.at + last.count, last.start + last.count) == (at, start):
            runs[-1] = KeptMessages(last.at, last.start, last.count + 1)
        else:
            runs.append(KeptMessages(at, start, 1))
        after = start + 1
    return tuple(runs), tuple(new)


def rebuild(former: Sequence[Message], kept: Iterable[KeptMessages], new: Iterable[Message]) -> list[Message]:
    """Return the fresh messages of which `align` has said what is kept and what is new."""
    fresh: list[Message] = []
    others = list(new)
    for run in kept:
        missing = max(0, run.at - len(fresh))
        fresh += others[:missing]
        del others[:missing]
        fresh += former[run.start : run.start + run.count]
    return fresh + others


def _look(message: Message) -> Hashable:
    """Return what equal messages have in common, and most others do not; made without going through their texts."""
    lengths = tuple(len(text) for part in message.parts if isinstance(text := getattr(part, "text", ""), str))
    return message.role, len(message.parts), lengths

"""What fills the model's window, item by item, and changing that: items are dropped, brought back, pinned."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from core.agent.compaction import is_summary
from core.agent.history import History, Replacement
from core.agent.tokens import tokens_of_part
from core.contract.conversation import CallPart, MediaPart, Message, Part, ResultPart, Role, TextPart, ThoughtPart
from core.contract.errors import StetError

_DROPPED = "[The user took this out of the context ({id}); call the tool again if it is needed.]"
_IS_DROPPED = re.compile(re.escape(_DROPPED).replace(re.escape("{id}"), r"item (\d+)"))


@dataclass(frozen=True, slots=True)
class ContextItem:
    """One part of one message."""

    number: int
    """From 1, as the user names it."""
    source: str
    """`you`, `model`, `thought`, `call`, `result`, `summary`, `media`."""
    title: str
    tokens: int
    message: int
    """Position of its message."""
    part: int
    pinned: bool = False
    dropped: bool = False


class ContextEditor:
    """Drops, brings back and pins items of a history. Every change gives whole new messages; the caller takes them."""

    def __init__(self) -> None:
        self._originals: dict[str, Part] = {}
        """What was dropped, by the text that stands in its place."""

    def learn(self, replacements: Sequence[Replacement], now: Sequence[Message]) -> None:
        """Take note of what was dropped earlier, so that it can be brought back: after a session is resumed."""
        stood_after = [*(replacement.former for replacement in replacements[1:]), now]
        for replacement, after in zip(replacements, stood_after, strict=False):
            if len(replacement.former) == replacement.kept:  # nothing was summarised: each part is where it was
                for before, dropped in zip(replacement.former, after, strict=False):
                    for old, new in zip(before.parts, dropped.parts, strict=False):
                        text = getattr(new, "text", "")
                        if old != new and _IS_DROPPED.fullmatch(text):
                            self._originals.setdefault(text, old)

    @property
    def _next(self) -> int:
        taken = (_IS_DROPPED.fullmatch(text) for text in self._originals)
        return 1 + max((int(match[1]) for match in taken if match), default=0)

    def items(self, history: History) -> list[ContextItem]:
        """Return what fills the window, in order."""
        found: list[ContextItem] = []
        for place, message in enumerate(history.messages):
            for index, part in enumerate(message.parts):
                found.append(
                    ContextItem(
                        len(found) + 1,
                        _source(message, part),
                        _title(part),
                        tokens_of_part(part),
                        place,
                        index,
                        message in history.pinned,
                        getattr(part, "text", None) in self._originals,
                    )
                )
        return found

    def drop(self, history: History, number: int) -> tuple[Message, ...]:
        """Return the messages without what an item holds.

        Raises:
            StetError: there is no such item, or it must stay.
        """
        item, part = self._find(history, number)
        if item.dropped:
            raise StetError(f"Item {number} is dropped already.", f"/context restore {number} brings it back.")
        if item.source in ("you", "call"):
            what = "Your own words stay" if item.source == "you" else "A call stays with its result"
            raise StetError(f"Item {number} can't be dropped: {what.lower()}.", "Drop a result, an answer or media.")
        stub = _DROPPED.format(id=f"item {self._next}")
        self._originals[stub] = part
        if isinstance(part, ResultPart):
            return _with_part(history, item, replace(part, text=stub, media=()))
        return _with_part(history, item, TextPart(stub))

    def restore(self, history: History, number: int) -> tuple[Message, ...]:
        """Return the messages with a dropped item brought back.

        Raises:
            StetError: it is not dropped.
        """
        item, part = self._find(history, number)
        original = self._originals.get(getattr(part, "text", ""))
        if original is None:
            raise StetError(f"Item {number} is not dropped.", "/context shows the items.")
        return _with_part(history, item, original)

    def part(self, history: History, number: int) -> Part:
        """Return what an item holds; what was dropped is returned as it was.

        Raises:
            StetError: there is no such item.
        """
        _, part = self._find(history, number)
        return self._originals.get(getattr(part, "text", ""), part)

    def pin(self, history: History, number: int) -> tuple[Message, ...]:
        """Return what is pinned when the item's message is pinned, or no longer is.

        Raises:
            StetError: there is no such item.
        """
        item, _ = self._find(history, number)
        message = history.messages[item.message]
        if message in history.pinned:
            return tuple(pinned for pinned in history.pinned if pinned != message)
        return (*history.pinned, message)

    def _find(self, history: History, number: int) -> tuple[ContextItem, Part]:
        items = self.items(history)
        if not 1 <= number <= len(items):
            raise StetError(f"There is no item {number}.", f"/context shows items 1 to {len(items)}.")
        item = items[number - 1]
        return item, history.messages[item.message].parts[item.part]


def sums_by_source(items: Iterable[ContextItem]) -> dict[str, int]:
    """Return tokens by source, the largest first."""
    sums: dict[str, int] = {}
    for item in items:
        sums[item.source] = sums.get(item.source, 0) + item.tokens
    return dict(sorted(sums.items(), key=lambda entry: -entry[1]))


def _with_part(history: History, item: ContextItem, part: Part) -> tuple[Message, ...]:
    messages = list(history.messages)
    message = messages[item.message]
    parts = (*message.parts[: item.part], part, *message.parts[item.part + 1 :])
    messages[item.message] = replace(message, parts=parts)
    return tuple(messages)


def _source(message: Message, part: Part) -> str:
    if isinstance(part, CallPart):
        return "call"
    if isinstance(part, ResultPart):
        return "result"
    if isinstance(part, MediaPart):
        return "media"
    if isinstance(part, ThoughtPart):
        return "thought"
    if message.role is Role.USER:
        return "summary" if is_summary(message) else "you"
    return "model"


def _title(part: Part) -> str:
    if isinstance(part, CallPart):
        return f"{part.name} {dict(part.args)}"
    if isinstance(part, ResultPart):
        return f"{part.name}: {_in_a_line(part.text)}"
    if isinstance(part, MediaPart):
        return part.name or part.mime_type
    return _in_a_line(str(getattr(part, "text", ""))) or part.type


def _in_a_line(text: str) -> str:
    return " ".join(text[:400].split())[:200]


def text_of_part(part: Part) -> str:
    """Return what a part holds, for people."""
    if isinstance(part, CallPart):
        return f"{part.name}\n{json.dumps(dict(part.args), ensure_ascii=False, indent=2, default=str)}"
    if isinstance(part, ResultPart):
        return "\n".join([part.text, *(f"[{media.name or media.mime_type}]" for media in part.media)])
    if isinstance(part, MediaPart):
        return f"[{part.name or part.mime_type}, {len(part.data) * 3 // 4:,} bytes]"
    return str(getattr(part, "text", "")) or f"[{part.type}]"

"""Making room in the context: earlier messages become a summary, but for every word of the user's and what is pinned.

It works on messages alone: the summary's text is given, by the model or by `digest`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from core.agent.tokens import tokens_of_message, tokens_of_text
from core.contract.conversation import CallPart, Message, Part, ResultPart, Role, TextPart, user_message

THRESHOLD = 0.85
"""Part of the window that a request may fill: the rest is for the answer."""
KEPT = 0.3
"""Part of the window that the latest messages may fill after a compaction."""
SUMMARY_MARK = "[Summary of the conversation so far, made because the context was full]"
MAX_RESULT_CHARS = 8_000
"""Of a result among the latest messages that are kept, where they alone are too much."""
_LINE = 300
_CUT = "\n[… cut when the context was compacted; call the tool again if it is needed …]\n"


@dataclass(frozen=True, slots=True)
class Split:
    """A conversation in two: what is to be summarised, and what stays as it is."""

    head: tuple[Message, ...]
    tail: tuple[Message, ...]


def split(messages: Sequence[Message], budget: int) -> Split:
    """Return the conversation cut so that the latest messages fill at most `budget` tokens, calls with their results.

    The last exchange stays whole, however large it is.
    """
    filled, place = 0, len(messages)
    allowed = len(messages)
    while place > 0:
        place -= 1
        filled += tokens_of_message(messages[place])
        if allowed < len(messages) and filled > budget:
            break
        if not any(isinstance(part, ResultPart) for part in messages[place].parts):
            allowed = place
    return Split(tuple(messages[:allowed]), tuple(messages[allowed:]))


def is_summary(message: Message) -> bool:
    return message.role is Role.USER and message.text.startswith(SUMMARY_MARK)


def compacted(
    parts: Split, summary: str, pinned: Collection[Message] = (), notes: str = "", *, limit: int = 0
) -> tuple[Message, ...]:
    """Return the conversation with the head replaced by its summary.

    Args:
        pinned: messages that stay verbatim; a call brings its results along, and these their call.
        notes: verbatim text that goes with the summary (the todo list).
        limit: tokens; if the tail alone fills more, its results are cut too. 0: never.
    """
    kept: list[Message] = []
    head = parts.head
    for place, message in enumerate(head):
        following = head[place + 1] if place + 1 < len(head) else None
        before = head[place - 1] if place else None
        answered = message.role is Role.MODEL and message.calls and following in pinned
        answers = before is not None and before.calls and before in pinned
        if message in pinned or answered or answers:
            kept.append(message)
        elif message.role is Role.USER and not is_summary(message):
            said = tuple(part for part in message.parts if not isinstance(part, ResultPart))
            if said:
                kept.append(replace(message, parts=said))
    files = touched_files(head)
    text = f"{SUMMARY_MARK}\n{summary.strip()}"
    text += f"\n\nFiles that were read or changed: {', '.join(files)}" if files else ""
    text += f"\n\n{notes.strip()}" if notes.strip() else ""
    kept.append(user_message(text))
    tail = parts.tail
    if limit and sum(map(tokens_of_message, tail)) > limit:
        tail = tuple(message if message in pinned else shortened(message) for message in tail)
    return (*kept, *tail)


def shortened(message: Message) -> Message:
    """Return the message with its long results cut in the middle; what the user said is never cut."""
    cut: list[Part] = []
    for part in message.parts:
        if isinstance(part, ResultPart) and len(part.text) > MAX_RESULT_CHARS:
            half = MAX_RESULT_CHARS // 2
            part = replace(part, text=part.text[:half] + _CUT + part.text[-half:])
        cut.append(part)
    return replace(message, parts=tuple(cut)) if tuple(cut) != message.parts else message


def touched_files(messages: Sequence[Message]) -> tuple[str, ...]:
    """Return the paths that calls named, each once, the latest last."""
    found: dict[str, None] = {}
    for message in messages:
        for call in message.calls:
            path = call.args.get("file_path") or call.args.get("path")
            if isinstance(path, str) and path:
                found.pop(path, None)
                found[path] = None
    return tuple(found)


def digest(messages: Sequence[Message], limit: int) -> str:
    """Return a summary without a model: the beginnings of what was said and done, the latest ones if it is too much.

    Args:
        limit: tokens.
    """
    lines: list[str] = []
    for message in messages:
        if is_summary(message):
            lines.append(message.text.removeprefix(SUMMARY_MARK).strip())
        for part in message.parts:
            if isinstance(part, TextPart) and message.role is Role.MODEL and part.text.strip():
                lines.append(f"- said: {_first(part.text)}")
            elif isinstance(part, CallPart):
                lines.append(f"- called {part.name}({_first(str(dict(part.args)))})")
            elif isinstance(part, ResultPart) and part.is_error:
                lines.append(f"  it failed: {_first(part.text)}")
    filled, kept = 0, []
    for line in reversed(lines):
        filled += tokens_of_text(line) + 1
        if filled > limit:
            kept.append("- (what came before is left out)")
            break
        kept.append(line)
    return "\n".join(reversed(kept))


def _first(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LINE else line[: _LINE - 1] + "…"


def render(messages: Sequence[Message], result_chars: int | None = None) -> str:
    """Return the conversation as text: for the model that summarises it, and for people who compare two of them."""
    blocks = []
    for message in messages:
        for part in message.parts:
            blocks.append(_rendered(message, part, result_chars))
    return "\n".join(filter(None, blocks)) + "\n"


def _rendered(message: Message, part: Part, result_chars: int | None) -> str:
    if isinstance(part, TextPart):
        return f"## {'User' if message.role is Role.USER else 'Assistant'}\n{part.text.strip()}\n"
    if isinstance(part, CallPart):
        return f"## Call of {part.name}\n{dict(part.args)}\n"
    if isinstance(part, ResultPart):
        text = part.text
        if result_chars is not None and len(text) > result_chars:
            text = text[: result_chars // 2] + "\n[…]\n" + text[-result_chars // 2 :]
        return f"## Result of {part.name}\n{text.strip()}\n"
    return ""

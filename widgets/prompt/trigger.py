"""Where completion starts: the command's name, or the word after an `@`. Pure text, no widget."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from widgets.prompt.draft import PromptMode

CompletionKind = Literal["command", "path"]

_AT = re.compile(r"""(?:^|(?<=[\s("'`]))@(?:"([^"\n]*)|([^\s"]*))$""")
_MENTION = re.compile(r"""(?:^|(?<=[\s("'`]))@(?:"([^"\n]+)"|([^\s"'`,;)]+))""")

LINE_RANGE = re.compile(r"(?P<path>.+?):(?P<first>[1-9]\d{0,8})(?:-(?P<last>[1-9]\d{0,8}))?")
"""A mention of lines of a file: `a.py:10-40`, `a.py:7`."""


@dataclass(frozen=True, slots=True)
class Trigger:
    """What is to be completed: the query, and its columns in the cursor's line."""

    kind: CompletionKind
    query: str
    row: int
    start: int
    end: int


def find_trigger(mode: PromptMode, line: str, row: int, column: int) -> Trigger | None:
    """Return what completion would complete with the cursor at `column` of `line`, or none.

    That is a word that starts with `@`, and in the first line of command mode each other word; the query is all that
    stands before the cursor then, as what can follow depends on it.
    """
    before = line[:column]
    if mode is PromptMode.SHELL:
        return None
    if (match := _AT.search(before)) is None:
        if mode is PromptMode.COMMAND and row == 0:
            return Trigger("command", before, row, before.rfind(" ") + 1, column)
        return None
    query = match[1] if match[1] is not None else match[2]
    return Trigger("path", query, row, match.start(), column)


def completed(trigger: Trigger, chosen: str) -> str:
    """Return the text that stands for the trigger once `chosen` was accepted; a folder stays open for more."""
    if trigger.kind == "command":
        return f"{chosen} "
    folder = chosen.endswith("/")
    if re.search(r"\s", chosen):
        return f'@"{chosen}' if folder else f'@"{chosen}" '
    return f"@{chosen}" if folder else f"@{chosen} "


def find_mentions(text: str) -> tuple[str, ...]:
    """Return the paths that `text` names with `@`, each once, in order; a full stop at the end is the sentence's."""
    found = (match[1] or match[2].rstrip(".:!?") for match in _MENTION.finditer(text))
    return tuple(dict.fromkeys(path for path in found if path))

"""What stands in the prompt: text, mode and the large pastes that the text's chips stand for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from core.contract.visible import make_visible

CHIP = re.compile(r"\[Pasted text #(\d+), [\d,]+ (?:lines|characters)\]")
"""How a chip is written; it counts as one only while its number is known."""

CHIP_LINES = 10
CHIP_CHARACTERS = 1_000
PASTE_LIMIT = 5_000_000
"""Characters; a larger paste is refused."""


class PromptMode(StrEnum):
    """Whom the prompt is for."""

    AGENT = "agent"
    SHELL = "shell"
    COMMAND = "command"


@dataclass(frozen=True, slots=True)
class Draft:
    """A prompt, sent or not."""

    text: str = ""
    """As shown, with chips."""
    mode: PromptMode = PromptMode.AGENT
    pastes: Mapping[int, str] = field(default_factory=dict)
    """Chip number to what it stands for."""

    @property
    def expanded(self) -> str:
        """The text with every chip replaced by what it stands for."""
        return CHIP.sub(lambda match: self.pastes.get(int(match[1]), match[0]), self.text)

    @property
    def is_empty(self) -> bool:
        return not self.text.strip()


class DraftGuard:
    """Is asked what may become of a draft; this one allows everything."""

    def note_change(self, draft: Draft) -> None:
        """Look at what stands in the prompt after a change."""

    def may_send(self, draft: Draft) -> bool:
        """Return whether it may be sent; what may not stays where it is."""
        return True

    def may_keep(self, draft: Draft) -> bool:
        """Return whether it may be kept, in the history or on the disk, although it is not sent."""
        return True


def clean_paste(text: str) -> str:
    """Return foreign text as the prompt takes it: line feeds only, hidden characters visible, so that what one sees
    is what is sent."""
    return make_visible(text.replace("\r\n", "\n").replace("\r", "\n"))


def is_large(text: str) -> bool:
    """Return whether a paste is shown as a chip."""
    return len(text) > CHIP_CHARACTERS or text.count("\n") >= CHIP_LINES


class Pastes:
    """The large pastes of the current draft, by number."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}

    def add(self, text: str) -> str:
        """Keep a text and return its chip."""
        number = max(self._texts, default=0) + 1
        self._texts[number] = text
        return self.chip(number)

    def chip(self, number: int) -> str:
        """Return how a paste is written in the text; empty for one that is not kept."""
        if (text := self._texts.get(number)) is None:
            return ""
        lines = text.count("\n") + (not text.endswith("\n"))
        size = f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"
        return f"[Pasted text #{number}, {size}]"

    def replace(self, texts: Mapping[int, str]) -> None:
        """Take over the pastes of another draft."""
        self._texts = dict(texts)

    def used_in(self, text: str) -> dict[int, str]:
        """Return those whose chips stand in `text`."""
        numbers = {int(match[1]) for match in CHIP.finditer(text)}
        return {number: self._texts[number] for number in numbers if number in self._texts}

    def spans(self, line: str) -> list[tuple[int, int]]:
        """Return start and end of every chip in a line."""
        if not self._texts or "[Pasted text #" not in line:
            return []
        return [match.span() for match in CHIP.finditer(line) if int(match[1]) in self._texts]

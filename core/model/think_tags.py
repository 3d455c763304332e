"""Thoughts that a model writes into its text, between `<think>` and `</think>` at its beginning, told apart."""

from __future__ import annotations

OPENING, CLOSING = "<think>", "</think>"


class ThinkTags:
    """Takes a text in pieces; gives it in pieces, each with whether it is a thought."""

    def __init__(self) -> None:
        self._held = ""
        self._is_thought: bool | None = None
        """None before it is known how the text begins."""
        self._is_first = False
        """Thoughts have just ended: line feeds after them are no part of the text."""

    def feed(self, text: str) -> list[tuple[bool, str]]:
        """Return what is sure now."""
        self._held += text
        if self._is_thought is None:
            begun = self._held.lstrip()
            if len(begun) < len(OPENING) and OPENING.startswith(begun):
                return []
            self._is_thought = begun.startswith(OPENING)
            self._held = begun[len(OPENING) :] if self._is_thought else self._held
        if not self._is_thought:
            return self._take_text()
        thought, tag, rest = self._held.partition(CLOSING)
        if not tag:
            return self._take(len(self._held) - _begun(self._held))
        self._is_thought, self._is_first, self._held = False, True, rest
        return [*([(True, thought)] if thought else []), *self._take_text()]

    def close(self) -> list[tuple[bool, str]]:
        """Return what was held back."""
        return self._take(len(self._held))

    def _take_text(self) -> list[tuple[bool, str]]:
        if self._is_first:
            self._held = self._held.lstrip("\n")
            self._is_first = not self._held
        return self._take(len(self._held))

    def _take(self, count: int) -> list[tuple[bool, str]]:
        taken, self._held = self._held[:count], self._held[count:]
        return [(bool(self._is_thought), taken)] if taken else []


def _begun(text: str) -> int:
    """Return how many characters at the end may be the beginning of the closing tag."""
    return next((size for size in range(len(CLOSING) - 1, 0, -1) if text.endswith(CLOSING[:size])), 0)

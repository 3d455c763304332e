"""Keys for vi's editing as one writes them: `cwred<esc>`."""

from __future__ import annotations

import re

from widgets.prompt.vim.editing import VimEditing, VimMode
from widgets.prompt.vim.motions import last_column

_KEY = re.compile(r"<(esc|c-r|cr|bs|down|up)>|.", re.DOTALL)
_NAMES = {"<esc>": "escape", "<bs>": "backspace", "<c-r>": "ctrl+r", "<cr>": "enter", "<down>": "down", "<up>": "up"}


def keys_of(typed: str) -> list[str]:
    return [_NAMES.get(match[0], match[0]) for match in _KEY.finditer(typed)]


class Typist:
    """Types into a text, in normal mode at first."""

    def __init__(self, text: str, cursor: int = 0) -> None:
        self.vim = VimEditing()
        self.text = text
        self.cursor = min(cursor, last_column(text, cursor))
        self.wants: list[str] = []
        self.copied: list[str] = []
        self.vim.restart(text, self.cursor, insert=False)

    def type(self, typed: str) -> Typist:
        for key in keys_of(typed):
            self._press(key)
        return self

    def _press(self, key: str) -> None:
        if self.vim.mode is VimMode.INSERT:
            if key == "escape":
                self._leave()
            else:
                self.text = self.text[: self.cursor] + key + self.text[self.cursor :]
                self.cursor += 1
        elif key == "escape" and self.vim.mode is VimMode.REPLACE:
            self._leave()
        elif key == "escape":
            self.vim.escape()
        elif (pressed := self.vim.press(key, self.text, self.cursor)) is not None:
            self.text, self.cursor = pressed.text, pressed.cursor
            self.wants += [pressed.wants] if pressed.wants else []
            self.copied += [pressed.copied] if pressed.copied else []

    def _leave(self) -> None:
        outcome = self.vim.leave_insert(self.text, self.cursor)
        self.text, self.cursor = outcome.text, outcome.cursor

    @property
    def shown(self) -> str:
        """The text with the cursor before its character."""
        return f"{self.text[: self.cursor]}|{self.text[self.cursor :]}"

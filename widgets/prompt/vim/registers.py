"""Vi's registers: what was deleted and yanked, by the name that was given. It knows no clipboard."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from widgets.prompt.vim.edits import Register

CLIPBOARD = ("+", "*")
"""Names that stand for the clipboard."""
_NOWHERE = "_"
_NUMBERED = "123456789"


class Registers:
    """Unnamed, `a` to `z` (`A` to `Z` add to them), `0` to `9`, `-`, and `_`, which keeps nothing."""

    def __init__(self) -> None:
        self._kept: dict[str, Register] = {}
        self.clipboard = Register()
        """What `+` and `*` hold."""

    def read(self, name: str = "") -> Register:
        """Return what a register holds; the unnamed one holds what was deleted or yanked last."""
        if name in CLIPBOARD:
            return self.clipboard
        return self._kept.get("" if name == '"' else name.lower(), Register())

    def yank(self, taken: Register, name: str = "") -> None:
        """Keep what was yanked: without a name in `0`, too."""
        if name != _NOWHERE:
            self._write(taken, name or "0")

    def delete(self, taken: Register, name: str = "", *, is_far: bool = False) -> None:
        """Keep what was deleted: lines in `1`, what was there in `2` and so on; less than a line in `-`.

        Args:
            is_far: a motion took it that counts as lines even within one (`%`, `{`, `}`).
        """
        if name == _NOWHERE:
            return
        in_line = not taken.lines and "\n" not in taken.text
        if not in_line or is_far:
            for older, newer in zip(_NUMBERED[:0:-1], _NUMBERED[-2::-1], strict=True):
                self._kept[older] = self.read(newer)
            self._kept["1"] = taken
        if in_line and not name:
            self._kept["-"] = taken
        self._write(taken, name)

    def clean(self, change: Callable[[str], str]) -> None:
        """Change the text of every register."""
        self._kept = {name: replace(each, text=change(each.text)) for name, each in self._kept.items()}

    def _write(self, taken: Register, name: str) -> None:
        if name.isupper():
            taken = _added(self.read(name), taken)
        if name in CLIPBOARD:
            self._kept[""] = self.clipboard = taken
        else:
            self._kept[name.lower()] = self._kept[""] = taken


def _added(before: Register, taken: Register) -> Register:
    if not before.text and not before.lines:
        return taken
    lines = before.lines or taken.lines
    return Register(f"{before.text}\n{taken.text}" if lines else before.text + taken.text, lines)

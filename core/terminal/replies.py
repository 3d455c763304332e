"""What a program is told when it asks its terminal: fixed, short texts, to the program only."""

from __future__ import annotations

from pyte import modes as mo

from core.terminal.modes import ModalGrid
from core.terminal.pen import parameters_of

MAX_OWED = 4096
"""Bytes that are kept for a program that asks but does not read."""

_FOREGROUND = "rgb:d8d8/d8d8/d8d8"
_BACKGROUND = "rgb:1212/1212/1212"


def _position(grid: ModalGrid, prefix: str) -> str:
    top = grid.top if mo.DECOM in grid.mode else 0
    return f"\x1b[{prefix}{grid.cursor.y - top + 1};{grid.at + 1}R"


def answer(grid: ModalGrid, name: str, parameters: list[int]) -> str:
    """Return the answer to a CSI query named by prefix, intermediates and final byte; empty if it is none."""
    first = parameters[0] if parameters else 0
    if name == "c":
        return "\x1b[?62;22c" if first == 0 else ""
    if name == ">c":
        return "\x1b[>0;276;0c" if first == 0 else ""
    if name == "=c":
        return "\x1bP!|00000000\x1b\\" if first == 0 else ""
    if name == "n":
        return {5: "\x1b[0n", 6: _position(grid, "")}.get(first, "")
    if name == "?n":
        return _position(grid, "?") if first == 6 else ""
    if name == "?$p":
        return f"\x1b[?{first};{grid.mode_state(first, private=True)}$y"
    if name == "$p":
        return f"\x1b[{first};{grid.mode_state(first, private=False)}$y"
    if name == ">q":
        return "\x1bP>|stet\x1b\\" if first == 0 else ""
    if name == "t":
        return {18: f"\x1b[8;{grid.lines};{grid.columns}t", 19: f"\x1b[9;{grid.lines};{grid.columns}t"}.get(first, "")
    if name == "x":
        return f"\x1b[{first + 2};1;1;128;128;1;0x" if first in (0, 1) else ""
    return ""


def answer_string(grid: ModalGrid, kind: str, text: str) -> str:
    """Return the answer to an OSC or DCS query; empty if it is none."""
    if kind == "osc":
        return {
            "10;?": f"\x1b]10;{_FOREGROUND}\x1b\\",
            "11;?": f"\x1b]11;{_BACKGROUND}\x1b\\",
            "12;?": f"\x1b]12;{_FOREGROUND}\x1b\\",
        }.get(text, "")
    if kind == "dcs" and text.startswith("$q"):
        # DECRQSS: with the style editors find out whether direct colours are understood
        settings = {"m": parameters_of(grid.pen.style, ":"), "r": f"{grid.top + 1};{grid.bottom + 1}"}
        setting = settings.get(text[2:])
        return "\x1bP0$r\x1b\\" if setting is None else f"\x1bP1$r{setting}{text[2:]}\x1b\\"
    if kind == "dcs" and text.startswith("+q"):
        return "\x1bP0+r\x1b\\"
    return ""

"""The current style of a terminal: SGR parameters to cell styles, remembered so that a change is a look-up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

from core.contract.frame import PLAIN, CellStyle

_FLAGS: dict[int, dict[str, Any]] = {
    1: {"bold": True},
    2: {"dim": True},
    3: {"italic": True},
    4: {"underline": True},
    5: {"blink": True},
    6: {"blink": True},
    7: {"reverse": True},
    8: {"conceal": True},
    9: {"strike": True},
    21: {"underline": True},
    22: {"bold": False, "dim": False},
    23: {"italic": False},
    24: {"underline": False},
    25: {"blink": False},
    27: {"reverse": False},
    28: {"conceal": False},
    29: {"strike": False},
    39: {"fg": ""},
    49: {"bg": ""},
    53: {"overline": True},
    55: {"overline": False},
}
_CODES = (
    ("bold", 1), ("dim", 2), ("italic", 3), ("underline", 4), ("blink", 5), ("reverse", 7), ("conceal", 8),
    ("strike", 9), ("overline", 53),
)  # fmt: skip

_MAX_PENS = 4096
MAX_PARAMETERS = 32


def _number(text: str) -> int:
    return int(text[-6:]) if text else 0


def _direct(red: int, green: int, blue: int) -> str:
    return f"#{min(red, 255):02x}{min(green, 255):02x}{min(blue, 255):02x}"


def _colour_of_colons(parts: list[str]) -> str | None:
    """Return the colour of `38:2::r:g:b`, `38:2:r:g:b` or `38:5:n` (ITU-T T.416 13.1.8); none if it is none."""
    numbers = [_number(part) for part in parts]
    if len(numbers) >= 3 and numbers[1] == 5:
        return str(min(numbers[2], 255))
    if len(numbers) >= 5 and numbers[1] == 2:
        red, green, blue = numbers[3:6] if len(numbers) >= 6 else numbers[2:5]
        return _direct(red, green, blue)
    return None


def _colour_of_semicolons(fields: list[str], at: int) -> tuple[str | None, int]:
    """Return the colour after the 38, 48 or 58 at `at`, and how many further fields it takes."""
    kind = _number(fields[at + 1]) if at + 1 < len(fields) and ":" not in fields[at + 1] else 0
    if kind == 5 and at + 2 < len(fields):
        return str(min(_number(fields[at + 2].split(":")[0]), 255)), 2
    if kind == 2 and at + 4 < len(fields):
        red, green, blue = (_number(field.split(":")[0]) for field in fields[at + 2 : at + 5])
        return _direct(red, green, blue), 4
    return None, len(fields)


def apply_sgr(style: CellStyle, parameters: str) -> CellStyle:
    """Return the style after `CSI parameters m` (ECMA-48 8.3.117, xterm, colon forms); unknown ones change nothing."""
    fields = parameters.split(";")[:MAX_PARAMETERS]
    changes: dict[str, Any] = {}
    at = 0
    while at < len(fields):
        field = fields[at]
        if ":" in field:
            parts = field.split(":")
            code = _number(parts[0])
            if code in (38, 48):
                colour = _colour_of_colons(parts)
                if colour is not None:
                    changes["fg" if code == 38 else "bg"] = colour
            elif code == 4:
                changes["underline"] = parts[1] != "0"
            at += 1
            continue
        code = _number(field)
        if code == 0:
            style, changes = PLAIN, {}
        elif code in _FLAGS:
            changes.update(_FLAGS[code])
        elif code in (38, 48, 58):
            colour, taken = _colour_of_semicolons(fields, at)
            at += taken
            if colour is not None and code != 58:
                changes["fg" if code == 38 else "bg"] = colour
        elif 30 <= code <= 37 or 90 <= code <= 97:
            changes["fg"] = str(code - 30 if code < 90 else code - 82)
        elif 40 <= code <= 47 or 100 <= code <= 107:
            changes["bg"] = str(code - 40 if code < 100 else code - 92)
        at += 1
    return replace(style, **changes) if changes else style


class Pen:
    """A style with the pens that follow it: a graph that grows as a program changes its style."""

    __slots__ = ("_find", "blank", "following", "style")

    def __init__(self, style: CellStyle, find: Callable[[CellStyle], Pen]) -> None:
        self.style = style
        blank = CellStyle(bg=style.bg)
        self.blank = PLAIN if not style.bg else style if style == blank else find(blank).style
        """What erased cells get: the background colour only (xterm's `bce`)."""
        self._find = find
        self.following: dict[str, Pen] = {}
        """Pens that `after` has found, by parameters."""

    def after(self, parameters: str) -> Pen:
        """Return the pen after `CSI parameters m`."""
        pen = self.following.get(parameters)
        if pen is None:
            pen = self._find(apply_sgr(self.style, parameters))
            if len(self.following) < 256 and len(parameters) < 64:
                self.following[parameters] = pen
        return pen


class PenBox:
    """All pens of one screen: equal styles are one object, so that cells can be compared by identity."""

    def __init__(self) -> None:
        self._pens: dict[CellStyle, Pen] = {}
        self.plain = self.find(PLAIN)

    def find(self, style: CellStyle) -> Pen:
        """Return the pen of a style."""
        pen = self._pens.get(style)
        if pen is None:
            if len(self._pens) >= _MAX_PENS:
                self._pens.clear()
                for known in (self.plain,):
                    known.following.clear()
                    self._pens[known.style] = known
            pen = self._pens[style] = Pen(style, self.find)
        return pen


@lru_cache(maxsize=4096)
def sequence_of(style: CellStyle) -> str:
    """Return the sequence that gives a style, whatever was before."""
    codes = ["0", *(str(code) for name, code in _CODES if getattr(style, name))]
    for code, colour in ((38, style.fg), (48, style.bg)):
        if colour.startswith("#"):
            codes.append(f"{code};2;{int(colour[1:3], 16)};{int(colour[3:5], 16)};{int(colour[5:], 16)}")
        elif colour:
            codes.append(f"{code};5;{colour}")
    return f"\x1b[{';'.join(codes)}m"

"""The current style of a terminal: SGR parameters to cell styles, remembered so that a change is a look-up."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from core.contract.frame import PLAIN, CellStyle

_FLAGS = (
    ("bold", 1), ("dim", 2), ("italic", 3), ("underline", 4), ("blink", 5), ("reverse", 7), ("conceal", 8),
    ("strike", 9), ("overline", 53),
)  # fmt: skip
"""The attributes that are on or off, each a bit in this order, with the SGR that sets it."""
_BITS = {name: 1 << at for at, (name, _) in enumerate(_FLAGS)}
_ON = {code: 1 << at for at, (_, code) in enumerate(_FLAGS)} | {6: _BITS["blink"], 21: _BITS["underline"]}
_OFF = {
    22: _BITS["bold"] | _BITS["dim"],
    23: _BITS["italic"],
    24: _BITS["underline"],
    25: _BITS["blink"],
    27: _BITS["reverse"],
    28: _BITS["conceal"],
    29: _BITS["strike"],
    55: _BITS["overline"],
}
_HEX = {str(number): f"{number:02x}" for number in range(256)}
_DECIMAL = {digits: number for number, digits in _HEX.items()}
_LINK = 1008
"""A parameter of our own, which no terminal has: the address of a link, in two digits a character, so that entries of
the scrollback can hold it."""
_ADDRESS = re.compile(r"https?://[!-~]{1,1000}", re.IGNORECASE)
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


def _read_link(digits: str) -> str:
    """Return the address that `_write_link` was given; nothing if it is none."""
    address = "".join(chr(32 + int(digits[at : at + 2])) for at in range(0, len(digits), 2))
    return address if _ADDRESS.fullmatch(address) else ""


def _write_link(address: str) -> str:
    return f"{_LINK}:{''.join([f'{ord(character) - 32:02}' for character in address])}"


class Change(NamedTuple):
    """What one SGR sequence does to a style."""

    reset: bool
    foreground: str | None
    background: str | None
    on: int
    off: int
    link: str | None = None


@lru_cache(maxsize=4096)
def read_sgr(parameters: str) -> Change:
    """Return what `CSI parameters m` does (ECMA-48 8.3.117, xterm, colon forms); unknown ones change nothing."""
    fields = parameters.split(";")[:MAX_PARAMETERS]
    reset = False
    link: str | None = None
    colours: dict[int, str] = {}
    on = off = at = 0
    while at < len(fields):
        field = fields[at]
        at += 1
        if ":" in field:
            parts = field.split(":")
            code = _number(parts[0])
            if code in (38, 48):
                colour = _colour_of_colons(parts)
                if colour is not None:
                    colours[code] = colour
                continue
            if code == _LINK:
                link = _read_link(parts[1])
            if code != 4:
                continue
            code = 4 if parts[1] != "0" else 24
        else:
            code = _number(field)
        if code == 0:
            reset, colours, on, off, link = True, {}, 0, 0, None
        elif code in _ON:
            on |= _ON[code]
            off &= ~_ON[code]
        elif code in _OFF:
            off |= _OFF[code]
            on &= ~_OFF[code]
        elif code in (38, 48, 58):
            colour, taken = _colour_of_semicolons(fields, at - 1)
            at += taken
            if colour is not None:
                colours[code] = colour
        elif 30 <= code <= 37 or 90 <= code <= 97:
            colours[38] = str(code - 30 if code < 90 else code - 82)
        elif 40 <= code <= 47 or 100 <= code <= 107:
            colours[48] = str(code - 40 if code < 100 else code - 92)
        elif code in (39, 49):
            colours[code - 1] = ""
    return Change(reset, colours.get(38), colours.get(48), on, off, link)


def _read_direct(parameters: str) -> Change | None:
    """Return what `38;2;r;g;b`, `48;2;r;g;b` or both do, perhaps after a reset: pictures are made of them."""
    fields = parameters.split(";")
    reset = len(fields) in (6, 11) and fields[0] == "0"
    if reset:
        del fields[0]
    if len(fields) not in (5, 10):
        return None
    colours: dict[str, str] = {}
    try:
        for at in range(0, len(fields), 5):
            ground, two, red, green, blue = fields[at : at + 5]
            if two != "2" or ground not in ("38", "48"):
                return None
            colours[ground] = f"#{_HEX[red]}{_HEX[green]}{_HEX[blue]}"
    except KeyError:
        return None
    return Change(reset, colours.get("38"), colours.get("48"), 0, 0)


Write = tuple["Pen", str, tuple[tuple[str, CellStyle], ...], int]
"""What text with styles does: the pen and the last text after it, the cells and their number."""


class Pen:
    """A style with the pens that follow it: a graph that grows as a program changes its style."""

    __slots__ = ("_begin", "_blank", "_box", "_flags", "following", "style", "writes")

    def __init__(self, foreground: str, background: str, flags: int, link: str, box: PenBox) -> None:
        named = {name: True for name, bit in _BITS.items() if flags & bit} if flags else {}
        plain = not (foreground or background or flags or link)
        self.style = PLAIN if plain else CellStyle(foreground, background, link=link, **named)
        self._flags = flags
        self._box = box
        self._begin: str | None = None
        own = self.style if not (foreground or flags or link) else None
        self._blank: CellStyle | None = own if background else PLAIN
        self.following: dict[str, Pen] = {}
        """Pens that `after` has found, by parameters."""
        self.writes: dict[str, Write] = {}
        """What pieces of output do; who adds to it bounds it."""

    @property
    def blank(self) -> CellStyle:
        """What erased cells get: the background colour only (xterm's `bce`)."""
        if self._blank is None:
            self._blank = self._box.find("", self.style.bg, 0).style
        return self._blank

    @property
    def begin(self) -> str:
        """What gives this style to text that begins with the default one."""
        if self._begin is None:
            self._begin = "" if self.style is PLAIN else sequence_of(self.style)
        return self._begin

    def after(self, parameters: str) -> Pen:
        """Return the pen after `CSI parameters m`."""
        pen = self.following.get(parameters)
        if pen is None:
            reset, foreground, background, on, off, link = _read_direct(parameters) or read_sgr(parameters)
            pen = self._box.find(
                foreground if foreground is not None else "" if reset else self.style.fg,
                background if background is not None else "" if reset else self.style.bg,
                (0 if reset else self._flags) & ~off | on,
                link if link is not None else "" if reset else self.style.link,
            )
            if len(self.following) < 256 and len(parameters) < 64:
                self.following[parameters] = pen
        return pen

    def linked(self, address: str) -> Pen:
        """Return the pen after `OSC 8 ; ; address`: without a link where the address is none that we show."""
        style = self.style
        return self._box.find(style.fg, style.bg, self._flags, address if _ADDRESS.fullmatch(address) else "")


class PenBox:
    """All pens of one screen: equal styles are one object, so that cells can be compared by identity."""

    def __init__(self) -> None:
        self._pens: dict[tuple[str, str, int, str], Pen] = {}
        self.plain = self.find("", "", 0)

    def find(self, foreground: str, background: str, flags: int, link: str = "") -> Pen:
        """Return the pen of a style."""
        pen = self._pens.get((foreground, background, flags, link))
        if pen is None:
            if len(self._pens) >= _MAX_PENS:
                self._pens.clear()
                self.plain.following.clear()
                self.plain.writes.clear()
                self._pens["", "", 0, ""] = self.plain
            pen = self._pens[foreground, background, flags, link] = Pen(foreground, background, flags, link, self)
        return pen


@lru_cache(maxsize=4096)
def reversed_style(style: CellStyle) -> CellStyle:
    """Return the style of a cell on a reversed screen: equal ones are one object."""
    return replace(style, reverse=not style.reverse)


@lru_cache(maxsize=4096)
def sequence_of(style: CellStyle) -> str:
    """Return the sequence that gives a style, whatever was before."""
    link = f";{_write_link(style.link)}" if style.link else ""
    return f"\x1b[{parameters_of(style, ';')}{link}m"


def parameters_of(style: CellStyle, mark: str) -> str:
    """Return the SGR parameters that give a style, whatever was before; `mark` stands between those of one colour."""
    codes = ["0", *(str(code) for name, code in _FLAGS if getattr(style, name))]
    for code, colour in (("38", style.fg), ("48", style.bg)):
        if colour.startswith("#"):
            red, green, blue = _DECIMAL[colour[1:3]], _DECIMAL[colour[3:5]], _DECIMAL[colour[5:]]
            codes.append(f"{code}{mark}2{mark}{red}{mark}{green}{mark}{blue}")
        elif colour:
            codes.append(mark.join((code, "5", colour)))
    return ";".join(codes)

"""Keys and mouse events as the bytes that a program in a terminal expects (xterm's ctlseqs, PC-style function keys)."""

from __future__ import annotations

import re

_CURSOR = {"up": "A", "down": "B", "right": "C", "left": "D", "end": "F", "home": "H"}
_TILDE = {
    "insert": 2, "delete": 3, "pageup": 5, "pagedown": 6,
    "f5": 15, "f6": 17, "f7": 18, "f8": 19, "f9": 20, "f10": 21, "f11": 23, "f12": 24,
}  # fmt: skip
_FUNCTION = {"f1": "P", "f2": "Q", "f3": "R", "f4": "S"}
_SIMPLE = {
    "enter": "\r",
    "return": "\r",
    "tab": "\t",
    "escape": "\x1b",
    "backspace": "\x7f",
    "space": " ",
}
_CONTROL = {
    "@": "\x00", "at": "\x00", "space": "\x00", "backslash": "\x1c", "right_square_bracket": "\x1d", "]": "\x1d",
    "left_square_bracket": "\x1b", "circumflex_accent": "\x1e", "underscore": "\x1f", "slash": "\x1f",
    "question_mark": "\x7f", "backspace": "\x08", "2": "\x00", "3": "\x1b", "4": "\x1c", "5": "\x1d", "6": "\x1e",
    "7": "\x1f", "8": "\x7f",
}  # fmt: skip
_CONTROLS = re.compile("[\x00-\x08\x0a-\x0c\x0e-\x1f\x7f-\x9f]")
_MODIFIERS = {"shift": 1, "alt": 2, "meta": 2, "ctrl": 4}


def encode_key(key: str, character: str | None = None, *, application_cursor: bool = False) -> bytes:
    """Return what a key sends; empty for one that sends nothing (a modifier alone, an unknown key).

    Args:
        key: Textual's name of it, such as `ctrl+c`, `shift+up` or `a`.
        character: the text that it makes, if any.
        application_cursor: the program asked for application cursor keys (DECCKM).
    """
    *prefixes, name = key.split("+") if key != "+" else ("+",)
    modifiers = sum({_MODIFIERS.get(prefix, 0) for prefix in prefixes})
    if name in _CURSOR or name in _TILDE or name in _FUNCTION:
        return _encode_special(name, modifiers, application_cursor).encode()
    if name == "tab" and modifiers & 1:
        return b"\x1b[Z"
    text = _encode_text(name, modifiers, character)
    return (("\x1b" if modifiers & 2 and text else "") + text).encode("utf-8", "replace")


def _encode_special(name: str, modifiers: int, application_cursor: bool) -> str:
    if name in _TILDE:
        return f"\x1b[{_TILDE[name]};{modifiers + 1}~" if modifiers else f"\x1b[{_TILDE[name]}~"
    final = _CURSOR.get(name) or _FUNCTION[name]
    if modifiers:
        return f"\x1b[1;{modifiers + 1}{final}"
    return f"\x1bO{final}" if name in _FUNCTION or application_cursor else f"\x1b[{final}"


def _encode_text(name: str, modifiers: int, character: str | None) -> str:
    if modifiers & 4:
        if name in _CONTROL:
            return _CONTROL[name]
        if len(name) == 1 and name.isalpha() and name.isascii():
            return chr(ord(name.upper()) & 0x1F)
    if name in _SIMPLE:
        return _SIMPLE[name]
    if character:
        return character if character.isprintable() or len(character) == 1 else ""
    if len(name) == 1:
        return name.upper() if modifiers & 1 else name
    return ""


def encode_paste(text: str, *, bracketed: bool) -> bytes:
    """Return pasted text: line feeds as Enter sends them, no escape sequence that could end the bracket or run keys."""
    clean = _CONTROLS.sub("", text.replace("\r\n", "\r").replace("\n", "\r"))
    data = clean.encode("utf-8", "replace")
    return b"\x1b[200~" + data + b"\x1b[201~" if bracketed else data


def encode_mouse(button: int, column: int, line: int, *, pressed: bool, sgr: bool) -> bytes:
    """Return a mouse report (1006, or the old form within its range of 223 cells).

    Args:
        button: 0 left, 1 middle, 2 right, 64 wheel up, 65 wheel down; with 4 shift, 8 alt, 16 ctrl, 32 motion added.
        column, line: from 0.
    """
    if sgr:
        return f"\x1b[<{button};{column + 1};{line + 1}{'M' if pressed else 'm'}".encode()
    if column > 222 or line > 222:
        return b""
    code = button if pressed else button & ~3 | 3
    return b"\x1b[M" + bytes((32 + code, 33 + column, 33 + line))

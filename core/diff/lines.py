"""Lines of a text as editors see them: they end at CR LF, LF or CR, and nowhere else.

`str.splitlines` breaks at form feeds, U+2028 and others too, and would then lose where a line really ends.
"""

from __future__ import annotations

import re

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")


def split_lines(text: str) -> list[str]:
    """Return the lines with their breaks; joined they are the text. An empty text has no line."""
    if "\r" in text:
        return _LINE.findall(text)
    lines = text.split("\n")
    last = lines.pop()
    lines = [line + "\n" for line in lines]
    if last:
        lines.append(last)
    return lines


def split_ending(line: str) -> tuple[str, str]:
    """Return a line's text and its break, which is empty on a last line without one."""
    last = line[-1:]
    if last == "\n":
        return (line[:-1], "\n") if line[-2:-1] != "\r" else (line[:-2], "\r\n")
    return (line[:-1], "\r") if last == "\r" else (line, "")

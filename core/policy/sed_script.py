"""Which scripts of sed only print and change what passes through: no file, no program (POSIX sed, GNU sed 4.9)."""

from __future__ import annotations

import re

_PLAIN = frozenset("pPdDgGhHnNxlqQz=F{}#")
_GAP = re.compile(r"[\s;]*")
_NUMBER = re.compile(r"(?:\d+(?:~\d+)?|\$|[+~]\d+)")
_LABEL = re.compile(r"[ \t]*[\w.-]*[ \t]*(?=[;\n}]|$)")
_TEXT = re.compile(r"(?:\\.|[^\\\n])*", re.DOTALL)
_FLAGS = re.compile(r"[gpiIM0-9]*[ \t]*(?=[;\n}]|$)")
_END = re.compile(r"[ \t]*\d*[ \t]*(?=[;\n}]|$)")


def is_harmless(script: str) -> bool:
    """Return whether every command of a script is known to touch nothing but the text."""
    at = _GAP.match(script).end()  # type: ignore[union-attr]  # it matches nothing, too
    while at < len(script):
        end = _after_command(script, _after_addresses(script, at))
        if end is None:
            return False
        at = _GAP.match(script, end).end()  # type: ignore[union-attr]
    return True


def _after_addresses(script: str, at: int) -> int | None:
    """Return where the command begins; none where an address can't be read."""
    for more in (False, True):
        if more:
            if not script.startswith(",", at):
                break
            at += 1
        found = _NUMBER.match(script, at)
        if found is not None:
            at = found.end()
        elif script.startswith(("/", "\\"), at):
            begin = at + script.startswith("\\", at)
            if begin >= len(script) or (end := _after_text(script, begin + 1, script[begin])) is None:
                return None
            at = end
            while script[at : at + 1] in ("I", "M"):
                at += 1
    blank = re.compile(r"[ \t]*!?[ \t]*").match(script, at)
    return at if blank is None else blank.end()


def _after_command(script: str, at: int | None) -> int | None:
    """Return where a harmless command ends; none where it is another."""
    if at is None or at >= len(script):
        return None
    command, at = script[at], at + 1
    if command == "#":
        return len(script) if "\n" not in script[at:] else script.index("\n", at)
    if command in "{}":
        return at
    if command in "aic":
        end = _TEXT.match(script, at)
    elif command in _PLAIN:
        end = _END.match(script, at)
    elif command in ":bt":
        end = _LABEL.match(script, at)
    elif command in "sy" and at < len(script):
        first = _after_text(script, at + 1, script[at])
        second = _after_text(script, first, script[at]) if first is not None else None
        end = _FLAGS.match(script, second) if second is not None else None
    else:
        end = None
    return None if end is None else end.end()


def _after_text(script: str, at: int, delimiter: str) -> int | None:
    """Return where the text after `at` is over, behind its delimiter; none where it never is."""
    if delimiter in "\\\n" or delimiter.isalnum():
        return None
    while at < len(script):
        if script[at] == "\\":
            at += 2
        elif script[at] == delimiter:
            return at + 1
        else:
            at += 1
    return None

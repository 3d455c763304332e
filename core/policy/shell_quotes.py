"""Quote removal for the lenient reading of commands: what bash makes of a written word, as far as one can see.

It knows no syntax beyond one word (bash manual, 3.1.2 "Quoting" and 3.5.1 "Brace Expansion").
"""

from __future__ import annotations

import re

MAX_EXPANSIONS = 32
"""Words that one word's braces may become; with more, the word counts as open."""

_PLAIN = re.compile(r"[^'\"\\$`*?\[]+")
_ANSI = re.compile(r"\$'((?:[^'\\]|\\.)*)'?", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|(.))", re.DOTALL)
_NAMED = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}
_EMPTY = re.compile(r"\$(?:[@*1-9]|\{[@*1-9]\})")
"""Positional parameters: a command that is run by `bash -c` has none."""
_BLANK = re.compile(r"\$(?:\{IFS[^}]*\}|IFS\b)")
_COMPUTED = re.compile(r"\$[A-Za-z_0-9{(#?!$\[-]")

Expanded = tuple[str, bool]
"""A word after quote removal, and whether a part of it is only known at run time (variable, command, glob)."""


def expand_word(raw: str) -> list[Expanded]:
    """Return the words that a written word becomes: braces expanded, `$IFS` split at, quotes removed."""
    pieces, is_complete = _expand_braces(raw)
    words: list[Expanded] = []
    for piece in pieces:
        text, is_open = _unquote(piece)
        parts = text.split("\0") if "\0" in text else [text]
        words += [(part, is_open or not is_complete) for part in parts if part or len(parts) == 1]
    return words


def _unquote(raw: str) -> Expanded:
    out: list[str] = []
    is_open = in_double = False
    at, end = 0, len(raw)
    while at < end:
        if match := _PLAIN.match(raw, at):
            out.append(match[0])
            at = match.end()
            continue
        char = raw[at]
        if char == '"':
            in_double = not in_double
        elif char == "'" and not in_double:
            stop = raw.find("'", at + 1)
            stop = end if stop < 0 else stop
            out.append(raw[at + 1 : stop])
            at = stop
        elif char == "\\" and at + 1 < end:
            at += 1
            if raw[at] != "\n":
                out.append(("\\" if in_double and raw[at] not in '$`"\\' else "") + raw[at])
        elif char == "$":
            text, opens, at = _read_dollar(raw, at, in_double)
            out.append(text)
            is_open = is_open or opens
            continue
        else:
            is_open = is_open or char == "`" or (char in "*?[" and not in_double)
            out.append(char)
        at += 1
    return "".join(out), is_open


def _read_dollar(raw: str, at: int, in_double: bool) -> tuple[str, bool, int]:
    """Return what stands for a `$`, whether it is computed, and where to read on."""
    if not in_double:
        if match := _ANSI.match(raw, at):
            return _ESCAPE.sub(_decode, match[1]), False, match.end()
        if match := _BLANK.match(raw, at):
            return "\0", False, match.end()
        if raw.startswith('$"', at):
            return "", False, at + 1
    if match := _EMPTY.match(raw, at):
        return "", False, match.end()
    return "$", _COMPUTED.match(raw, at) is not None or raw.startswith("$`", at), at + 1


def _decode(match: re.Match[str]) -> str:
    hexadecimal = match[1] or match[2] or match[3]
    if hexadecimal or match[4]:
        code = int(hexadecimal, 16) if hexadecimal else int(match[4], 8) & 0xFF
        return chr(code) if 0 < code < 0x110000 else ""
    return _NAMED.get(match[5], match[5])


def _expand_braces(raw: str) -> tuple[list[str], bool]:
    """Return the words that braces make of one, and whether these are all of them."""
    if "{" not in raw or not ("," in raw or ".." in raw):
        return [raw], True
    done: list[str] = []
    pending = [raw]
    is_complete = True
    while pending:
        word = pending.pop()
        if len(done) + len(pending) >= MAX_EXPANSIONS:
            return [*done, word], False
        found = _find_brace(word)
        if found is None:
            done.append(word)
            continue
        start, stop, items = found
        if not items:
            is_complete = False  # a sequence such as {a..z}
            done.append(word)
            continue
        pending += [word[:start] + item + word[stop:] for item in reversed(items)]
    return list(dict.fromkeys(done)), is_complete


def _find_brace(word: str) -> tuple[int, int, list[str]] | None:
    """Return the first brace expansion: where it begins and ends, and its items (none for a sequence)."""
    quote = ""
    starts: list[tuple[int, list[int]]] = []
    at = 0
    while at < len(word):
        char = word[at]
        if char == "\\" and quote != "'":
            at += 1
        elif quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == "{" and (at == 0 or word[at - 1] != "$"):
            starts.append((at, []))
        elif char == "," and starts:
            starts[-1][1].append(at)
        elif char == "}" and starts:
            start, commas = starts.pop()
            if commas:
                edges = [start, *commas, at]
                return start, at + 1, [word[a + 1 : b] for a, b in zip(edges, edges[1:], strict=False)]
            if ".." in word[start:at]:
                return start, at + 1, []
        at += 1
    return None

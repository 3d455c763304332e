"""A regular expression in a form that every engine reads alike: what it takes on lines of plain ASCII, or more.

The forms keep to what PCRE, POSIX extended expressions and Rust's share: characters, ranges, groups, `|`, `* + ? {m,n}`
and line ends. A line that `re` finds is found by its form; what the form finds, `re` still has to confirm.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from typing import Any

NEVER = None
"""The form of what no ASCII text matches."""
_ANYWHERE = "AT_BOUNDARY", "AT_NON_BOUNDARY", "ASSERT", "ASSERT_NOT"
"""Conditions that are left out: without them more is found, never less."""
_SPECIAL = frozenset(".*+?(){}|[]\\^$")
_NO_END = frozenset("[]\\^-&~:=.")
"""Characters that no range may begin or end with."""
_LINE_FEED = 0x0A
_ALL = frozenset(range(1, 128)) - {_LINE_FEED}
_MAX_REPEAT = 8
_MAX_LENGTH = 2_000


def ascii_form(pattern: str, flags: int) -> str | None:
    """Return the form of an expression that is looked for in single lines; `NEVER` where no ASCII text can match.

    A form may match the empty string: then it tells nothing.
    """
    parsed = _Parsed(pattern, flags)
    form = parsed.sequence(parsed.nodes, parsed.flags)
    return form if form is NEVER or len(form) <= _MAX_LENGTH else ""


class _Parsed:
    def __init__(self, pattern: str, flags: int) -> None:
        self._parser = getattr(re, "_parser", None)  # of CPython; without it nothing is known
        self._compiler = getattr(re, "_compiler", None)
        self.nodes: Iterable[tuple[Any, Any]] = []
        self.flags = flags
        self._sets: dict[tuple[str, int], frozenset[int]] = {}
        if self._parser is None or self._compiler is None:
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = self._parser.parse(pattern, flags)
        self.nodes = tree
        self.flags = tree.state.flags

    def sequence(self, nodes: Iterable[tuple[Any, Any]], flags: int) -> str | None:
        """Return the form of parts that stand one after the other."""
        form = ""
        for operation, argument in nodes:
            part = self._part(str(operation), operation, argument, flags)
            if part is NEVER:
                return NEVER
            form += part
            if len(form) > _MAX_LENGTH:
                return ""
        return form

    def _part(self, name: str, operation: Any, argument: Any, flags: int) -> str | None:
        if name in ("LITERAL", "NOT_LITERAL", "IN", "ANY"):
            return _one_of(self._characters(operation, argument, flags))
        if name == "SUBPATTERN":
            _, added, removed, inner = argument
            return _group(self.sequence(inner, (flags | added) & ~removed))
        if name == "ATOMIC_GROUP":
            return _group(self.sequence(argument, flags))
        if name == "BRANCH":
            return _either(self.sequence(branch, flags) for branch in argument[1])
        if name == "GROUPREF_EXISTS":
            return _either(self.sequence(branch or (), flags) for branch in argument[1:])
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            return _repeat(self.sequence(argument[2], flags), int(argument[0]), int(argument[1]))
        if name == "AT" and str(argument) in ("AT_BEGINNING", "AT_BEGINNING_STRING"):
            return "(^|\r)"  # lines may end in a carriage return alone
        if name == "AT" and str(argument) in ("AT_END", "AT_END_STRING"):
            return "(\r|$)"
        return "" if name in _ANYWHERE or name == "AT" else ".*"

    def _characters(self, operation: Any, argument: Any, flags: int) -> frozenset[int]:
        """Return the ASCII characters that one part of the expression takes; `re` itself is asked."""
        key = (repr((str(operation), argument)), flags)
        if key not in self._sets:
            assert self._parser is not None and self._compiler is not None
            state = self._parser.State()
            state.flags = flags
            compiled = self._compiler.compile(self._parser.SubPattern(state, [(operation, argument)]), flags)
            self._sets[key] = frozenset(code for code in _ALL if compiled.match(chr(code)))
        return self._sets[key]


def _one_of(codes: frozenset[int]) -> str | None:
    if not codes:
        return NEVER
    if codes == _ALL:
        return "."
    ranges: list[str] = []
    single: list[str] = []
    for start, stop in _runs(codes):
        while start <= stop and chr(start) in _NO_END:
            single.append(_literal(start))
            start += 1
        last = []
        while stop >= start and chr(stop) in _NO_END:
            last.append(_literal(stop))
            stop -= 1
        single += last
        if start == stop:
            ranges.append(chr(start))
        elif start < stop:
            ranges.append(f"{chr(start)}-{chr(stop)}")
    if len(ranges) == 1 and not single and len(ranges[0]) == 1:
        return _literal(ord(ranges[0]))
    parts = ([f"[{''.join(ranges)}]"] if ranges else []) + single
    return parts[0] if len(parts) == 1 else f"({'|'.join(parts)})"


def _runs(codes: frozenset[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for code in sorted(codes):
        if runs and runs[-1][1] == code - 1:
            runs[-1] = (runs[-1][0], code)
        else:
            runs.append((code, code))
    return runs


def _literal(code: int) -> str:
    return f"\\{chr(code)}" if chr(code) in _SPECIAL else chr(code)


def _group(form: str | None) -> str | None:
    return f"({form})" if form else form


def _either(forms: Iterable[str | None]) -> str | None:
    known = [form for form in forms if form is not NEVER]
    if not known:
        return NEVER
    full = list(dict.fromkeys(form for form in known if form))
    if not full:
        return ""
    return f"({'|'.join(full)})" + ("" if len(full) == len(set(known)) else "?")


def _repeat(form: str | None, least: int, most: int) -> str | None:
    if form is NEVER:
        return "" if least == 0 else NEVER
    if not form or most == 0:
        return ""
    if "{" in form.replace("\\{", ""):  # repeats of repeats grow large
        least, most = min(least, 1), 2 * _MAX_REPEAT if most > 1 else most
    group = f"({form})"
    if most == 1:
        return f"{group}?" if least == 0 else form
    if most <= _MAX_REPEAT:
        return f"{group}{{{least},{most}}}"
    if least > 1:
        return f"{group}{{{min(least, _MAX_REPEAT)},}}"
    return f"{group}{'+' if least else '*'}"

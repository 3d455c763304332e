"""What can be said of a regular expression beforehand: strings that every match holds, and how a text may be tried."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from core.workspace.ascii_form import NEVER, ascii_form

_MAY_CROSS_LINES = ("ASSERT", "ASSERT_NOT", "GROUPREF", "GROUPREF_EXISTS", "ATOMIC_GROUP", "POSSESSIVE_REPEAT")
_LINE_POSITIONS = ("AT_BEGINNING", "AT_END", "AT_BOUNDARY")
_LINE_CATEGORIES = ("CATEGORY_DIGIT", "CATEGORY_WORD")
MIN_LENGTH = 2
MAX_ALTERNATIVES = 20


@dataclass(frozen=True, slots=True)
class Clues:
    """What tells beforehand which files may hold a match of an expression."""

    literals: tuple[str, ...]
    """Printable ASCII strings; every line that matches holds one of them. Empty where none can be named."""
    form: str | None
    """What every matching line of plain ASCII matches (see `ascii_form`); `NEVER` where there is no such line."""
    is_plain: bool
    """The expression is nothing but its literals."""
    ignore_case: bool

    @property
    def tell_something(self) -> bool:
        return bool(self.literals) or self.form is NEVER or re.search(self.form, "") is None


def find_clues(pattern: str, flags: int = 0) -> Clues:
    """Return the clues to an expression that is looked for in single lines."""
    literals = required_literals(pattern, flags)
    parsed = _parse(pattern, flags)
    is_plain = bool(literals) and all(str(operation) == "LITERAL" and 0x20 <= code < 0x7F for operation, code in parsed)
    ignore_case = bool((parsed.state.flags if parsed is not None else flags) & re.IGNORECASE)
    return Clues(literals, literals[0] if is_plain else ascii_form(pattern, flags), is_plain, ignore_case)


def required_literals(pattern: str, flags: int = 0) -> tuple[str, ...]:
    """Return printable ASCII strings of which every match holds at least one; empty where none can be named.

    ASCII alone, as a file in another encoding has the same bytes for it (but for UTF-16 and UTF-32).
    """
    parsed = _parse(pattern, flags)
    found = _of_sequence(parsed) if parsed is not None else frozenset()
    return tuple(sorted(found)) if found and len(found) <= MAX_ALTERNATIVES else ()


def stays_in_line(pattern: str, flags: int = 0) -> bool:
    """Return whether no part of a match can go over a line break or depend on what lies beyond one.

    Then one search over a whole text (with `re.MULTILINE`) tells whether any of its lines matches.
    """
    parsed = _parse(pattern, flags)
    if parsed is None or parsed.state.flags & re.DOTALL:
        return False
    return _stays_in_line(parsed)


def _parse(pattern: str, flags: int) -> Any:
    parser = getattr(re, "_parser", None)  # of CPython; without it nothing is known and every line is tried
    if parser is None:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return parser.parse(pattern, flags)
    except (re.error, RecursionError, OverflowError):
        return None


def _stays_in_line(nodes: Iterable[tuple[Any, Any]]) -> bool:
    for operation, argument in nodes:
        name = str(operation)
        if name in _MAY_CROSS_LINES or name == "NOT_LITERAL":
            return False
        if name == "LITERAL" and argument == 0x0A:
            return False
        if name == "AT" and str(argument) not in _LINE_POSITIONS:
            return False
        if name == "IN" and not all(_is_within_line(str(kind), value) for kind, value in argument):
            return False
        if name == "SUBPATTERN" and (argument[1] or not _stays_in_line(argument[-1])):
            return False
        if name in ("MAX_REPEAT", "MIN_REPEAT") and not _stays_in_line(argument[2]):
            return False
        if name == "BRANCH" and not all(_stays_in_line(branch) for branch in argument[1]):
            return False
    return True


def _is_within_line(kind: str, value: Any) -> bool:
    if kind == "LITERAL":
        return bool(value != 0x0A)
    if kind == "RANGE":
        return not value[0] <= 0x0A <= value[1]
    return kind == "CATEGORY" and str(value) in _LINE_CATEGORIES


def _of_sequence(nodes: Iterable[tuple[Any, Any]]) -> frozenset[str]:
    """Return the best set of one sequence: alternatives, the shortest of which is longest."""
    candidates: list[frozenset[str]] = []
    run = ""
    for operation, argument in nodes:
        name = str(operation)
        if name == "LITERAL" and 0x20 <= argument < 0x7F:
            run += chr(argument)
            continue
        candidates.append(frozenset({run}))
        run = ""
        if name == "SUBPATTERN":
            candidates.append(_of_sequence(argument[-1]))
        elif name == "ATOMIC_GROUP":
            candidates.append(_of_sequence(argument))
        elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") and argument[0] >= 1:
            candidates.append(_of_sequence(argument[2]))
        elif name == "BRANCH":
            branches = [_of_sequence(branch) for branch in argument[1]]
            if all(branches):
                candidates.append(frozenset().union(*branches))
    candidates.append(frozenset({run}))
    usable = [found for found in candidates if found and min(map(len, found)) >= MIN_LENGTH]
    return max(usable, key=lambda found: (min(map(len, found)), -len(found)), default=frozenset())

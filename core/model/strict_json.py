"""JSON from a stranger: what Python can't hold, or no tool should get, is kept apart from the rest of the value."""

from __future__ import annotations

import json
import math
import re
from typing import Any

DEPTH_LIMIT = 100
DIGITS_LIMIT = 100

_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}]', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")


class Unreadable(str):
    """Stands in a value where something could not be taken over; the text says why. It is JSON: a string."""


def parse_json(text: str) -> Any:
    """Return the value of a JSON text.

    `NaN`, infinities, numbers of absurd length and what is nested too deeply become `Unreadable`; halves of surrogate
    pairs, which no file and no terminal can hold, become U+FFFD.

    Raises:
        ValueError: it is no JSON.
    """
    pruned = _prune(text)
    deep = f"nested deeper than {DEPTH_LIMIT} levels" if len(pruned) != len(text) else ""
    value = json.loads(
        pruned,
        parse_constant=lambda name: Unreadable(deep or f"{name} is no JSON"),
        parse_int=_parse_int,
        parse_float=_parse_float,
    )
    return _mend(value) if "\\ud" in text or "\\uD" in text else value


def unreadable_in(value: Any) -> str:
    """Return why a value could not be read as a whole; empty where it could."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Unreadable):
            return str(item)
        if isinstance(item, dict):
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item
    return ""


def _parse_int(digits: str) -> int | Unreadable:
    if len(digits) > DIGITS_LIMIT:
        return Unreadable(f"a number of {len(digits)} digits")
    return int(digits)


def _parse_float(digits: str) -> float | Unreadable:
    number = float(digits) if len(digits) <= 2 * DIGITS_LIMIT else math.inf
    return number if math.isfinite(number) else Unreadable(f"{digits[:20]} is out of range")


def _prune(text: str) -> str:
    """Put `NaN` where brackets nest too deeply: a parser would recurse."""
    if text.count("[") + text.count("{") <= DEPTH_LIMIT:
        return text
    kept: list[str] = []
    start, depth = 0, 0
    for token in _TOKEN.finditer(text):
        if token[0] in "[{":
            depth += 1
            if depth == DEPTH_LIMIT + 1:
                kept += (text[start : token.start()], "NaN")
        elif token[0] in "]}":
            if depth == DEPTH_LIMIT + 1:
                start = token.end()
            depth -= 1
    if depth > DEPTH_LIMIT:
        raise ValueError("brackets that are never closed")
    return "".join((*kept, text[start:]))


def _mend(value: Any) -> Any:
    if isinstance(value, Unreadable):
        return value
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_mend(key): _mend(item) for key, item in value.items()}
    return [_mend(item) for item in value] if isinstance(value, list) else value

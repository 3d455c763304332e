"""What lists, maps and tuples hold, and what their methods give; the same names serve all languages."""

from __future__ import annotations

from collections.abc import Sequence

from core.fileops.languages.values import FOREIGN, Value, is_foreign, join

MAKERS = frozenset({"of", "map", "tuple"})
TAKERS = frozenset({"item", "at", "part"})
_ELEMENT = frozenset("get pop popleft setdefault find findLast at shift".split())
_SAME = frozenset("copy filter slice concat reverse sort toSorted toReversed union difference intersection".split())
_PAIRS = frozenset({"items", "entries"})


def make_container(kind: str, values: Sequence[Value]) -> Value:
    """Return a container, or a tuple, of values."""
    if kind == "tuple":
        return ("tuple", *values)
    return ("container", values[0], values[-1])


def take_from(value: Value, kind: str, number: int = 0) -> Value:
    """Return what is inside.

    Args:
        kind: `item` for iteration, `at` for an index, `part` for the n-th of several.
    """
    if value is None:
        return None
    if value[0] == "union":
        return join([take_from(one, kind, number) for one in value[1:] if not is_foreign(one)])
    if value[0] == "container":
        return _known(value[2] if kind == "at" else value[1])
    if value[0] == "tuple":
        if kind == "part":
            return _known(value[1 + number]) if 1 + number < len(value) else None
        return _known(value[1]) if len(set(value[1:])) == 1 else ("union", *value[1:])
    return None


def _known(value: object) -> Value:
    return value if isinstance(value, tuple) else None


def method_of(container: Value, name: str) -> Value:
    """Return what a method of a container is: a function that gives something."""
    assert container is not None
    key, held = _known(container[1]), _known(container[2])
    if name in _ELEMENT:
        return ("gives", held)
    if name in _SAME:
        return ("gives", container)
    if name == "values":
        return ("gives", ("container", held, held))
    if name == "keys":
        return ("gives", ("container", key, key))
    if name in _PAIRS:
        pair = ("tuple", key, held)
        return ("gives", ("container", pair, pair))
    return FOREIGN

"""What an expression of a project stands for, once it is followed through its files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Value = tuple[Any, ...] | None
"""None where it is not known.

`("unit", UNIT)` · `("class", CLASS)` · `("instance", CLASS)` · `("super", CLASS)` · `("scope", FILE, SCOPE)` ·
`("function", FILE, RETURNS, PLACE)` · `("union", VALUE, ...)` one of several · `("container", VALUE, VALUE)` what it
gives when iterated, and when indexed · `("tuple", VALUE, ...)` · `("gives", VALUE)` a function that gives this ·
`("foreign",)` something that is not of the project
"""
FOREIGN: Value = ("foreign",)
FOREIGN_MODULE: Value = ("foreign", "module")


def is_foreign(value: Value) -> bool:
    """Return whether something is surely not of the project."""
    return value is not None and value[0] == "foreign"


def join(values: Iterable[Value]) -> Value:
    """Return one of several values: the only one there is, or a union."""
    different = list(dict.fromkeys(values))
    return different[0] if len(different) == 1 else ("union", *different) if different else None

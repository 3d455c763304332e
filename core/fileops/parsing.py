"""The operations of one call, as a model wrote them: read all together, or refused with all that is wrong, at once.

Nothing is looked at on the disk here.
"""

from __future__ import annotations

import functools
import json
import operator
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from core.contract.errors import ToolFailure
from core.contract.visible import make_visible_line
from core.fileops.operations import KINDS, Operation
from core.fileops.order import Node, order_nodes
from core.tools.parameters import InvalidToolParams

MAX_OPERATIONS = 2_000


class InvalidOperations(InvalidToolParams):
    """Operations that are refused before anything is looked at."""

    def __init__(self, problems: Sequence[str], sound: Mapping[str, Operation]) -> None:
        self.problems = tuple(problems)
        self.sound = sound
        """Those that could be read, by how they are called in messages."""
        count = len(problems)
        lines = "\n".join(problems)
        super().__init__(f"{count} problem{'s' if count > 1 else ''}; nothing was done:\n{lines}")


def parse_operations(raw: Sequence[Mapping[str, Any]]) -> tuple[Operation, ...]:
    """Return the operations, each with an id.

    Raises:
        InvalidOperations: everything that is wrong, a line for each.
    """
    if not raw or len(raw) > MAX_OPERATIONS:
        raise InvalidOperations([f"'operations' must hold 1 to {MAX_OPERATIONS} operations, not {len(raw)}."], {})
    tables = _with_ids(raw)
    operations = _read_together(tables)
    if operations is None or _across(operations) or any(operation.problem() for operation in operations):
        return _read_singly(raw, tables)
    return operations


def _with_ids(raw: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the operations with names for those that have none."""
    taken = {str(table["id"]) for table in raw if table.get("id")}
    tables: list[Mapping[str, Any]] = []
    for index, table in enumerate(raw):
        kind = KINDS.get(str(table.get("type")))
        usual = kind.usual_form(table) if kind is not None else table
        if table.get("id", "") == "":
            name = str(index + 1)
            while name in taken:
                name += "'"
            taken.add(name)
            usual = {**usual, "id": name}
        tables.append(usual)
    return tables


@functools.cache
def _reader() -> TypeAdapter[tuple[Operation, ...]]:
    """Return what reads operations of all types: a thousand in a quarter of the time of one after the other."""
    kind = functools.reduce(operator.or_, KINDS.values())
    return TypeAdapter(tuple[Annotated[kind, Field(discriminator="type")], ...])  # type: ignore[valid-type]


def _read_together(tables: Sequence[Mapping[str, Any]]) -> tuple[Operation, ...] | None:
    """Return the operations; none where anything at all is wrong with them."""
    try:
        return _reader().validate_json(json.dumps(tables, allow_nan=False), strict=True)
    except (ValidationError, ValueError, TypeError, RecursionError):
        return None


def _read_singly(raw: Sequence[Mapping[str, Any]], tables: Sequence[Mapping[str, Any]]) -> tuple[Operation, ...]:
    """As `parse_operations`, with a line for each problem."""
    problems: list[str] = []
    parsed: dict[str, Operation] = {}
    operations: list[Operation] = []
    for index, table in enumerate(raw):
        name = _label(index, table)
        kind = KINDS.get(str(table.get("type")))
        if kind is None:
            problems.append(f"{name}: 'type' must be one of {', '.join(KINDS)}")
            continue
        try:
            operation = kind.parse(tables[index])
        except InvalidToolParams as error:
            problems.append(f"{name}: {error.message}")
            continue
        if operation.problem():
            problems.append(f"{name}: {operation.problem()}")
        else:
            parsed[name] = operation
        operations.append(operation)
    problems += _across(operations, [str(table["id"]) for table in tables])
    if problems:
        raise InvalidOperations(problems, parsed)
    return tuple(operations)


def _label(index: int, operation: Mapping[str, Any]) -> str:
    """Return how an operation is called in messages."""
    name, type = (make_visible_line(str(operation.get(key) or ""))[:60] for key in ("id", "type"))
    return f"operation {index + 1}" + (f" '{name}'" if name else "") + (f" ({type})" if type else "")


def _across(operations: Sequence[Operation], given: Sequence[str] = ()) -> list[str]:
    """Return what is wrong between operations; `given` names those, too, that could not be read."""
    given = given or [operation.id for operation in operations]
    names = set(given)
    counts = Counter(given) if len(names) < len(given) else {}
    problems = [
        f"operation '{_shown(name)}': there are several of that id" for name, count in counts.items() if count > 1
    ]
    for operation in operations:
        for other in operation.depends_on:
            if other == operation.id:
                problems.append(f"operation '{_shown(operation.id)}': it depends on itself")
            elif other not in names:
                problems.append(
                    f"operation '{_shown(operation.id)}': it depends on '{_shown(other)}', which is not there"
                )
    return problems + _circle(operations)


def _shown(name: str) -> str:
    return make_visible_line(name)[:60]


def _circle(operations: Sequence[Operation]) -> list[str]:
    """Return the members of a circle of dependencies; paths can make none, as their order follows the names."""
    if not any(operation.depends_on for operation in operations):
        return []
    known = {operation.id: operation for operation in operations}
    nodes = [
        Node(name, op.changes, (), tuple(other for other in op.depends_on if other in known and other != name))
        for name, op in known.items()
    ]
    try:
        order_nodes(nodes)
    except ToolFailure as failure:
        return [failure.message]
    return []

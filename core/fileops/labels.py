"""What a call of file_operations is called where people see it: a word for what it does, and on what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from core.contract.tool import Kind
from core.fileops.operations import Operation
from core.tools.declarative import CallSort
from core.tools.path_invocation import as_code

_NAMED = 3
"""Subjects that are named; more are counted."""
_MIXED = "Files"
"""For a call that does different things."""

_LOOKING = {
    "read": "Read",
    "search": "Search",
    "glob": "Find",
    "list": "List",
    "analyze": "Analyze",
    "dependencies": "Imports",
    "validate": "Validate",
}
_CHANGING = {
    "edit": "Edit",
    "create": "Create",
    "write": "Write",
    "append": "Append",
    "delete": "Delete",
    "move": "Move",
    "copy": "Copy",
    "rename_symbol": "Rename",
    "transform": "Transform",
}
_PLANNED = {
    "Successfully modified": "Would modify",
    "Successfully overwrote": "Would overwrite",
    "Successfully created and wrote to": "Would create and write to",
    "Created": "Would create",
    "Appended": "Would append",
    "Deleted": "Would delete",
    "Moved": "Would move",
    "Copied": "Would copy",
    "Replaced": "Would replace",
    "Renamed": "Would rename",
}
"""By how it is told what an operation did, how it is told beforehand."""
_KINDS = {"search": Kind.SEARCH, "glob": Kind.SEARCH, "delete": Kind.DELETE, "move": Kind.MOVE}
"""Of a call that does nothing else."""


def word_as_plan(text: str) -> str:
    """Return what is told of an operation that is done as it is told where it is not."""
    for done, planned in _PLANNED.items():
        if text.startswith(f"{done} "):
            return planned + text[len(done) :]
    return text


def sort_of_call(args: Mapping[str, Any]) -> CallSort:
    """Return what a call with these arguments does; they need not be valid."""
    operations = args.get("operations")
    entries = operations if isinstance(operations, list | tuple) else ()
    types = {str(entry.get("type")) for entry in entries if isinstance(entry, Mapping)}
    changes = bool(types - _LOOKING.keys()) or not types
    kind = Kind.EDIT if changes and args.get("dry_run") is not True else Kind.READ
    if len(types) != 1:
        return CallSort(kind, _MIXED)
    (type,) = types
    if changes is (kind is Kind.EDIT):
        kind = _KINDS.get(type, kind)
    return CallSort(kind, _LOOKING.get(type) or _CHANGING.get(type, _MIXED))


def describe_operations(operations: Sequence[Operation]) -> str:
    """Return what operations work on, as one line of Markdown: names where all do the same, else a count of each."""
    counts = Counter(str(operation.type) for operation in operations)
    if len(counts) > 1:
        return ", ".join(f"{count} {type}" for type, count in counts.items())
    subjects = list(dict.fromkeys(operation.subject for operation in operations))
    named = [as_code(subject) for subject in subjects[:_NAMED]]
    return ", ".join([*named, *([f"and {len(subjects) - _NAMED} more"] if len(subjects) > _NAMED else [])])

"""What people read of a call of file_operations: what it does, not what the tool could do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.contract.tool import Kind
from core.fileops.labels import sort_of_call
from core.fileops.operations import KINDS
from core.scheduler.places import only_looks
from tests.core.tools.file_operations_place import Place, edit

READ = {"type": "read", "file_path": "a.py"}
LOOK = {"type": "analyze", "include": ["a.py"]}
SEARCH = {"type": "search", "pattern": "ret`urn"}
RENAME = {"type": "rename_symbol", "file_path": "a.py", "symbol": "a", "new_name": "z"}
DELETE = {"type": "delete", "path": "c.py"}
MOVE = {"type": "move", "source": "a.py", "destination": "z.py"}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.mark.parametrize(
    ("operations", "options", "kind", "verb", "text"),
    [
        ([READ], {}, Kind.READ, "Read", "`a.py`"),
        (
            [{**READ, "file_path": f"{n}.py"} for n in "abcde"],
            {},
            Kind.READ,
            "Read",
            "`a.py`, `b.py`, `c.py`, and 2 more",
        ),
        ([LOOK], {}, Kind.READ, "Analyze", "`a.py`"),
        ([SEARCH], {}, Kind.SEARCH, "Search", "``ret`urn``"),
        ([READ, SEARCH], {}, Kind.READ, "Files", "1 read, 1 search"),
        ([READ, edit("a.py", "1", "2")], {}, Kind.EDIT, "Files", "1 read, 1 edit"),
        ([edit("a.py", "1", "2")], {"dry_run": True}, Kind.READ, "Edit", "`a.py` (dry run)"),
        ([RENAME], {}, Kind.EDIT, "Rename", "`a`"),
        ([DELETE], {}, Kind.DELETE, "Delete", "`c.py`"),
        ([DELETE], {"dry_run": True}, Kind.READ, "Delete", "`c.py` (dry run)"),
        ([MOVE], {}, Kind.MOVE, "Move", "`a.py`"),
    ],
)
def test_a_call_is_named_after_what_it_does(
    place: Place, operations: list[dict[str, Any]], options: dict[str, bool], kind: Kind, verb: str, text: str
) -> None:
    assert place.tool.sort_of({"operations": operations, **options}) == (kind, verb)
    invocation = place.invocation(*operations, **options)
    assert invocation.get_description() == text
    assert only_looks(place.tool, invocation) is kind.is_read_only


def test_every_type_has_a_word(place: Place) -> None:
    for type, operation in KINDS.items():
        sort = sort_of_call({"operations": [{"type": type}]})
        assert sort.verb not in ("", "Files") and sort.kind.is_read_only is not operation.changes


@pytest.mark.parametrize("operations", [None, "read", [], [1], [{"type": ["read"]}], [{"type": "reed"}], [{}]])
def test_what_is_no_valid_call_counts_as_a_change(operations: object) -> None:
    assert sort_of_call({"operations": operations}) == (Kind.EDIT, "Files")

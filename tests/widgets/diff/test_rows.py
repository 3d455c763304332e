"""Layout of the rows, unified and side by side."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.contract.diff import DiffLine
from core.diff.hunks import make_patch
from tests.widgets.diff.host import numbered, three_hunks
from widgets.diff.rows import EndRow, FoldRow, HeadRow, LineRow, NoteRow, PairRow, lay_out, split_lines

LINES = st.lists(st.sampled_from(["a", "b", "", "x y", "\x0c", "é"]), max_size=30).map(
    lambda lines: "".join(f"{line}\n" for line in lines)
)
EVERYTHING = dict.fromkeys(range(40), (1000, 0))


def test_unified_rows_stand_in_the_order_of_the_patch_with_folds_between() -> None:
    patch = three_hunks()
    rows = lay_out(patch, old_lines=split_lines(patch.old_text))
    assert [row.count for row in rows if isinstance(row, FoldRow)] == [6, 33, 33, 7]
    assert [row.hunk for row in rows if isinstance(row, HeadRow)] == [0, 1, 2]
    first = [row.line for row in rows if isinstance(row, LineRow) and row.hunk == 0]
    assert [(line.tag, line.text) for line in first[2:6]] == [
        (" ", "line 9"),
        ("-", "line 10"),
        ("+", "ten"),
        (" ", "line 11"),
    ]
    assert isinstance(rows[-1], EndRow)


def test_side_by_side_pairs_removed_with_added_lines() -> None:
    patch = make_patch("a", "1\n2\n3\n4\n", "1\nzwei\n4\n")
    rows = [row for row in lay_out(patch, split=True) if isinstance(row, PairRow)]
    assert [(row.left and row.left.text, row.right and row.right.text) for row in rows] == [
        ("1", "1"),
        ("2", "zwei"),
        ("3", None),
        ("4", "4"),
    ]


def test_opened_context_stands_beside_its_hunk_with_both_numbers() -> None:
    patch = make_patch("a", numbered(100), numbered(100, {10: "ten\nten and a half", 50: "fifty"}))
    rows = lay_out(patch, old_lines=split_lines(patch.old_text), opened={1: (2, 1)})
    at = next(index for index, row in enumerate(rows) if isinstance(row, FoldRow) and row.gap == 1)
    before, after = rows[at - 1], rows[at + 1]
    assert isinstance(before, LineRow)
    assert isinstance(after, LineRow)
    assert (before.line.text, before.line.old_number, before.line.new_number) == ("line 15", 15, 16)
    assert (after.line.text, after.line.old_number, after.line.new_number) == ("line 46", 46, 47)


def test_remarks_follow_their_line_and_their_hunk() -> None:
    patch = make_patch("a", "1\n2\n", "1\nzwei\n")
    rows = lay_out(patch, comments={(False, 2): "in German?"}, remarks={0: "why"})
    assert [row.text for row in rows if isinstance(row, NoteRow)] == ["why", "in German?"]
    at = next(index for index, row in enumerate(rows) if row == NoteRow("in German?", 0))
    assert isinstance(rows[at - 1], LineRow)


@given(LINES, LINES)
def test_with_everything_opened_each_side_is_its_whole_text(old: str, new: str) -> None:
    patch = make_patch("a", old, new)
    if not patch.hunks:
        return
    rows = lay_out(patch, split=True, old_lines=split_lines(old), opened=EVERYTHING)
    pairs = [row for row in rows if isinstance(row, PairRow)]
    left: list[DiffLine] = [row.left for row in pairs if row.left]
    right: list[DiffLine] = [row.right for row in pairs if row.right]
    assert [line.text for line in left] == split_lines(old)
    assert [line.text for line in right] == split_lines(new)
    assert [line.old_number for line in left] == list(range(1, len(left) + 1))
    assert [line.new_number for line in right] == list(range(1, len(right) + 1))
    assert not any(isinstance(row, FoldRow) for row in rows)


@given(LINES, LINES)
def test_both_layouts_show_every_line_of_every_hunk_once(old: str, new: str) -> None:
    patch = make_patch("a", old, new)
    wanted = sorted(id(line) for hunk in patch.hunks for line in hunk.lines)
    unified = [id(row.line) for row in lay_out(patch) if isinstance(row, LineRow)]
    split = [row for row in lay_out(patch, split=True) if isinstance(row, PairRow)]
    sides = [id(row.left) for row in split if row.left] + [
        id(row.right) for row in split if row.right and row.right is not row.left
    ]
    assert sorted(unified) == wanted
    assert sorted(sides) == wanted

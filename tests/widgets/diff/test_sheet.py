"""Heights and places on the sheet."""

from __future__ import annotations

import pytest
from rich.style import Style

from core.diff.hunks import make_patch
from widgets.diff.painter import Painter
from widgets.diff.proposal import Proposal
from widgets.diff.rows import LineRow, lay_out
from widgets.diff.sheet import CONTEXT_ROWS, Sheet


@pytest.mark.parametrize("split", [False, True])
def test_every_row_is_found_at_each_of_its_heights(split: bool) -> None:
    patch = make_patch("a", "short\n" + "x" * 200 + "\n日本語" * 30 + "\n", "short\n" + "y" * 150 + "\n語" * 40 + "\n")
    sheet = Sheet(lay_out(patch, split=split), 60, wrap=True, split=split)
    places = [sheet.find(y) for y in range(sheet.height)]
    assert places[0] == (0, 0)
    assert places[-1][0] == len(sheet.rows) - 1
    for index in range(len(sheet.rows)):
        parts = [part for row, part in places if row == index]
        assert parts == list(range(sheet.top(index + 1) - sheet.top(index)))
        assert parts


def test_wide_characters_that_do_not_fit_at_the_edge_take_one_more_line() -> None:
    patch = make_patch("a", "", "日" * 40 + "\n")
    row = next(row for row in lay_out(patch) if isinstance(row, LineRow))
    sheet = Sheet((row,), 2 + 2 + 4 + 11, wrap=True, split=False)
    assert sheet.text_width == 11
    assert sheet.height == 8


def test_without_wrapping_every_line_takes_one_row_and_the_widest_is_known() -> None:
    patch = make_patch("a", "", "x" * 300 + "\nyy\n")
    sheet = Sheet(lay_out(patch), 40, wrap=False, split=False)
    assert sheet.height == len(sheet.rows)
    assert sheet.widest == 300


@pytest.mark.parametrize("text", ["abcdefghi " * 100, "日本語日本語日本 " * 100, "é\u200b\tb" * 100])
def test_of_a_long_line_that_stays_the_beginning_is_shown_of_one_that_changes_all(text: str) -> None:
    patch = make_patch("a", f"{text}\nold\n", f"{text}\n{text}\n")
    sheet = Sheet(lay_out(patch), 60, wrap=True, split=False)
    painter = Painter(sheet, Proposal(patch), lambda part: Style())
    painted = {"+": "", "-": "", " ": ""}
    rows = {"+": 0, "-": 0, " ": 0}
    for y in range(sheet.height):
        index, part = sheet.find(y)
        row = sheet.rows[index]
        if isinstance(row, LineRow):
            strip = painter.paint(index, part, hunk=0, cursor=False, width=60)
            painted[row.line.tag] += strip.text[60 - sheet.text_width :].rstrip()
            rows[row.line.tag] += 1
            assert strip.cell_length == 60
    whole = sheet.shown(patch.hunks[0].lines[0]).text
    assert painted["+"].replace(" ", "") == whole.replace(" ", "")
    assert rows[" "] == CONTEXT_ROWS and painted[" "].endswith("\u203a") and len(painted[" "]) < len(whole) // 2

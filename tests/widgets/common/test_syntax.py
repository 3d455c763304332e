"""Colours never change the code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.contract.frame import CellStyle
from core.contract.visible import make_visible
from widgets.common.cell_style import to_rich_style
from widgets.common.syntax import MAX_LINE, MAX_LINES, SYNTAX_ROLES, highlight_lines

LANGUAGES = st.sampled_from(["python", "js", "bash", "diff", "json", "html", "rst", "console", "unknown", "", "c++"])


@given(st.text(max_size=200).map(make_visible), LANGUAGES)
def test_lines_keep_their_characters(code: str, language: str) -> None:
    lines = highlight_lines(code, language)
    assert ["".join(text for text, _ in line) for line in lines] == code.split("\n")
    assert {role for line in lines for _, role in line} <= {"", *SYNTAX_ROLES}


def test_code_has_roles() -> None:
    (line,) = highlight_lines("def f():  # x", "python")
    assert ("def", "syntax-keyword") in line and ("f", "syntax-function") in line
    assert line[-1] == ("# x", "syntax-comment")


@pytest.mark.parametrize("code", ["x = 1\n" * (MAX_LINES + 1), "x" * (MAX_LINE + 1)])
def test_large_code_keeps_its_lines(code: str) -> None:
    assert len(highlight_lines(code, "python")) == code.count("\n") + 1


def test_cells_in_richs_terms() -> None:
    style = to_rich_style(CellStyle(fg="#102030", bg="4", bold=True))
    assert style.bold and style.color is not None and style.color.get_truecolor() == (16, 32, 48)
    assert style.bgcolor is not None and style.bgcolor.number == 4
    assert to_rich_style(CellStyle()).color is None

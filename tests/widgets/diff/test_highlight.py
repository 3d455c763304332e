"""Syntax kinds of lines."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from widgets.diff.highlight import KINDS, MAX_CHARACTERS, MAX_LINE, tint_lines

CODE = 'def f(x):\n    """Doc\n    more."""\n    return 12  # why\n'


def test_kinds_stand_where_the_text_stands() -> None:
    lines = tint_lines("a/b.py", CODE)
    found = {(CODE.split("\n")[row][start:stop], kind) for row, line in enumerate(lines) for start, stop, kind in line}
    assert {("def", "keyword"), ("f", "name"), ("12", "number-literal"), ("# why", "comment")} <= found
    assert ('    more."""', "string") in found


def test_line_breaks_of_all_kinds_and_a_byte_order_mark_keep_the_columns() -> None:
    plain = tint_lines("a.py", CODE)
    assert tint_lines("a.py", CODE.replace("\n", "\r\n")) == plain
    assert tint_lines("a.py", CODE.replace("\n", "\r")) == plain
    marked = tint_lines("a.py", "\ufeff" + CODE)
    assert (1, 4, "keyword") in marked[0]
    assert marked[1:] == plain[1:]


def test_unknown_files_and_texts_over_the_limits_stay_plain() -> None:
    assert tint_lines("noname", CODE) == []
    assert tint_lines("a.py", "x\n" * (MAX_CHARACTERS // 2 + 1)) == []
    assert tint_lines("a.py", "x" * (MAX_LINE + 1)) == []


def test_it_ends_when_it_is_cancelled() -> None:
    assert tint_lines("a.py", CODE, lambda: True) == []


@given(st.text(st.sampled_from("def 'x\"\n\t(#日\x0c\u2028"), max_size=80), st.sampled_from(["a.py", "b.js", "c.md"]))
def test_ranges_ascend_and_lie_within_their_line(text: str, path: str) -> None:
    lines = tint_lines(path, text)
    assert len(lines) == len(text.split("\n"))
    for line, content in zip(lines, text.split("\n"), strict=True):
        at = 0
        for start, stop, kind in line:
            assert at <= start < stop <= len(content)
            assert kind in KINDS
            at = stop

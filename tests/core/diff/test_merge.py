"""Two changes of one text: both are kept, or nothing is guessed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.diff.merge import merge_texts

BASE = "".join(f"{number}\n" for number in range(10))


@pytest.mark.parametrize(
    ("mine", "theirs", "merged"),
    [
        (BASE, BASE, BASE),
        (BASE.replace("1\n", "one\n"), BASE, BASE.replace("1\n", "one\n")),
        (BASE.replace("1\n", "one\n"), BASE.replace("8\n", ""), BASE.replace("1\n", "one\n").replace("8\n", "")),
        (BASE + "end\n", "start\n" + BASE, "start\n" + BASE + "end\n"),
        (BASE.replace("4\n", "four\n"), BASE.replace("4\n", "four\n"), BASE.replace("4\n", "four\n")),
        (BASE.replace("4\n", "four\n"), BASE.replace("4\n", "vier\n"), None),
        (BASE.replace("4\n", "four\n"), BASE.replace("5\n", "fünf\n"), None),
        ("", BASE.replace("5\n", "fünf\n"), None),
        (BASE.replace("1\n", "one\r\n"), BASE.removesuffix("\n"), BASE.replace("1\n", "one\r\n").removesuffix("\n")),
    ],
)
def test_what_comes_of_two_changes(mine: str, theirs: str, merged: str | None) -> None:
    assert merge_texts(BASE, mine, theirs) == merged
    assert merge_texts(BASE, theirs, mine) == merged


TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "\n", "c\r\n"]), max_size=8).map("".join)


@given(TEXTS, TEXTS)
def test_one_change_alone_is_that_change(base: str, changed: str) -> None:
    assert merge_texts(base, changed, base) == changed
    assert merge_texts(base, base, changed) == changed
    assert merge_texts(base, changed, changed) == changed

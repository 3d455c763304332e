"""The text of a dialog in rows."""

from __future__ import annotations

import pytest

from widgets.approval.text_view import _pieces

TEXTS = ("", "  one two three fourth", "a" * 30, "x  y   z " * 9, "Wörter 漢字 und mehr 漢字漢字漢字漢字漢字", " " * 40)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("part", ["plain", "code"])
def test_no_character_is_left_out(text: str, part: str) -> None:
    for width in range(4, 30):
        assert "".join(_pieces(text, "> ", part, width)) == text


def test_words_are_kept_whole_but_in_code() -> None:
    text = "until one of these files changes"
    assert _pieces(text, "", "plain", 14) == ["until one of ", "these files ", "changes"]
    assert _pieces("files changes", "", "plain", 5) == ["files ", "chang", "es"]
    assert _pieces(text, "", "code", 14) == ["until one of t", "hese files cha", "nges"]

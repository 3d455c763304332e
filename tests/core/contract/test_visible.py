"""Foreign text made visible."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.contract.visible import has_hidden, make_visible, make_visible_line, visible_offsets
from tests.widgets.hostile import HOSTILE, is_safe

TEXT = st.text(
    st.one_of(st.characters(), st.sampled_from("a1#⚠❤🙂👩💻\ufe0f\ufe0e\u200d\u202e\x1b\x9b\r\n\t\U000e0041"))
)


def test_emoji_sequences_stay_whole() -> None:
    for text in ("⚠\ufe0f", "1\ufe0f\u20e3", "👩\u200d💻", "❤\ufe0f\u200d🔥", "👍\U0001f3fd\u200d♂\ufe0f"):
        assert make_visible(text) == text
        assert not has_hidden(text)


def test_selectors_and_joiners_elsewhere_are_shown() -> None:
    assert make_visible("a\ufe0f") == "a\\ufe0f"
    assert make_visible("⚠\ufe0f\ufe0f") == "⚠\ufe0f\\ufe0f"
    assert make_visible("a\u200db") == "a\\u200db"
    assert make_visible("👩\u200d ") == "👩\\u200d "
    assert make_visible("a\ufe00\U000e0101") == "a\\ufe00\\U000e0101"


def test_line_ends_count_as_one_and_a_line_has_none() -> None:
    assert make_visible("a\r\nb\rc\td") == "a\nb\u240dc\td"
    assert make_visible_line("a\nb\tc") == "a\u240ab\u2409c"


@given(TEXT)
def test_what_is_visible_holds_nothing_hidden(text: str) -> None:
    shown = make_visible(text)
    assert not has_hidden(shown)
    assert make_visible(shown) == shown
    assert has_hidden(text) == (shown != text.replace("\r\n", "\n"))


def test_hostile_texts_are_safe() -> None:
    for text in HOSTILE:
        assert is_safe(make_visible_line(text))


@given(TEXT)
def test_offsets_say_where_each_character_is_shown(text: str) -> None:
    line = text.replace("\r", "").replace("\n", "")
    offsets = visible_offsets(line)
    shown = make_visible_line(line)
    assert len(offsets) == len(line)
    ends = [*offsets[1:], len(shown)]
    pieces = [shown[start:end] for start, end in zip(offsets, ends, strict=False)]
    assert "".join(pieces) == shown
    assert all(piece == character or len(piece) > 1 or has_hidden(character) or character == "\t"
               for piece, character in zip(pieces, line, strict=True))  # fmt: skip

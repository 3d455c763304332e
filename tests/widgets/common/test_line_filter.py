"""The last guard: it changes nothing that is clean, and lets nothing else through."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.app import App, ComposeResult
from textual.color import Color
from textual.filter import LineFilter
from textual.widgets import Label, Log

from tests.widgets.hostile import HOSTILE, is_safe
from widgets.common.line_filter import ControlFilter

BLACK = Color(0, 0, 0)


@pytest.mark.parametrize("text", ["", "plain", "日本語 ✔ é", "👨\u200d👩\u200d👧 ❤\ufe0f"])
def test_what_is_clean_stays_the_same_object(text: str) -> None:
    segments = [Segment(text, Style(bold=True)), Segment(" ")]
    assert ControlFilter().apply(segments, BLACK) is segments


@given(st.text(max_size=30))
def test_whatever_comes_is_safe_and_as_wide_as_before(text: str) -> None:
    (segment,) = ControlFilter().apply([Segment(text, Style())], BLACK)
    assert is_safe(segment.text)
    assert cell_len(segment.text) == cell_len(text)


def test_tabs_line_feeds_links_and_controls_do_not_pass() -> None:
    segments = [Segment("a\tb\nc"), Segment("x", Style(link="https://evil.example", bold=True)), Segment("y", None, [])]
    filtered = ControlFilter().apply(segments, BLACK)
    assert "\t" not in filtered[0].text and "\n" not in filtered[0].text
    assert filtered[1].style == Style(bold=True)
    assert all(segment.control is None for segment in filtered)


class Guarded(App[None]):
    def get_line_filters(self) -> list[LineFilter]:
        return [*super().get_line_filters(), ControlFilter()]

    def compose(self) -> ComposeResult:
        yield Label("\n".join(HOSTILE), markup=False)
        yield Log()

    def on_mount(self) -> None:
        self.query_one(Log).write_lines(HOSTILE)


@pytest.mark.anyio
async def test_widgets_of_textual_are_guarded() -> None:
    app = Guarded()
    async with app.run_test(size=(80, 60)) as pilot:
        await pilot.pause()
        for strip in app.screen._compositor.render_strips():
            for filter in app.get_line_filters():
                strip = strip.apply_filter(filter, BLACK)
            assert is_safe(strip.text)
            assert all(segment.style is None or segment.style.link is None for segment in strip)

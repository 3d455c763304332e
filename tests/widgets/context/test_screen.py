"""The context view in a host application: rows, bar, keys, and what it asks for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual.app import App

from core.contract.errors import StetError
from widgets.context.measure import stretches
from widgets.context.screen import ContextScreen, ContextWish
from widgets.context.sheet import ContextRow, ContextSheet

pytestmark = pytest.mark.anyio

ROWS = (
    ContextRow(0, "system", "the page", 100),
    ContextRow(1, "you", "fix \x1b[31mit [bold]now[/]", 10),
    ContextRow(2, "result", "a large one", 900),
)


class Host(App[None]):
    """Shows the view and keeps what it asks for."""

    def __init__(self) -> None:
        super().__init__()
        self.sheet = ContextSheet(ROWS, 1_234, 10_000, 8_500)
        self.asked: list[tuple[str, int]] = []
        self.wish: ContextWish | None = None

    def on_mount(self) -> None:
        self.view = ContextScreen(self.load, lambda row: f"text of {row.title}", self.change)
        self.push_screen(self.view, lambda wish: setattr(self, "wish", wish))

    async def load(self) -> ContextSheet:
        return self.sheet

    async def change(self, verb: str, number: int) -> str:
        self.asked.append((verb, number))
        if number == 1:
            raise StetError("Your own words stay.")
        rows = tuple(replace(row, is_dropped=True, tokens=20) if row.number == number else row for row in ROWS)
        self.sheet = replace(self.sheet, rows=rows, last_change=f"item {number} dropped")
        return f"Item {number} is out."

    @property
    def text(self) -> str:
        return "\n".join(strip.text.rstrip() for strip in self.screen._compositor.render_strips())


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (40, 12)])
async def test_it_shows_what_fills_the_window_at_every_size(size: tuple[int, int]) -> None:
    app = Host()
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert "1,234 of 10,000 tokens (12.3" in app.text
        assert "900" in app.text and "a large" in app.text
        assert "\x1b" not in app.text
        if size[0] > 60:
            assert (
                "[bold]now[/]" in app.text
                and "a large one" in app.text
                and "89.1 %" in app.text
                and "▦ result 900" in app.text
            )


async def test_keys_drop_pin_and_bring_back_the_marked_item() -> None:
    app = Host()
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("d")
        assert app.asked == [] and "sent with every request" in app.text
        await pilot.press("j", "d")
        assert "Your own words stay." in app.text
        await pilot.press("end", "d")
        assert app.asked[-1] == ("drop", 2) and "✕ dropped a large one" in app.text
        assert "Item 2 is out." in app.text and "last change: item 2 dropped" in app.text
        assert app.view.rows.marked is not None and app.view.rows.marked.number == 2
        await pilot.press("r", "p", "b")
        assert [verb for verb, _ in app.asked[-3:]] == ["restore", "pin", "back"]


async def test_items_are_read_and_sorted() -> None:
    app = Host()
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("space")
        assert "text of the page" in app.text
        await pilot.press("j")
        assert "text of fix ␛[31mit" in app.text
        await pilot.press("s")
        assert [row.tokens for row in app.view.rows.rows] == [900, 100, 10]
        assert "text of a large one" in app.text, "the text follows the mark"


@pytest.mark.parametrize(("key", "wish"), [("c", "compact"), ("escape", ""), ("q", "")])
async def test_it_ends_with_what_is_wanted_next(key: str, wish: str) -> None:
    app = Host()
    async with app.run_test() as pilot:
        await pilot.press("D")
        assert "not changed yet" in app.text
        await pilot.press(key)
        await pilot.pause()
        assert app.wish == wish


async def test_a_long_context_is_drawn_as_far_as_it_is_seen() -> None:
    app = Host()
    app.sheet = ContextSheet(tuple(ContextRow(n, "you", f"item {n}", 1) for n in range(1, 50_001)), 50_000)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("G")
        assert "item 50000" in app.text
        await pilot.press("pageup", "home")
        assert "item 1" in app.text and "item 50000" not in app.text


def test_the_bar_fills_its_share_and_everything_has_a_cell() -> None:
    cells = dict(stretches({"system": 1, "you": 500, "result": 499}, 2_000, 40))
    assert cells == {"system": 1, "you": 10, "result": 9}
    assert sum(count for _, count in stretches({"system": 1, "you": 1, "tools": 99_998}, 100_000, 10)) == 10
    assert stretches({}, 0, 10) == []

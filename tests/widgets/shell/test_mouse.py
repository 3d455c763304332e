"""The mouse in the shell pane: it selects and scrolls, or goes to the program that asks for it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual.events import MouseDown, MouseMove, MouseScrollUp, MouseUp

from core.contract.frame import WrappedRow
from tests.widgets.shell.host import Lines, ShellHost, frame, row, start

pytestmark = pytest.mark.anyio


async def test_the_wheel_scrolls_or_goes_to_the_program() -> None:
    app = ShellHost()
    async with app.run_test(size=(40, 10)) as pilot:
        await start(app, pilot)
        app.pane.set_scrollback("j1", Lines(50))
        app.pane.show_frame("j1", frame(row("x"), history=50))
        await pilot._post_mouse_events([MouseScrollUp], app.pane.view, button=0)
        assert app.pane.view.back == 3
        app.pane.view.scroll_back(-3)
        app.pane.show_frame("j1", frame(row("x"), alternate=True))
        await pilot._post_mouse_events([MouseScrollUp], app.pane.view, button=0)
        assert app.typed() == b"\x1b[A" * 3
        app.told.clear()
        app.pane.show_frame("j1", frame(row("x"), alternate=True, mouse=True, mouse_sgr=True))
        await pilot.click("TerminalView", offset=(4, 2))
        assert app.typed() == b"\x1b[<0;5;3M\x1b[<0;5;3m"


async def test_the_mouse_selects_and_copies() -> None:
    app = ShellHost()
    async with app.run_test(size=(40, 10)) as pilot:
        await start(app, pilot)
        long = WrappedRow(row("x" * 40))
        app.pane.show_frame("j1", frame(row("first line"), long, row("yy  end"), row("last")))
        view = app.pane.view
        await pilot._post_mouse_events([MouseDown], view, offset=(6, 0), button=1)
        await pilot._post_mouse_events([MouseMove], view, offset=(1, 2), button=1)
        await pilot._post_mouse_events([MouseUp], view, offset=(1, 2), button=1)
        assert app.copied() == ["line\n" + "x" * 40 + "yy"]
        await pilot.click("TerminalView", offset=(7, 0), times=2)
        assert app.copied()[1:] == ["line"]


async def test_a_selection_beyond_the_edge_scrolls() -> None:
    app = ShellHost()
    async with app.run_test(size=(40, 10)) as pilot:
        await start(app, pilot)
        app.pane.set_scrollback("j1", Lines(20))
        app.pane.show_frame("j1", frame(row("first of the screen"), history=20, scrolled=20))
        view = app.pane.view
        await pilot._post_mouse_events([MouseDown], view, offset=(4, 0), button=1)
        await pilot._post_mouse_events([MouseMove], view, offset=(2, -1), button=1)
        while view.first_shown > 0:
            await pilot.pause(0.01)
        view._drift_on()
        assert view.first_shown == 0, "there is nothing before the first line"
        view.scroll_back(3)
        assert view.first_shown == 0
        await pilot._post_mouse_events([MouseUp], view, offset=(2, -1), button=1)
        assert app.copied() == ["d 0\n" + "".join(f"old {number}\n" for number in range(1, 20)) + "first"]
        assert view._drifting is None


async def test_movements_go_to_a_program_that_asks_for_them() -> None:
    app = ShellHost()
    async with app.run_test(size=(40, 10)) as pilot:
        await start(app, pilot)
        view = app.pane.view
        asks = frame(row("x"), alternate=True, mouse=True, mouse_sgr=True, mouse_drag=True)
        app.pane.show_frame("j1", asks)
        await pilot._post_mouse_events([MouseMove], view, offset=(4, 2), button=0)
        assert app.typed() == b""
        await pilot._post_mouse_events([MouseMove], view, offset=(4, 2), button=1)
        assert app.typed() == b"\x1b[<32;5;3M"
        app.told.clear()
        app.pane.show_frame("j1", replace(asks, mouse_motion=True))
        await pilot._post_mouse_events([MouseMove], view, offset=(5, 2), button=0)
        assert app.typed() == b"\x1b[<35;6;3M"
        app.told.clear()
        await pilot._post_mouse_events([MouseDown], view, offset=(5, 2), button=1)
        await pilot._post_mouse_events([MouseMove, MouseUp], view, offset=(7, -1), button=1)
        assert app.typed() == b"\x1b[<0;6;3M\x1b[<32;8;1M\x1b[<0;8;1m", "it hears of the end outside, too"


async def test_an_old_program_hears_of_presses_alone() -> None:
    app = ShellHost()
    async with app.run_test(size=(40, 10)) as pilot:
        await start(app, pilot)
        view = app.pane.view
        app.pane.set_scrollback("j1", Lines(20))
        app.pane.show_frame("j1", frame(row("x"), history=20, scrolled=20, mouse=True, mouse_presses=True))
        await pilot._post_mouse_events([MouseDown], view, offset=(5, 2), button=3, control=True)
        await pilot._post_mouse_events([MouseMove, MouseUp], view, offset=(6, 2), button=3)
        assert app.typed() == b"\x1b[M\x22\x26\x23"
        await pilot._post_mouse_events([MouseScrollUp], view, button=0)
        assert view.back == 3
        assert app.typed() == b"\x1b[M\x22\x26\x23"

"""Links in the shell pane: where they lead is shown and copied; they are never followed."""

from __future__ import annotations

import pytest
from textual.events import MouseMove

from core.contract.frame import CellStyle, Span
from tests.widgets.shell.host import ShellHost, frame, row, start

pytestmark = pytest.mark.anyio

LINK = Span("日本 here", CellStyle(link="https://example.org/[bold]"))


async def test_the_mouse_tells_where_a_text_leads_and_copies_it() -> None:
    app = ShellHost()
    async with app.run_test(size=(40, 10)) as pilot:
        await start(app, pilot)
        view = app.pane.view
        app.pane.show_frame("j1", frame(row("see ", LINK, " and more")))
        await pilot._post_mouse_events([MouseMove], view, offset=(12, 0), button=0)
        assert str(view.tooltip).startswith("https://example.org/[bold]\n")
        await pilot._post_mouse_events([MouseMove], view, offset=(13, 0), button=0)
        assert view.tooltip is None
        for column in (3, 4, 12, 13):
            await pilot.click("TerminalView", offset=(column, 0), control=True)
        assert app.copied() == ["https://example.org/[bold]"] * 2
        app.told.clear()
        app.pane.show_frame("j1", frame(row(LINK), mouse=True, mouse_sgr=True))
        await pilot.click("TerminalView", offset=(1, 0), control=True)
        assert app.copied() == []
        assert app.typed().startswith(b"\x1b[<16;")


async def test_a_key_copies_the_addresses_of_the_lines() -> None:
    app = ShellHost()
    async with app.run_test(size=(90, 10)) as pilot:
        await start(app, pilot)
        other = Span("two", CellStyle(link="http://two/"))
        app.pane.show_frame("j1", frame(row("none"), row(LINK), row(other, LINK), row("last"), columns=90, lines=4))
        await pilot.press("shift+pageup", "g")
        assert "u copy" not in app.pane.view.note
        await pilot.press("u")
        assert app.copied() == []
        await pilot.press("down")
        assert "u copy https://example.org/[bold]" in app.pane.view.note
        await pilot.press("v", "down")
        assert "u copy 2 addresses" in app.pane.view.note
        await pilot.press("u")
        assert app.copied() == ["https://example.org/[bold]\nhttp://two/"]
        assert app.pane.view.reader is None

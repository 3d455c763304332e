"""Calls that only look: one line stands for several, and opens to them."""

from __future__ import annotations

import pytest

from core.contract.tool import CallState, Kind
from tests.widgets.transcript.host import Host, add_answer, lines, settle
from widgets.transcript.block import BlockId
from widgets.transcript.view import TranscriptView

pytestmark = pytest.mark.anyio
SIZE = (70, 20)


def read(view: TranscriptView, *names: str, kind: Kind = Kind.READ) -> list[BlockId]:
    tools = [view.add_tool("read", kind, name) for name in names]
    for tool in tools:
        view.update_tool(tool, CallState.SUCCEEDED, display="its text", duration=0.01)
    return tools


def shown(view: TranscriptView) -> list[str]:
    return [" ".join(line.split()) for line in lines(view) if line.strip()]


async def test_from_three_on_one_line_stands_for_them_and_opens_and_closes() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        view = app.view
        view.add_user("look")
        read(view, "a.py", "b.py")
        await settle(pilot)
        assert shown(view)[1:] == ["✔ Read a.py done ▸", "✔ Read b.py done ▸"]
        read(view, "c.py")
        read(view, "def", "class", kind=Kind.SEARCH)
        add_answer(view, "Seen.")
        await settle(pilot)
        closed = ["✔ Read 3 files, 2 searches a.py, b.py, c.py, def, class done ▸", "Seen."]
        assert shown(view)[1:] == closed
        assert lines(view)[1:4:2] == ["", ""]  # one empty row before it, and one after it
        view.action_cursor_previous()
        view.action_cursor_previous()
        view.action_toggle_block()
        await settle(pilot)
        assert shown(view)[1].endswith("done ▾")
        assert [line.split()[2] for line in shown(view)[2:5]] == ["a.py", "b.py", "c.py"]
        view.action_toggle_block()
        await settle(pilot)
        assert [line.removeprefix("▌") for line in shown(view)[1:]] == closed
        view.action_cursor_previous()
        assert view.cursor == 0  # what is hidden is passed over


async def test_what_runs_failed_or_waits_shows_by_itself() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        view = app.view
        first, *_ = read(view, "a", "b", "c")
        failed = view.add_tool("read", Kind.READ, "gone")
        running = view.add_tool("read", Kind.READ, "large")
        view.update_tool(failed, CallState.FAILED, error="no such file")
        view.update_tool(running, CallState.EXECUTING)
        await settle(pilot)
        assert [line.split()[0] for line in shown(view)[:3]] == ["✔", "✖", "│"]
        assert "gone" in shown(view)[1] and "large" in shown(view)[3]
        view.update_tool(running, CallState.SUCCEEDED)
        await settle(pilot)
        assert shown(view)[0].startswith("✔ Read 4 files a, b, c, large")
        assert len(shown(view)) == 3
        assert view.text_of(first) == "Read a\nits text"


async def test_what_comes_between_ends_a_group_and_so_does_another_kind_of_call() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        view = app.view
        read(view, "a", "b", "c")
        read(view, "x.py", kind=Kind.EDIT)
        read(view, "d", "e")
        add_answer(view, "Well.")
        read(view, "f")
        await settle(pilot)
        assert [line.split(" done")[0] for line in shown(view)] == [
            "✔ Read 3 files a, b, c",
            "✔ Edit x.py",
            "✔ Read d",
            "✔ Read e",
            "Well.",
            "✔ Read f",
        ]


async def test_a_search_opens_the_line_for_what_it_found_in_a_call() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        view = app.view
        tools = read(view, "a", "b", "c")
        view.update_tool(tools[1], display="the needle")
        await settle(pilot)
        assert view.find("needle") == 1
        assert view.find_step(1)
        await settle(pilot)
        assert "│ the needle" in shown(view)


async def test_opening_all_calls_opens_groups_and_folding_folds_them() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        view = app.view
        read(view, "a", "b", "c")
        view.toggle_all_tools()
        await settle(pilot)
        assert shown(view).count("│ its text") == 3
        view.toggle_all_tools()
        await settle(pilot)
        assert len(shown(view)) == 1


async def test_tools_that_are_always_open_are_not_grouped_nor_is_anything_where_it_is_not_wanted() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        view = app.view
        for name in "abc":
            tool = view.add_tool("read", Kind.READ, name, "always")
            view.update_tool(tool, CallState.SUCCEEDED, display="its text")
        await settle(pilot)
        assert shown(view).count("│ its text") == 3
        view.clear()
        view.groups = False
        read(view, "a", "b", "c")
        await settle(pilot)
        assert len(shown(view)) == 3


async def test_a_command_that_did_not_end_well_is_not_marked_as_done() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        view = app.view
        tool = view.add_tool("run", Kind.EXECUTE, "make")
        view.update_tool(tool, CallState.SUCCEEDED, display="out", summary="exit 2", ended_badly=True)
        add_answer(view, "It failed.")
        await settle(pilot)
        assert shown(view)[0] == "! Run make exit 2 · ended ▸"
        view.action_previous_error()
        assert view.cursor == tool


async def test_what_is_hidden_leaves_no_trace_in_what_is_selected_and_is_not_counted_as_new() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        view = app.view
        add_answer(view, "Before.")
        read(view, "a", "b", "c", "d")
        add_answer(view, "After.")
        await settle(pilot)
        await pilot.mouse_down(view, offset=(3, 0))
        await pilot.hover(view, offset=(9, 4))
        await pilot.mouse_up(view, offset=(9, 4))
        assert app.screen.get_selected_text() == "Before.\n\nRead 4 files a, b, c, d done ▸\n\nAfter."
        app.screen.clear_selection()
        add_answer(view, "line\n\n" * 40)
        await settle(pilot)
        view.action_scroll_home()
        await settle(pilot)
        read(view, "e")
        await settle(pilot)
        assert "↓ 1 new" in "\n".join(lines(view))

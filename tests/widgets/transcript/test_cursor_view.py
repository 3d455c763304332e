"""What people do in the transcript: open, walk, select, copy, search."""

from __future__ import annotations

import pytest

from core.contract.display import AnsiOutput
from core.contract.frame import Span
from core.contract.tool import CallState, Kind
from tests.widgets.transcript.host import Host, add_answer, fill, lines, settle

pytestmark = pytest.mark.anyio
SIZE = (60, 20)


async def test_a_tool_line_opens_with_a_click_and_with_the_cursor() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        view = app.view
        view.add_user("run it")
        tool = view.add_tool("run", Kind.EXECUTE, "make")
        rows = tuple((Span(f"out {number}"),) for number in range(3))
        view.update_tool(tool, CallState.SUCCEEDED, display=AnsiOutput(rows), summary="exit 0")
        await settle(pilot)
        assert lines(view)[2:4] == [" ✔ Run make  exit 0 · done ▸", ""]
        await pilot.click(view, offset=(5, 2))
        await settle(pilot)
        assert lines(view)[2:6] == [" ✔ Run make  exit 0 · done ▾", "   │ out 0", "   │ out 1", "   │ out 2"]
        view.action_cursor_previous()
        view.action_toggle_block()
        await settle(pilot)
        assert lines(view)[2:4] == ["▌✔ Run make  exit 0 · done ▸", ""]
        view.toggle_all_tools()
        await settle(pilot)
        assert lines(view)[3].endswith("out 0")
        view.toggle_all_tools()
        await settle(pilot)
        assert lines(view)[3] == ""


async def test_opening_a_block_leaves_what_is_above_it() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        view = app.view
        fill(view, 30)
        tool = view.add_tool("run", Kind.EXECUTE, "make")
        view.update_tool(tool, CallState.SUCCEEDED, display=AnsiOutput(((Span("x"),),) * 100))
        await settle(pilot)
        before = lines(view)
        view.toggle(tool)
        await settle(pilot)
        assert lines(view)[:-1] == before[:-1]
        assert not view.window.following


async def test_the_cursor_walks_over_blocks_turns_edits_and_errors() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        view = app.view
        fill(view, 30)
        edit = view.add_tool("replace", Kind.EDIT, "a.py")
        view.update_tool(edit, CallState.SUCCEEDED)
        failed = view.add_tool("run", Kind.EXECUTE, "false")
        view.update_tool(failed, CallState.FAILED, error="no")
        add_answer(view, "so it is")
        await settle(pilot)
        view.action_cursor_previous()
        assert view.cursor == failed + 1
        view.action_previous_error()
        assert view.cursor == failed
        view.action_previous_edit()
        assert view.cursor == edit
        view.action_previous_turn()
        view.action_previous_turn()
        await settle(pilot)
        assert any(line.startswith("▌❯ question 24") for line in lines(view))
        view.action_next_turn()
        view.action_copy_block()
        await pilot.pause(0)
        assert app.copied == [("user", "question 27")]


async def test_a_turn_is_copied_with_a_line_for_each_call_and_calls_are_walked() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        view = app.view
        view.add_user("first")
        thought = view.start_thought()
        view.append_thought(thought, "hm")
        view.finish_thought(thought)
        call = view.add_tool("run", Kind.EXECUTE, "make")
        view.update_tool(call, CallState.SUCCEEDED, display="a lot of output")
        view.add_user("and this", steering=True)
        add_answer(view, "*Done.*")
        view.add_user("second")
        last = view.add_tool("read", Kind.READ, "a.py")
        view.update_tool(last, CallState.SUCCEEDED)
        await settle(pilot)
        view.action_copy_turn()
        view.action_previous_call()
        assert view.cursor == last
        view.action_previous_call()
        assert view.cursor == call
        view.action_copy_turn()
        view.action_next_call()
        assert view.cursor == last
        await pilot.pause(0)
        assert app.copied == [("turn", "second\n\nRead a.py"), ("turn", "first\n\nRun make\n\nand this\n\n*Done.*")]


async def test_code_alone_is_copied() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        add_answer(app.view, "Try:\n\n```sh\nmake test\n```\n")
        add_answer(app.view, "No code.")
        app.view.action_copy_code()
        await pilot.pause(0)
        assert app.copied == [("code", "make test")]


async def test_the_mouse_selects_over_blocks_and_the_copy_is_clean() -> None:
    app = Host()
    async with app.run_test(size=(40, 20)) as pilot:
        view = app.view
        view.add_user("the question")
        add_answer(view, "An answer that is so long that it takes more than one row of the window.\n\n- a\n- b")
        await settle(pilot)
        await pilot.mouse_down(view, offset=(3, 0))
        await pilot.hover(view, offset=(30, 3))
        await pilot.mouse_up(view, offset=(30, 3))
        await settle(pilot)
        selected = app.screen.get_selected_text()
        assert selected is not None
        assert selected.startswith("the question\n\nAn answer that is so long that it takes ")
        assert "\n" not in selected.split("\n\n")[1]
        styles = {segment.style for segment in view.render_line(0) if segment.text.strip() == "the question"}
        app.screen.clear_selection()
        await settle(pilot)
        assert styles.isdisjoint({segment.style for segment in view.render_line(0)})


async def test_a_selection_stays_on_its_words_while_blocks_above_grow() -> None:
    app = Host()
    async with app.run_test(size=(40, 20)) as pilot:
        view = app.view
        tool = view.add_tool("run", Kind.EXECUTE, "make")
        view.update_tool(tool, CallState.SUCCEEDED, display=AnsiOutput(((Span("x"),),) * 3))
        add_answer(view, "chosen words")
        await settle(pilot)
        await pilot.mouse_down(view, offset=(3, 2))
        await pilot.hover(view, offset=(8, 2))
        await pilot.mouse_up(view, offset=(8, 2))
        assert app.screen.get_selected_text() == "chosen"
        view.toggle(tool)
        await settle(pilot)
        assert app.screen.get_selected_text() == "chosen"


async def test_selecting_everything_gives_everything_in_order() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        fill(app.view, 300)
        await settle(pilot)
        app.view.text_select_all()
        text = app.screen.get_selected_text() or ""
        places = [text.index(f"question {number}") for number in range(0, 300, 3)]
        assert places == sorted(places)
        assert "Read src/file_298.py" in text


async def test_search_counts_marks_steps_and_opens_what_is_folded() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        view = app.view
        tool = view.add_tool("run", Kind.EXECUTE, "make")
        view.update_tool(tool, CallState.SUCCEEDED, display=AnsiOutput(((Span("the Needle"),),)))
        fill(view, 200)
        add_answer(view, "a needle here and a needle there")
        await settle(pilot)
        assert view.find("needle") == 3
        assert view.find_step(1)
        await settle(pilot)
        assert any("a needle here" in line for line in lines(view))
        assert view.find_step(1)
        await settle(pilot)
        assert any("the Needle" in line for line in lines(view))
        row = next(y for y, line in enumerate(lines(view)) if "Needle" in line)
        marked = [segment.style for segment in view.render_line(row) if segment.text == "Needle"]
        assert marked and marked[0] is not None and marked[0].bgcolor is not None
        assert view.find_step(-1)
        await settle(pilot)
        assert any("a needle here" in line for line in lines(view))
        assert view.find("nowhere") == 0
        assert not view.find_step(1)

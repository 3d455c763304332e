"""The widget: drawing costs what is visible, the end is followed, the place stays."""

from __future__ import annotations

import pytest
from textual import events
from textual.pilot import Pilot

from core.contract.tool import CallState, Kind
from tests.widgets.transcript.host import Clock, Host, add_answer, fill, lines, settle
from widgets.transcript.view import TranscriptView

pytestmark = pytest.mark.anyio
SIZE = (60, 20)


async def press(pilot: Pilot[None], *keys: str) -> None:
    await pilot.press(*keys)
    await settle(pilot)


async def test_appending_paints_as_many_strips_at_10_000_blocks_as_at_100() -> None:
    painted = []
    for count in (100, 10_000):
        app = Host()
        async with app.run_test(size=SIZE) as pilot:
            fill(app.view, count)
            await settle(pilot)
            before = app.view.painted
            fill(app.view, 3)
            await settle(pilot)
            assert lines(app.view)[-2].strip() == "• one"
            painted.append(app.view.painted - before)
    assert painted[0] == painted[1] <= 20


async def test_10_000_blocks_paint_one_window() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        fill(app.view, 10_000)
        await settle(pilot)
        assert app.view.painted <= 2 * SIZE[1]
        assert app.view.window.layouts.row_count < 100


async def test_many_deltas_are_one_drawing() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        answer = app.view.start_answer()
        await settle(pilot)
        before = app.view.painted
        for number in range(500):
            app.view.append_answer(answer, f"word{number} ")
        await settle(pilot)
        assert app.view.painted - before <= SIZE[1]
        assert "word499" in lines(app.view)[app.view.size.height - 1] + "".join(lines(app.view))


async def test_streaming_paints_only_rows_that_changed() -> None:
    app = Host()
    async with app.run_test(size=(60, 40)) as pilot:
        answer = app.view.start_answer()
        app.view.append_answer(answer, "".join(f"paragraph {number}\n\n" for number in range(10)) + "the l")
        await settle(pilot)
        before = app.view.painted
        app.view.append_answer(answer, "ast")
        await settle(pilot)
        assert app.view.painted - before == 1


async def test_what_streams_looks_in_the_end_as_what_came_at_once() -> None:
    text = "# A\n\n- one **b**\n- two\n\n```python\nx = 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    app = Host()
    async with app.run_test(size=(60, 60)) as pilot:
        add_answer(app.view, text)
        await settle(pilot)
        at_once = lines(app.view)
        app.view.clear()
        answer = app.view.start_answer()
        for character in text:
            app.view.append_answer(answer, character)
            if character in "*`|\n":
                await settle(pilot)
        app.view.finish_answer(answer)
        await settle(pilot)
        assert lines(app.view) == at_once


async def test_the_end_is_followed_until_the_user_scrolls_and_again_when_told() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        view = app.view
        fill(view, 60)
        await settle(pilot)
        assert lines(view)[-1].endswith("• two")
        view.focus()
        await press(pilot, "pageup")
        assert not view.window.following
        shown = lines(view)
        add_answer(view, "one more")
        add_answer(view, "and one")
        await settle(pilot)
        assert lines(view)[:-1] == shown[:-1]
        assert lines(view)[-1].endswith("↓ 2 new")
        await press(pilot, "end")
        assert lines(view)[-1] == "   and one"
        assert view.window.following
        add_answer(view, "the last")
        await settle(pilot)
        assert lines(view)[-1] == "   the last"


async def test_the_wheel_and_home_move_and_reaching_the_end_follows_again() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        view = app.view
        fill(view, 60)
        await settle(pilot)
        end = lines(view)
        await pilot._post_mouse_events([events.MouseScrollUp], view)
        await settle(pilot)
        assert not view.window.following and lines(view) != end
        view.focus()
        await press(pilot, "home")
        assert lines(view)[0].strip() == "❯ question 0"
        await press(pilot, *["pagedown"] * 12)
        assert view.window.following and lines(view) == end


async def test_a_click_on_the_pill_goes_to_the_end() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        view = app.view
        fill(view, 60)
        await settle(pilot)
        view.focus()
        await press(pilot, "home")
        add_answer(view, "new")
        await settle(pilot)
        column = lines(view)[-1].index("↓")
        await pilot.click(view, offset=(column, view.size.height - 1))
        await settle(pilot)
        assert lines(view)[-1] == "   new"


async def test_a_prompt_of_the_user_brings_the_end_back() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        fill(app.view, 60)
        await settle(pilot)
        app.view.focus()
        await press(pilot, "home")
        app.view.add_user("and now")
        await settle(pilot)
        assert lines(app.view)[-1] == " ❯ and now"


async def test_a_resize_wraps_what_is_in_view_and_keeps_the_place() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        view = app.view
        for number in range(300):
            add_answer(view, f"answer {number} " + "with many words " * 8)
        await settle(pilot)
        view.focus()
        await press(pilot, "pageup", "pageup")
        first = next(line for line in lines(view) if "answer" in line).split()[1]
        before = view.painted
        await pilot.resize_terminal(40, 20)
        await settle(pilot)
        assert view.painted - before <= 2 * 20
        assert all(len(line) <= 40 for line in lines(view))
        assert f"answer {first} " in " ".join(line.strip() for line in lines(view)) + " "
        await press(pilot, "end")
        assert lines(view)[-1].strip().endswith("words")


@pytest.mark.parametrize("size", [(1, 1), (5, 3), (20, 5)])
async def test_a_tiny_window_is_drawn(size: tuple[int, int]) -> None:
    app = Host()
    async with app.run_test(size=size) as pilot:
        fill(app.view, 30)
        add_answer(
            app.view, "| a | b | c |\n|---|---|---|\n| 1 | 2 | 3 |\n\n```py\nlong = 'line of code'\n```\n\n> - 日本\n"
        )
        await settle(pilot)
        await pilot.resize_terminal(60, 20)
        await settle(pilot)
        assert any("日本" in line for line in lines(app.view))


async def test_a_theme_gives_the_same_text_in_its_own_colours() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        fill(app.view, 30)
        await settle(pilot)
        dark = [app.view.render_line(y) for y in range(10)]
        app.theme = "textual-light"
        await settle(pilot)
        light = [app.view.render_line(y) for y in range(10)]
        assert [strip.text for strip in light] == [strip.text for strip in dark]
        assert [list(strip) for strip in light] != [list(strip) for strip in dark]


async def test_the_spinner_runs_only_while_a_call_runs_and_someone_looks() -> None:
    clock = Clock()
    app = Host(clock)
    async with app.run_test(size=SIZE) as pilot:
        view = app.view
        app.animation_level = "full"
        assert not view.is_animated
        tool = view.add_tool("run", Kind.EXECUTE, "make")
        view.update_tool(tool, CallState.EXECUTING)
        await settle(pilot)
        assert view.is_animated
        app.app_focus = False
        await pilot.pause(0)
        assert not view.is_animated
        app.app_focus = True
        await pilot.pause(0)
        assert view.is_animated
        view.update_tool(tool, CallState.SUCCEEDED, duration=1.0)
        clock.now += 1
        await settle(pilot)
        assert not view.is_animated


async def test_reduced_motion_has_no_spinner() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        app.animation_level = "none"
        tool = app.view.add_tool("run", Kind.EXECUTE, "make")
        app.view.update_tool(tool, CallState.EXECUTING)
        await settle(pilot)
        assert not app.view.is_animated
        assert any("running" in line for line in lines(app.view))


async def test_ids_of_cleared_blocks_name_nothing() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        view = app.view
        old = view.start_answer()
        view.clear()
        new = view.start_answer()
        view.append_answer(old, "lost")
        view.append_answer(new, "kept")
        view.toggle(old)
        await settle(pilot)
        assert (view.text_of(old), view.text_of(new)) == ("", "kept")
        assert "kept" in lines(view)[0]


async def test_blocks_that_came_before_the_first_paint_are_shown() -> None:
    app = Host()
    fill(app.view, 9)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        assert any("question 6" in line for line in lines(app.view))


@pytest.mark.parametrize("scrolled", [False, True])
async def test_a_view_takes_over_what_was_made_beside_it_and_what_is_in_view_stays(scrolled: bool) -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        for number in range(40):  # the end of what comes then
            add_answer(app.view, f"answer {960 + number}")
        app.view.add_tool("run_shell_command", Kind.EXECUTE, "make")
        app.view.find("answer")
        await settle(pilot)
        if scrolled:
            app.view.action_page_up()
            app.view.set_cursor(30)
        await settle(pilot)
        before = [line.strip(" ▌") for line in lines(app.view)]
        whole = TranscriptView(clock=Clock())
        for number in range(1_000):
            add_answer(whole, f"answer {number}")
        running = whole.add_tool("run_shell_command", Kind.EXECUTE, "make")
        app.view.take_over(whole)
        await settle(pilot)
        after = [line.strip(" ▌") for line in lines(app.view)]
        if scrolled:
            assert after == before
        else:
            assert "answer 999" in after and "make" in after[-1]
        assert app.view.cursor is None
        app.view.update_tool(running, CallState.SUCCEEDED, summary="12 files")  # ids of the other view hold
        app.view.follow()
        await settle(pilot)
        assert "12 files" in lines(app.view)[-1]
        assert app.view.find("answer 7") == 111


async def test_what_still_runs_in_a_view_that_is_taken_over_moves() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        whole = TranscriptView(clock=app.view._clock)
        call = whole.add_tool("run_shell_command", Kind.EXECUTE, "make")
        whole.update_tool(call, CallState.EXECUTING)
        app.view.take_over(whole)
        await settle(pilot)
        assert app.view.is_animated

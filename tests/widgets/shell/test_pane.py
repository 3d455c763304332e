"""The shell pane in a small host: what it draws, how little it draws, and what it tells."""

from __future__ import annotations

import pytest
from rich.color import Color
from textual.events import Paste
from textual.geometry import Region

from core.contract.events import JobState
from core.contract.frame import CellStyle, Span
from tests.widgets.hostile import HOSTILE, is_safe
from tests.widgets.shell.host import Lines, ShellHost, frame, row, start
from widgets.shell.messages import JobKillRequested, JobResized, JobShown, LeaveRequested

pytestmark = pytest.mark.anyio


async def test_a_frame_is_drawn_with_its_styles() -> None:
    app = ShellHost()
    async with app.run_test(size=(40, 10)) as pilot:
        await start(app, pilot, focus=False)
        red = Span("red", CellStyle(fg="1", bold=True))
        app.pane.show_frame("j1", frame(row("plain ", red, Span("true", CellStyle(bg="#010203"))), row("世界 wide")))
        await pilot.pause()
        lines = app.screen_lines()
        assert lines[1].rstrip() == "plain redtrue"
        assert lines[2].rstrip() == "世界 wide"
        assert "make test" in lines[0]
        strip = app.pane.view.render_line(0)
        styles = {segment.text: segment.style for segment in strip}
        red_style, true_style = styles["red"], styles["true"]
        assert red_style is not None and true_style is not None
        assert red_style.bold
        assert red_style.color == Color.from_ansi(1)
        assert true_style.bgcolor == Color.parse("#010203")
        assert strip.cell_length == 40


async def test_only_lines_that_changed_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    app = ShellHost()
    async with app.run_test(size=(40, 10)) as pilot:
        await start(app, pilot)
        rows = [row(f"line {number}") for number in range(6)]
        app.pane.show_frame("j1", frame(*rows))
        await pilot.pause()
        drawn: list[Region] = []
        monkeypatch.setattr(app.pane.view, "refresh", lambda *regions, **options: drawn.extend(regions))
        app.pane.show_frame("j1", frame(*rows))
        assert drawn == []
        app.pane.show_frame("j1", frame(rows[0], row("new"), *rows[2:]))
        assert [region.y for region in drawn] == [1]
        drawn.clear()
        app.pane.show_frame("j1", frame(rows[0], row("new"), *rows[2:], cursor_line=3))
        assert sorted(region.y for region in drawn if region.y in (3, 6)) == [3, 6]


async def test_every_key_goes_to_the_program_but_one() -> None:
    app = ShellHost()
    async with app.run_test(size=(40, 10)) as pilot:
        await start(app, pilot)
        app.pane.show_frame("j1", frame(row("$ ")))
        await pilot.press("l", "s", "enter", "tab", "escape", "up", "ctrl+c", "f1")
        assert app.typed() == b"ls\r\t\x1b\x1b[A\x03\x1bOP"
        assert not app.of(LeaveRequested)
        app.pane.show_frame("j1", frame(row("$ "), application_cursor=True))
        app.told.clear()
        await pilot.press("up", "ctrl+right_square_bracket")
        assert app.typed() == b"\x1bOA"
        assert len(app.of(LeaveRequested)) == 1


async def test_a_paste_is_bracketed_where_the_program_asks() -> None:
    app = ShellHost()
    async with app.run_test(size=(40, 10)) as pilot:
        await start(app, pilot)
        app.pane.show_frame("j1", frame(row("$ "), bracketed_paste=True))
        app.pane.view.post_message(Paste("a\nb\x1b[201~"))
        await pilot.pause()
        assert app.typed() == b"\x1b[200~a\rb[201~\x1b[201~"


async def test_the_size_is_told_for_the_job_that_is_shown() -> None:
    app = ShellHost()
    async with app.run_test(size=(40, 10)) as pilot:
        await start(app, pilot)
        await pilot.pause(0.1)
        told = app.of(JobResized)[-1]
        assert isinstance(told, JobResized)
        assert (told.job_id, told.columns, told.lines) == ("j1", 40, 9)
        app.told.clear()
        for width in range(41, 61):
            await pilot.resize_terminal(width, 20)
        while not any(isinstance(m, JobResized) and m.columns == 60 for m in app.told):
            await pilot.pause(0.01)
        told = app.of(JobResized)[-1]
        assert isinstance(told, JobResized)
        assert (told.columns, told.lines) == (60, 19)


async def test_tabs_states_and_ends() -> None:
    app = ShellHost()
    async with app.run_test(size=(80, 10)) as pilot:
        await start(app, pilot, focus=False)
        app.pane.add_job("shell", "bash", is_shell=True, show=False)
        app.pane.set_state("j1", JobState.WAITING)
        await pilot.pause()
        assert "make test ?" in app.screen_lines()[0]
        assert "waiting for input" in app.screen_lines()[0]
        app.pane.end_job("j1", 2)
        await pilot.pause()
        assert "✖" in app.screen_lines()[0]
        assert "exit 2" in app.screen_lines()[0]
        app.pane.select("shell")
        await pilot.pause()
        assert app.pane.active == "shell"
        assert "exit 2" not in app.screen_lines()[0]
        app.pane.kill_active()
        await pilot.pause()
        killed = app.of(JobKillRequested)[0]
        assert isinstance(killed, JobKillRequested)
        assert killed.job_id == "shell"
        app.pane.select_next()
        assert app.pane.active == "j1"
        await pilot.click("JobTabs", offset=(22, 0))
        assert app.pane.active == "shell"
        app.pane.add_job("j3", "a third one with a long name", show=False)
        app.pane.add_job("j4", "a fourth one with a long name")
        await pilot.pause()
        assert "1 make test ✖  2 bash  3 a third one w… ●  4 a fourth one… ● " in app.screen_lines()[0]
        more = [f"j{number}" for number in range(5, 12)]
        for each in more:
            app.pane.add_job(each, f"job {each} of many", show=each == "j11")
        await pilot.pause()
        assert " 11 job j11… ● +" in app.screen_lines()[0], "a tab keeps its number"
        assert "make test" not in app.screen_lines()[0]
        for each in (*more, "j4", "j3"):
            app.pane.remove_job(each)
        app.pane.select("shell")
        app.pane.remove_job("shell")
        assert app.pane.active == "j1"
        app.pane.remove_job("j1")
        await pilot.pause()
        assert app.pane.job_ids == ()


async def test_a_password_prompt_says_so() -> None:
    app = ShellHost()
    async with app.run_test(size=(80, 10)) as pilot:
        await start(app, pilot)
        app.pane.show_frame("j1", frame(row("Password: "), hides_input=True))
        await pilot.press("s", "e", "c")
        lines = app.screen_lines()
        assert "what you type is hidden" in lines[0]
        assert not any("sec" in line for line in lines)
        assert "•••" in lines[2]
        await pilot.press("backspace")
        assert "•••" not in app.screen_lines()[2]
        app.pane.view.post_message(Paste("cret"))
        await pilot.pause()
        assert "••••••" in app.screen_lines()[2]
        app.pane.show_frame("j1", frame(row("Password: "), row("$ ")))
        await pilot.pause()
        assert not any("•" in line for line in app.screen_lines())


async def test_a_new_job_does_not_take_the_terminal_away_from_one_who_types() -> None:
    app = ShellHost()
    async with app.run_test(size=(40, 10)) as pilot:
        await start(app, pilot)
        app.pane.add_job("j2", "other")
        assert app.pane.active == "j1"
        app.pane.end_job("j1", 0)
        app.pane.add_job("j3", "third")
        assert app.pane.active == "j3"
        await pilot.pause()


async def test_an_ended_job_takes_no_keys_and_enter_leaves() -> None:
    app = ShellHost()
    async with app.run_test(size=(40, 10)) as pilot:
        await start(app, pilot)
        app.pane.end_job("j1", 0)
        await pilot.press("x", "enter")
        assert app.typed() == b""
        assert len(app.of(LeaveRequested)) == 1


async def test_scrolling_back_and_following_again() -> None:
    app = ShellHost()
    async with app.run_test(size=(60, 10)) as pilot:
        await start(app, pilot)
        history = Lines(50)
        app.pane.set_scrollback("j1", history)
        app.pane.show_frame("j1", frame(*[row(f"now {n}") for n in range(9)], history=50))
        app.pane.view.scroll_back(8)
        await pilot.pause()
        assert app.screen_lines()[1].rstrip() == "old 42"
        assert "8 lines back" in app.screen_lines()[0]
        history.all.append(row("old 50"))
        app.pane.show_frame("j1", frame(*[row(f"now {n}") for n in range(1, 10)], history=51))
        await pilot.pause()
        assert app.screen_lines()[1].rstrip() == "old 42"
        await pilot.press("a")
        assert app.typed() == b"a"
        assert app.screen_lines()[1].rstrip() == "now 1"
        app.pane.view.scroll_back(10_000)
        await pilot.pause()
        assert app.screen_lines()[1].rstrip() == "old 0"


async def test_reading_back_searches_and_copies() -> None:
    app = ShellHost()
    async with app.run_test(size=(60, 10)) as pilot:
        await start(app, pilot)
        app.pane.set_scrollback("j1", Lines(50))
        app.pane.show_frame("j1", frame(*[row(f"now {n}") for n in range(9)], history=50))
        await pilot.press("shift+pageup", *"/old 7", "enter")
        assert "line 8 of 59" in app.screen_lines()[0]
        assert app.screen_lines()[1].rstrip() == "old 7"
        found = app.pane.view.render_line(0)
        assert next(segment.style.bgcolor for segment in found if "old 7" in segment.text and segment.style)
        await pilot.press("v", "j", "j", "y")
        assert app.copied() == ["old 7\nold 8\nold 9"]
        assert app.screen_lines()[1].rstrip() == "now 0"
        await pilot.press("shift+pageup", *"/nothing", "enter")
        assert "no nothing" in app.screen_lines()[0]
        await pilot.press("q")
        assert app.typed() == b""
        await pilot.press("x")
        assert app.typed() == b"x"


async def test_what_is_read_stays_while_output_comes_in() -> None:
    app = ShellHost()
    async with app.run_test(size=(60, 10)) as pilot:
        await start(app, pilot)
        history = Lines(50)
        app.pane.set_scrollback("j1", history)
        app.pane.show_frame("j1", frame(history=50, scrolled=50))
        await pilot.press("shift+pageup")
        before = app.screen_lines()[1:9]
        del history.all[:20]  # the oldest are forgotten as new ones come in
        history.all += [row(f"new {number}") for number in range(20)]
        history.gone = 20
        app.pane.show_frame("j1", frame(history=50, scrolled=70))
        await pilot.pause()
        assert app.screen_lines()[1:9] == before


@pytest.mark.parametrize("text", HOSTILE)
async def test_hostile_titles_and_commands_are_only_text(text: str) -> None:
    app = ShellHost()
    async with app.run_test(size=(80, 10)) as pilot:
        app.pane.add_job("j1", text)
        app.pane.show_frame("j1", frame(row("x"), title=text))
        app.pane.set_state("j1", JobState.WAITING, last_line=text)
        await pilot.pause()
        assert is_safe("".join(app.screen_lines()))


async def test_hidden_jobs_draw_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    app = ShellHost()
    async with app.run_test(size=(40, 10)) as pilot:
        await start(app, pilot)
        app.pane.add_job("j2", "other", show=False)
        app.pane.show_frame("j2", frame(row("0")))
        await pilot.pause()
        drawn: list[object] = []
        monkeypatch.setattr(app.pane.view, "refresh", lambda *regions, **options: drawn.append(regions))
        for number in range(50):
            app.pane.show_frame("j2", frame(row(str(number))))
        assert drawn == []
        monkeypatch.undo()
        app.pane.select("j2")
        await pilot.pause()
        assert app.screen_lines()[1].rstrip() == "49"


async def test_of_a_hidden_job_its_title_is_told_and_its_screen_taken_when_it_is_shown() -> None:
    app = ShellHost()
    async with app.run_test(size=(60, 10)) as pilot:
        await start(app, pilot)
        app.pane.add_job("j2", "make all", latest=lambda: frame(row("the newest"), title="building"))
        app.pane.note_output("j2", "building")
        await pilot.pause()
        assert "building" in app.screen_lines()[0]
        assert app.pane.active == "j1"
        app.pane.select("j2")
        await pilot.pause()
        assert app.screen_lines()[1].rstrip() == "the newest"
        app.pane.display = False
        await pilot.pause()
        app.pane.display = True
        await pilot.pause()
        assert [message.job_id for message in app.of(JobShown)][-3:] == ["j2", "", "j2"]


async def test_a_frame_larger_than_the_view_shows_its_end() -> None:
    app = ShellHost()
    async with app.run_test(size=(40, 6)) as pilot:
        await start(app, pilot, focus=False)
        app.pane.show_frame("j1", frame(*[row(f"line {n}") for n in range(24)], lines=24, cursor_line=23))
        await pilot.pause()
        assert app.screen_lines()[5].rstrip() == "line 23"

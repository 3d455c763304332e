"""The shell pane in a small host: what it draws, how little it draws, and what it tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from rich.color import Color
from textual import on
from textual.app import App, ComposeResult
from textual.events import MouseDown, MouseMove, MouseScrollUp, MouseUp, Paste
from textual.geometry import Region
from textual.message import Message
from textual.pilot import Pilot

from core.contract.events import JobState
from core.contract.frame import CellStyle, Row, Span, TerminalFrame, WrappedRow
from tests.widgets.hostile import HOSTILE, is_safe
from widgets.shell.messages import JobKillRequested, JobResized, JobSelected, KeysTyped, LeaveRequested, TextSelected
from widgets.shell.pane import ShellPane

pytestmark = pytest.mark.anyio
STYLES = Path(__file__).parents[3] / "styles"


def row(*texts: str | Span) -> Row:
    return tuple(text if isinstance(text, Span) else Span(text) for text in texts)


def frame(*rows: Row, columns: int = 40, lines: int = 9, **values: object) -> TerminalFrame:
    filled = (*rows, *[()] * (lines - len(rows)))
    return replace(TerminalFrame(columns, lines, filled, cursor_line=len(rows)), **values)  # type: ignore[arg-type]  # checked by the dataclass


class Lines:
    """A scrollback of numbered lines."""

    def __init__(self, count: int) -> None:
        self.all = [row(f"old {number}") for number in range(count)]

    def __len__(self) -> int:
        return len(self.all)

    def rows(self, start: int, stop: int) -> Sequence[Row]:
        return self.all[max(0, start) : max(0, stop)]


class ShellHost(App[None]):
    CSS_PATH = [STYLES / "shell.tcss"]

    def __init__(self) -> None:
        super().__init__()
        self.pane = ShellPane(id="shell")
        self.told: list[Message] = []

    def compose(self) -> ComposeResult:
        yield self.pane

    @on(JobKillRequested)
    @on(JobResized)
    @on(JobSelected)
    @on(KeysTyped)
    @on(LeaveRequested)
    @on(TextSelected)
    def note(self, message: Message) -> None:
        self.told.append(message)

    def of(self, kind: type[Message]) -> list[Message]:
        return [message for message in self.told if isinstance(message, kind)]

    def typed(self) -> bytes:
        return b"".join(message.data for message in self.told if isinstance(message, KeysTyped))

    def copied(self) -> list[str]:
        return [message.text for message in self.told if isinstance(message, TextSelected)]

    def screen_lines(self) -> list[str]:
        return ["".join(segment.text for segment in strip) for strip in self.screen._compositor.render_strips()]


async def start(app: ShellHost, pilot: Pilot[None], *, focus: bool = True) -> None:
    app.pane.add_job("j1", "make test")
    if focus:
        app.pane.focus()
    await pilot.pause()


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
        assert " 4 a fourth" in app.screen_lines()[0], "a tab keeps its number"
        assert "make test" not in app.screen_lines()[0]
        assert "● +2 " in app.screen_lines()[0]
        app.pane.remove_job("j4")
        app.pane.remove_job("j3")
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
        app.pane.show_frame("j1", frame(history=50, scrolled=70))
        await pilot.pause()
        assert app.screen_lines()[1:9] == before


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


async def test_a_frame_larger_than_the_view_shows_its_end() -> None:
    app = ShellHost()
    async with app.run_test(size=(40, 6)) as pilot:
        await start(app, pilot, focus=False)
        app.pane.show_frame("j1", frame(*[row(f"line {n}") for n in range(24)], lines=24, cursor_line=23))
        await pilot.pause()
        assert app.screen_lines()[5].rstrip() == "line 23"

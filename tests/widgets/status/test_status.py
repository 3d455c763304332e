"""The foot of the screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.widgets import Static

from app.actions import Catalogue, KeyRow, Scope
from core.contract.events import ApprovalMode
from tests.widgets.hostile import HOSTILE, is_safe
from widgets.status.bar import StatusBar
from widgets.status.footer import KeyFooter, fit_entries
from widgets.status.line import StatusLine
from widgets.status.state import Status, fit_parts, list_parts, width_of

STYLES = Path(__file__).parents[3] / "styles"

FULL = Status(
    mode=ApprovalMode.AUTO_EDIT,
    model="gemini/gemini-3-pro",
    context_tokens=120_000,
    context_window=1_000_000,
    cost=0.034,
    branch="main*",
    jobs=2,
    todo="2/5 Edit add()",
)


class StatusHost(App[None]):
    CSS_PATH = [STYLES / "status.tcss"]

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.line = StatusLine(StatusBar(clock=lambda: self.now))
        self.told: list[str] = []

    def compose(self) -> ComposeResult:
        yield Static(id="above")
        yield self.line

    def on_mount(self) -> None:
        self.query_one("#above").styles.height = "1fr"
        self.line.set_keys(Catalogue().footer(Scope.PROMPT))

    def on_status_bar_chosen(self, message: StatusBar.Chosen) -> None:
        self.told.append(message.part)

    def on_key_footer_chosen(self, message: KeyFooter.Chosen) -> None:
        self.told.append(message.action)

    @property
    def bar_text(self) -> str:
        return self.line.bar.render_line(0).text.rstrip()

    @property
    def keys_text(self) -> str:
        return self.line.footer.render_line(0).text.rstrip()


def text_of(status: Status, width: int = 200, busy: str = "") -> str:
    return " │ ".join(part.text for part in fit_parts(list_parts(status, busy), width))


def test_everything_in_its_order() -> None:
    assert text_of(FULL) == "accept edits │ gemini/gemini-3-pro │ ctx 12% ▁ │ 2/5 Edit add() │ $0.03 │ main* │ 2 jobs"
    assert text_of(Status(waiting="approval: replace x"), busy="◐ Reading") == "⚠ approval: replace x │ ◐ Reading │ ask"


def test_servers_in_trouble_are_said_in_a_sign_words_and_colour() -> None:
    def part(**counts: int) -> tuple[str, str]:
        (found,) = (p for p in list_parts(Status(**counts), "") if p.name == "servers")  # type: ignore[arg-type]  # by name
        return found.text, found.style

    assert part(servers_starting=2) == ("◌ mcp 2 starting", "")
    assert part(servers_failed=1, servers_starting=1) == ("✗ mcp 1 failed, 1 starting", "bad")
    assert part(servers_login=1) == ("! mcp 1 to log in", "warn")
    assert not any(p.name == "servers" for p in list_parts(Status(), ""))
    assert all(p.text.isascii() for p in list_parts(Status(servers_failed=1, servers_starting=1), "", ascii_only=True))


def test_auto_is_said_and_marked_and_a_full_context_too() -> None:
    parts = {p.name: p for p in list_parts(Status(mode=ApprovalMode.YOLO, context_tokens=95, context_window=100), "")}
    assert (parts["mode"].text, parts["mode"].style) == ("AUTO", "bad")
    assert (parts["context"].text, parts["context"].style) == ("ctx 95% █", "bad")


def test_unknown_values_are_not_shown() -> None:
    assert text_of(Status()) == "ask"
    assert text_of(Status(cost=0.0)) == "ask │ $0.00"
    assert text_of(Status(cost=0.001)) == "ask │ <$0.01"


def test_what_matters_less_gives_way_first() -> None:
    assert text_of(FULL, 40) == "accept edits │ gemini/gemin… │ ctx 12% ▁"
    assert text_of(FULL, 12) == "accept edits"


statuses = st.builds(
    Status,
    mode=st.sampled_from(ApprovalMode),
    model=st.text(max_size=40),
    context_tokens=st.integers(0, 10**7),
    context_window=st.integers(0, 10**6),
    cost=st.none() | st.floats(0, 1e4),
    branch=st.text(max_size=40),
    jobs=st.integers(0, 99),
    todo=st.text(max_size=80),
    waiting=st.text(max_size=80),
)


@given(statuses, st.text(max_size=30), st.integers(12, 220), st.booleans())
def test_it_always_fits_and_the_mode_is_always_there(status: Status, busy: str, width: int, ascii_only: bool) -> None:
    parts = fit_parts(list_parts(status, busy, ascii_only=ascii_only), width)
    assert width_of(parts) <= width
    assert all(is_safe(part.text) for part in parts)
    if not status.waiting:
        assert any(part.name == "mode" for part in parts)


@given(st.lists(st.tuples(st.text(max_size=8), st.text(max_size=12)), max_size=12), st.integers(0, 100))
def test_the_footer_shows_whole_entries_only(rows: list[tuple[str, str]], width: int) -> None:
    shown = fit_entries([KeyRow(*row) for row in rows], width)
    assert [(row.keys, row.label) for row in shown] == rows[: len(shown)]
    assert cell_len("  ".join(f"{row.keys} {row.label}" for row in shown)) <= width


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("size", "lines"), [((80, 24), 2), ((80, 10), 1), ((60, 18), 2), ((120, 40), 1), ((200, 60), 1)]
)
async def test_one_line_where_both_fit(size: tuple[int, int], lines: int) -> None:
    app = StatusHost()
    async with app.run_test(size=size) as pilot:
        app.line.bar.update_status(model="gemini/gemini-3-pro", context_tokens=1, context_window=10, branch="main")
        await pilot.pause()
        assert app.line.size.height == lines
        assert app.bar_text.startswith("ask │ gemini/ge")
        assert app.keys_text.startswith("⏎ send")
        assert app.line.region.bottom == size[1]


@pytest.mark.anyio
async def test_the_keys_are_true_to_the_focus() -> None:
    app = StatusHost()
    catalogue = Catalogue()
    async with app.run_test(size=(200, 60)) as pilot:
        await pilot.pause()
        assert "stop" not in app.keys_text and "steer" not in app.keys_text
        app.line.set_keys(catalogue.footer(Scope.PROMPT, busy=True))
        await pilot.pause()
        assert "esc stop" in app.keys_text and "alt+s steer" in app.keys_text
        app.line.set_keys(catalogue.footer(Scope.SHELL))
        await pilot.pause()
        assert app.keys_text == "^] leave the shell"


@pytest.mark.anyio
async def test_time_is_shown_after_two_seconds_and_nothing_moves_when_idle() -> None:
    app = StatusHost()
    async with app.run_test(size=(120, 40)) as pilot:
        bar = app.line.bar
        assert not bar.is_moving
        bar.update_status(activity="Searching 412 files")
        await pilot.pause()
        assert app.bar_text.split(" │ ")[0][1:] == " Searching 412 files"
        app.now = 65.0
        assert "Searching 412 files 1m 05s" in app.bar_text
        bar.update_status(activity="Reading")
        assert "Reading 1m 05s" in app.bar_text  # one turn, one clock
        bar.update_status(activity="")
        assert not bar.is_moving
        assert app.bar_text == "ask"


@pytest.mark.anyio
async def test_parts_and_keys_can_be_clicked() -> None:
    app = StatusHost()
    async with app.run_test(size=(120, 40)) as pilot:
        app.line.bar.update_status(model="m")
        await pilot.pause()
        await pilot.click(StatusBar, offset=(1, 0))
        await pilot.click(StatusBar, offset=(6, 0))
        await pilot.click(KeyFooter, offset=(1, 0))
        await pilot.pause()
        assert app.told == ["mode", "model", "prompt.send"]


@pytest.mark.anyio
@pytest.mark.parametrize("field", ["model", "branch", "todo", "activity", "waiting"])
async def test_nothing_hostile_is_drawn(field: str) -> None:
    app = StatusHost()
    async with app.run_test(size=(200, 10)) as pilot:
        for text in HOSTILE:
            changes: dict[str, Any] = {field: text}
            app.line.bar.update_status(**changes)
            app.line.set_keys([KeyRow(text, text, "", "x")])
            await pilot.pause()
            assert is_safe(app.bar_text) and is_safe(app.keys_text)

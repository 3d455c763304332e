"""Completion: where it starts, what it inserts, and which keys it leaves alone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.widgets.prompt.host import PromptHost, until
from widgets.prompt.candidates import Candidate
from widgets.prompt.completion import CompletionPopup
from widgets.prompt.draft import Draft, PromptMode
from widgets.prompt.preview import CompletionPreview
from widgets.prompt.trigger import completed, find_mentions, find_trigger

pytestmark = pytest.mark.anyio

COMMANDS = [Candidate("help", "[topic]"), Candidate("clear", disabled_reason="the agent works"), Candidate("model")]
PATHS = [Candidate("src/"), Candidate("a file.py"), Candidate("src/app.py")]


async def complete(kind: str, query: str) -> Sequence[Candidate]:
    source = COMMANDS if kind == "command" else PATHS
    return [each for each in source if query in each.text]


@pytest.mark.parametrize(
    ("mode", "before", "found"),
    [
        (PromptMode.COMMAND, "", ("command", "", 0)),
        (PromptMode.COMMAND, "he", ("command", "he", 0)),
        (PromptMode.COMMAND, "help @sr", ("path", "sr", 5)),
        (PromptMode.COMMAND, "help me", ("command", "help me", 5)),
        (PromptMode.COMMAND, "theme ", ("command", "theme ", 6)),
        (PromptMode.AGENT, "@", ("path", "", 0)),
        (PromptMode.AGENT, "see (@src/a", ("path", "src/a", 5)),
        (PromptMode.AGENT, 'see @"a b', ("path", "a b", 4)),
        (PromptMode.AGENT, "mail@host", None),
        (PromptMode.AGENT, "@done ", None),
        (PromptMode.SHELL, "echo @x", None),
    ],
)
def test_triggers(mode: PromptMode, before: str, found: tuple[str, str, int] | None) -> None:
    trigger = find_trigger(mode, before + " rest", 0, len(before))
    assert (trigger and (trigger.kind, trigger.query, trigger.start)) == found


@given(st.text(st.characters(exclude_characters='"\n', exclude_categories=["C"]), min_size=1))
def test_a_completed_path_is_a_mention_of_it(path: str) -> None:
    if path.endswith(("/", ".", ":", "!", "?")) or set(path) & set("'`,;)\""):
        return
    trigger = find_trigger(PromptMode.AGENT, "@", 0, 1)
    assert trigger is not None
    assert find_mentions(f"see {completed(trigger, path)}now") == (path,)


async def test_tab_accepts_the_first_and_enter_sends() -> None:
    app = PromptHost(complete=complete)
    async with app.run_test() as pilot:
        popup = app.query_one(CompletionPopup)
        await pilot.press("@")
        await until(pilot, lambda: popup.is_open)
        await pilot.press("s", "r", "tab")
        assert app.pane.editor.text == "@src/"
        await until(pilot, lambda: popup.is_open)  # a folder stays open for more
        await pilot.press("enter")
        assert app.sent == ["@src/"]


async def test_enter_accepts_only_after_moving() -> None:
    app = PromptHost(complete=complete)
    async with app.run_test() as pilot:
        popup = app.query_one(CompletionPopup)
        await pilot.press("a", "space", "@")
        await until(pilot, lambda: popup.is_open)
        await pilot.press("down", "down", "enter")
        assert app.pane.editor.text == 'a @"a file.py" '
        assert app.sent == []
        await pilot.press("enter")
        assert app.sent == ['a @"a file.py"']


async def test_escape_closes_it_for_this_word_only() -> None:
    app = PromptHost(complete=complete)
    async with app.run_test() as pilot:
        popup = app.query_one(CompletionPopup)
        await pilot.press("@")
        await until(pilot, lambda: popup.is_open)
        await pilot.press("escape", "s", "r")
        assert not popup.is_open
        assert app.stops == 0
        await pilot.press("space", "@")
        await until(pilot, lambda: popup.is_open)


async def test_up_before_moving_into_the_list_is_the_prompts() -> None:
    app = PromptHost(complete=complete)
    app.pane.history.add(Draft("before"))
    async with app.run_test() as pilot:
        popup = app.query_one(CompletionPopup)
        await pilot.press("@")
        await until(pilot, lambda: popup.is_open)
        await pilot.press("up")
        assert app.pane.editor.text == "before"


async def test_commands_show_hints_and_a_disabled_one_is_not_inserted() -> None:
    app = PromptHost(complete=complete)
    async with app.run_test() as pilot:
        popup = app.query_one(CompletionPopup)
        await pilot.press("/")
        await until(pilot, lambda: popup.is_open)
        rows = [popup.render_line(y).text.rstrip() for y in range(popup.size.height)]
        assert rows == ["▸ help   [topic]", "  clear  unavailable: the agent works", "  model"]
        await pilot.press("down", "down", "enter")
        assert app.pane.editor.text == ""
        await pilot.press("m", "tab")
        assert (app.pane.editor.mode, app.pane.editor.text) == (PromptMode.COMMAND, "model ")


async def test_answers_that_come_too_late_are_dropped() -> None:
    gates: dict[str, asyncio.Event] = {}
    asked: list[str] = []

    async def slow(kind: str, query: str) -> Sequence[Candidate]:
        gates[query] = asyncio.Event()
        asked.append(query)
        await gates[query].wait()
        return [Candidate(f"{query}-answer")]

    app = PromptHost(complete=slow)
    async with app.run_test() as pilot:
        popup = app.query_one(CompletionPopup)
        await pilot.press("@", "a")
        await until(pilot, lambda: "a" in asked)
        await pilot.press("b")
        await until(pilot, lambda: "ab" in asked)
        gates["a"].set()
        gates["ab"].set()
        await until(pilot, lambda: popup.is_open)
        assert [each.text for each in popup.candidates] == ["ab-answer"]
        await pilot.press("space")
        assert not popup.is_open


async def test_a_completer_that_fails_leaves_the_prompt_usable() -> None:
    async def broken(kind: str, query: str) -> Sequence[Candidate]:
        raise RuntimeError("no index")

    app = PromptHost(complete=broken)
    async with app.run_test() as pilot:
        await pilot.press("@", "x", "enter")
        assert app.sent == ["@x"]


async def test_the_list_stands_above_the_prompt_and_a_click_accepts() -> None:
    app = PromptHost(complete=complete)
    async with app.run_test(size=(80, 24)) as pilot:
        popup = app.query_one(CompletionPopup)
        await pilot.press("@")
        await until(pilot, lambda: popup.is_open and popup.size.height == 3)
        await pilot.pause()
        assert popup.region.bottom <= app.query_one("#prompt-line").region.y
        assert popup.region.y >= 0
        await pilot.click(CompletionPopup, offset=(3, 2))
        assert app.pane.editor.text == "@src/app.py "


async def test_wide_and_hidden_characters_are_shown_whole() -> None:
    names = ("日本語のファイル.py", "bad\udcff\u202e.py")

    async def complete(kind: str, query: str) -> Sequence[Candidate]:
        return [Candidate(name) for name in names]

    app = PromptHost(complete=complete)
    async with app.run_test(size=(80, 24)) as pilot:
        app.pane.insert_text("@")
        await until(pilot, lambda: app.query_one(CompletionPopup).is_open)
        await pilot.pause()
        drawn = "\n".join(strip.text for strip in app.screen._compositor.render_strips())
        assert "日本語のファイル.py" in drawn and "bad\\udcff\\u202e.py" in drawn


async def test_the_marked_path_is_previewed_beside_the_list_where_there_is_room() -> None:
    async def preview(path: str, rows: int) -> str:
        return f"1 [b]first line[/b] of {path}\n2 second" if path.endswith(".py") else ""

    app = PromptHost(complete=complete, preview=preview)
    async with app.run_test(size=(100, 30)) as pilot:
        shown = app.query_one(CompletionPreview)
        await pilot.press(*"@src")
        await until(pilot, lambda: app.query_one(CompletionPopup).is_open)
        assert not shown.display  # a directory that has nothing to show
        await pilot.press("down", "down")
        await until(pilot, lambda: shown.display)
        assert str(shown.render()).startswith("1 [b]first line[/b] of src/app.py")
        await until(pilot, lambda: not shown.region.overlaps(app.query_one(CompletionPopup).region))
        await pilot.press("escape")
        await until(pilot, lambda: not shown.display)
        await pilot.press("/")
        assert not shown.display
    narrow = PromptHost(complete=complete, preview=preview)
    async with narrow.run_test(size=(60, 30)) as pilot:
        await pilot.press(*"@src/a")
        await until(pilot, lambda: narrow.query_one(CompletionPopup).is_open)
        assert not narrow.query_one(CompletionPreview).display

"""The prompt's editor: sending, modes, readline, history, chips."""

from __future__ import annotations

import pytest
from textual.events import Paste

from tests.widgets.prompt.host import PromptHost
from widgets.prompt.draft import Draft, PromptMode
from widgets.prompt.history import PromptHistory
from widgets.prompt.messages import PromptSubmitted, QueueRecalled, SteerRequested

pytestmark = pytest.mark.anyio


async def test_enter_sends_and_three_keys_break_the_line() -> None:
    app = PromptHost()
    async with app.run_test() as pilot:
        await pilot.press("a", "shift+enter", "b", "alt+enter", "c", "ctrl+j", "d")
        assert app.pane.editor.text == "a\nb\nc\nd"
        await pilot.press("enter")
        assert app.sent == ["a\nb\nc\nd"]
        assert app.pane.editor.text == ""


async def test_enter_sends_also_in_the_middle_of_several_lines() -> None:
    app = PromptHost()
    async with app.run_test() as pilot:
        await pilot.press("a", "ctrl+j", "b", "ctrl+j", "c", "up", "enter")
        assert app.sent == ["a\nb\nc"]


async def test_backslash_enter_breaks_the_line() -> None:
    app = PromptHost()
    async with app.run_test() as pilot:
        await pilot.press("a", "backslash", "enter", "b", "enter")
        assert app.sent == ["a\nb"]


async def test_blank_prompt_is_not_sent() -> None:
    app = PromptHost()
    async with app.run_test() as pilot:
        await pilot.press("enter", "space", "ctrl+j", "enter")
        assert app.told == []


@pytest.mark.parametrize(("sigil", "mode"), [("!", PromptMode.SHELL), ("/", PromptMode.COMMAND)])
async def test_sigil_at_the_start_changes_the_mode_and_backspace_leaves_it(sigil: str, mode: PromptMode) -> None:
    app = PromptHost()
    async with app.run_test() as pilot:
        await pilot.press(sigil, "l", "s")
        assert (app.pane.editor.mode, app.pane.editor.text) == (mode, "ls")
        await pilot.press("home", "backspace")
        assert (app.pane.editor.mode, app.pane.editor.text) == (PromptMode.AGENT, "ls")
        await pilot.press("home", sigil, "enter")
        message = app.told[0]
        assert isinstance(message, PromptSubmitted)
        assert (message.text, message.mode) == ("ls", mode)
        assert app.pane.editor.mode is PromptMode.AGENT


async def test_sigil_elsewhere_is_text() -> None:
    app = PromptHost()
    async with app.run_test() as pilot:
        await pilot.press("a", "!", "/", "enter")
        assert app.sent == ["a!/"]


async def test_escape_leaves_the_mode_then_is_the_applications() -> None:
    app = PromptHost()
    async with app.run_test() as pilot:
        await pilot.press("!", "l", "escape")
        assert (app.pane.editor.mode, app.stops) == (PromptMode.AGENT, 0)
        await pilot.press("escape")
        assert app.stops == 1
        assert app.pane.editor.text == "l"


async def test_steer_and_shell_lines_are_told_apart() -> None:
    app = PromptHost()
    async with app.run_test() as pilot:
        await pilot.press("h", "ctrl+enter", "!", "l", "alt+s")
        assert isinstance(app.told[0], SteerRequested) and app.told[0].text == "h"
        assert isinstance(app.told[1], PromptSubmitted) and app.told[1].mode is PromptMode.SHELL


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        (["ctrl+a", "X"], "Xone two three"),
        (["ctrl+a", "ctrl+e", "X"], "one two threeX"),
        (["ctrl+a", "ctrl+k", "X"], "X"),
        (["ctrl+u", "X"], "X"),
        (["ctrl+w", "X"], "one two X"),
        (["ctrl+w", "ctrl+w", "ctrl+a", "ctrl+y"], "two threeone "),
        (["ctrl+a", "alt+d", "alt+d", "ctrl+e", "ctrl+y"], " threeone two"),
        (["ctrl+a", "ctrl+d"], "ne two three"),
        (["ctrl+a", "alt+f", "X"], "oneX two three"),
        (["alt+b", "X"], "one two Xthree"),
        (["ctrl+u", "ctrl+underscore"], "one two three"),
        (["ctrl+u", "ctrl+underscore", "alt+r"], ""),
    ],
)
async def test_readline_keys(keys: list[str], text: str) -> None:
    app = PromptHost()
    async with app.run_test() as pilot:
        app.pane.set_draft(Draft("one two three"))
        await pilot.press(*keys)
        assert app.pane.editor.text == text


async def test_keys_of_a_burst_are_carried_out_in_their_order() -> None:
    """As from a program that types: all events are there before the first is dealt with."""
    app = PromptHost()
    async with app.run_test() as pilot:
        from textual.events import Key

        for key in ("a", "backspace", "b", "enter", "c"):
            app.pane.editor.post_message(Key(key, key if len(key) == 1 else None))
        await pilot.pause()
        assert app.sent == ["b"]
        assert app.pane.editor.text == "c"


async def test_history_at_the_edges_keeps_the_draft() -> None:
    history = PromptHistory()
    for text in ("first", "second\nline"):
        history.add(Draft(text))
    app = PromptHost(history=history)
    async with app.run_test() as pilot:
        editor = app.pane.editor
        await pilot.press("d", "r", "ctrl+j", "a", "up")
        assert editor.text == "dr\na"  # moved within the text
        await pilot.press("up")
        assert editor.text == "second\nline"
        await pilot.press("up")
        assert editor.text == "first"
        await pilot.press("up")
        assert editor.text == "first"
        await pilot.press("down")
        assert editor.text == "second\nline"
        await pilot.press("down")
        assert editor.text == "dr\na"
        await pilot.press("down")
        assert editor.text == "dr\na"


async def test_clearing_keeps_the_text_in_the_history() -> None:
    app = PromptHost()
    async with app.run_test() as pilot:
        await pilot.press("x", "y")
        assert app.pane.clear()
        assert not app.pane.clear()
        await pilot.press("up")
        assert app.pane.editor.text == "xy"


async def test_up_on_an_empty_prompt_recalls_what_waits() -> None:
    app = PromptHost()
    async with app.run_test() as pilot:
        app.pane.set_queue(["one [/b]", "two\x1b[31m", "3", "4"])
        await pilot.press("up")
        assert isinstance(app.told[0], QueueRecalled)
        shown = str(app.query_one("#prompt-queue").render())
        assert "queued 1  (alt+q changes it): one [/b]" in shown and "two␛[31m" in shown and "… 1 more" in shown
        app.pane.set_queue([])
        await pilot.pause()
        assert not app.query_one("#prompt-queue").display


async def test_large_paste_becomes_a_chip_that_is_one_piece() -> None:
    app = PromptHost()
    pasted = "\n".join(f"line {n}" for n in range(214))
    async with app.run_test() as pilot:
        editor = app.pane.editor
        await pilot.press("a")
        editor.post_message(Paste(pasted))
        await pilot.press("b")
        assert editor.text == "a[Pasted text #1, 214 lines]b"
        await pilot.press("left", "left", "X")
        assert editor.text == "aX[Pasted text #1, 214 lines]b"
        await pilot.press("right", "Y", "left", "backspace")
        assert editor.text == "aXYb"
        await pilot.press("ctrl+underscore", "enter")
        assert app.sent == [f"aX{pasted}Yb"]


async def test_two_chips_and_a_long_line() -> None:
    app = PromptHost()
    async with app.run_test() as pilot:
        app.pane.insert_text("x" * 3210)
        app.pane.insert_text("\n" * 12)
        await pilot.pause()
        assert app.pane.editor.text == "[Pasted text #1, 3,210 characters][Pasted text #2, 12 lines]"
        draft = app.pane.draft
        await pilot.press("enter")
        assert app.sent == ["x" * 3210]
        app.pane.set_draft(draft)
        assert app.pane.draft.expanded == "x" * 3210 + "\n" * 12


async def test_a_forged_chip_is_text() -> None:
    app = PromptHost()
    async with app.run_test() as pilot:
        app.pane.insert_text("[Pasted text #7, 12 lines]")
        await pilot.press("enter")
        assert app.sent == ["[Pasted text #7, 12 lines]"]


async def test_ten_thousand_lines_are_one_chip_and_sent_by_nobody() -> None:
    app = PromptHost()
    text = "\r".join(f"{n} some text" for n in range(10_000))
    async with app.run_test() as pilot:
        app.pane.editor.post_message(Paste(text))
        await pilot.pause()
        assert app.told == []
        assert app.pane.editor.text == "[Pasted text #1, 10,000 lines]"
        assert app.pane.draft.expanded == text.replace("\r", "\n")


async def test_oversized_paste_is_refused_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("widgets.prompt.chips.PASTE_LIMIT", 100)
    app = PromptHost()
    async with app.run_test() as pilot:
        app.pane.insert_text("x" * 101)
        await pilot.pause()
        assert app.pane.editor.text == ""
        assert len(app.told) == 1


async def test_huge_draft_is_held_as_a_chip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("widgets.prompt.editor.EDITOR_LIMIT", 100)
    app = PromptHost()
    async with app.run_test():
        app.pane.set_draft(Draft("y" * 101))
        assert app.pane.editor.text.startswith("[Pasted text #1")
        assert app.pane.draft.expanded == "y" * 101


async def test_mentions_come_from_the_typed_text_only() -> None:
    app = PromptHost()
    async with app.run_test() as pilot:
        app.pane.insert_text('see @src/a.py, (@"b c.md") and @src/a.py. mail@host ')
        app.pane.insert_text("@hidden\n" * 20)
        await pilot.press("enter")
        message = app.told[0]
        assert isinstance(message, PromptSubmitted)
        assert message.mentions == ("src/a.py", "b c.md")


async def test_it_grows_to_a_third_of_the_screen() -> None:
    app = PromptHost()
    async with app.run_test(size=(80, 24)) as pilot:
        assert app.pane.editor.size.height == 1
        await pilot.press("a", "ctrl+j", "b", "ctrl+j", "c")
        assert app.pane.editor.size.height == 3
        await pilot.press(*["ctrl+j"] * 12)
        assert app.pane.editor.size.height == 7


async def test_sign_follows_the_mode() -> None:
    app = PromptHost()
    async with app.run_test() as pilot:
        signs = []
        for keys in (["a"], ["home", "!"], ["escape", "home", "/"]):
            await pilot.press(*keys)
            signs.append(str(app.query_one("#prompt-sign").render()))
        assert signs == ["❯", "$", "/"]

"""Vi's keys in the prompt itself: modes, what stays the application's, chips, history."""

from __future__ import annotations

import pytest
from textual.events import Key, Paste
from textual.widgets import Static

from tests.widgets.prompt.host import PromptHost
from widgets.prompt.draft import Draft, PromptMode
from widgets.prompt.messages import CopyRequested, PromptSubmitted, QueueRecalled, QuitRequested, SteerRequested

pytestmark = pytest.mark.anyio


class VimHost(PromptHost):
    def on_mount(self) -> None:
        super().on_mount()
        self.pane.use_vim(True)

    @property
    def shown(self) -> str:
        editor = self.pane.editor
        before = editor.get_text_range((0, 0), editor.cursor_location)
        return f"{before}|{editor.text[len(before) :]}"

    @property
    def mode(self) -> str:
        word = self.query_one("#prompt-vim", Static)
        return str(word.render()) if word.display else ""


async def test_escape_goes_to_normal_mode_and_stops_nothing_then_it_is_the_applications() -> None:
    app = VimHost()
    async with app.run_test() as pilot:
        await pilot.press(*"one two")
        assert app.mode == "INSERT"
        await pilot.press("escape")
        assert (app.mode, app.stops, app.shown) == ("NORMAL", 0, "one tw|o")
        await pilot.press("2", "d")
        assert app.mode == "NORMAL 2d"
        await pilot.press("escape")
        assert (app.mode, app.stops) == ("NORMAL", 0)
        await pilot.press("escape")
        assert app.stops == 1


async def test_commands_change_the_text_and_nothing_types_itself() -> None:
    app = VimHost()
    async with app.run_test() as pilot:
        await pilot.press(*"one two", "escape", "b", "c", "w", *"red", "escape", "0", "Z", "é")
        assert app.shown == "|one red"
        await pilot.press("d", "w", "u", "ctrl+r", "p")
        assert app.shown == "rone| ed"


async def test_enter_sends_from_normal_mode_and_the_next_prompt_begins_in_insert_mode() -> None:
    app = VimHost()
    async with app.run_test() as pilot:
        await pilot.press(*"one", "escape", "enter")
        assert (app.sent, app.mode) == (["one"], "INSERT")
        await pilot.press(*"two", "escape", "r", "enter", "enter")
        assert app.sent == ["one", "tw"]


async def test_readlines_own_keys_do_nothing_outside_of_insert_mode() -> None:
    app = VimHost()
    async with app.run_test() as pilot:
        await pilot.press(*"one two", "escape", "ctrl+u", "ctrl+w", "alt+d", "ctrl+y")
        assert app.shown == "one tw|o"
        await pilot.press("i", "ctrl+u")
        assert app.shown == "|o"


async def test_what_is_selected_shows_and_is_taken_with_its_last_character() -> None:
    app = VimHost()
    async with app.run_test() as pilot:
        await pilot.press(*"one two", "escape", "0", "v", "e")
        assert (app.mode, app.pane.editor.selected_text) == ("VISUAL", "on")  # and the cursor's own cell
        await pilot.press("d")
        assert (app.mode, app.shown) == ("NORMAL", "| two")
        await pilot.press("V", "escape")
        assert app.pane.editor.selection.is_empty
        await pilot.press("0", "shift+right", "shift+right", "d")  # selected by other means
        assert app.shown == "|wo"


async def test_a_key_right_after_escape_comes_as_alt_and_is_both() -> None:
    app = VimHost()
    async with app.run_test() as pilot:
        await pilot.press(*"one two")
        app.pane.editor.post_message(Key("alt+b", "b"))
        await pilot.pause()
        assert (app.shown, app.mode) == ("one |two", "NORMAL")
        await pilot.press("a")
        app.pane.editor.post_message(Key("alt+shift+a", "A"))
        await pilot.press("!")
        assert (app.shown, app.mode) == ("one two!|", "INSERT")
        app.pane.editor.post_message(Key("alt+s", "s"))
        await pilot.pause()
        assert isinstance(app.told[-1], SteerRequested)


async def test_chips_are_one_character() -> None:
    text = "line\n" * 20
    app = VimHost()
    async with app.run_test() as pilot:
        app.pane.editor.post_message(Paste(text))
        await pilot.pause()
        await pilot.press(*" and", "escape", "0")
        chip = "[Pasted text #1, 20 lines]"
        assert app.shown == f"|{chip} and"
        await pilot.press("l")
        assert app.shown == f"{chip}| and"
        await pilot.press("h", "x", "$", "p")
        assert app.shown == f" and|{chip}"
        await pilot.press("~", "r", "x", "u", "enter")
        assert app.sent == [f" and{text}".strip()]
        await pilot.press("escape", "p")
        assert app.shown == "|"  # the chip went with its prompt


async def test_j_and_k_leave_a_text_for_the_history_and_the_queue() -> None:
    app = VimHost()
    async with app.run_test() as pilot:
        await pilot.press(*"first", "enter", *"second", "enter", "escape", "k")
        assert (app.shown, app.mode) == ("second|", "NORMAL")
        await pilot.press("k", "j", "j")
        assert app.shown == "|"
        app.pane.set_queue(["waits"])
        await pilot.press("k")
        assert isinstance(app.told[-1], QueueRecalled)


@pytest.mark.parametrize(
    ("key", "mode"), [("/", PromptMode.COMMAND), (":", PromptMode.COMMAND), ("!", PromptMode.SHELL)]
)
async def test_a_sigil_in_an_empty_prompt_begins_its_mode(key: str, mode: PromptMode) -> None:
    app = VimHost()
    async with app.run_test() as pilot:
        await pilot.press("escape", key, *"ls", "enter")
        (message,) = app.told
        assert isinstance(message, PromptSubmitted)
        assert (message.text, message.mode) == ("ls", mode)


async def test_a_paste_in_normal_mode_can_be_undone_and_a_draft_can_not() -> None:
    app = VimHost()
    async with app.run_test() as pilot:
        await pilot.press(*"ab", "escape")
        app.pane.editor.post_message(Paste("XY"))
        await pilot.pause()
        assert app.pane.editor.text == "aXYb"
        await pilot.press("u")
        assert app.pane.editor.text == "ab"
        app.pane.set_draft(Draft("another"))
        await pilot.press("u", "u")
        assert app.pane.editor.text == "another"


async def test_turning_them_off_gives_the_editor_its_keys_back() -> None:
    app = VimHost()
    async with app.run_test() as pilot:
        await pilot.press("escape")
        app.pane.use_vim(False)
        await pilot.press(*"dd")
        assert (app.pane.editor.text, app.mode) == ("dd", "")
        await pilot.press("escape")
        assert app.stops == 1


async def test_whole_lines_show_over_all_their_length() -> None:
    app = VimHost()
    async with app.run_test(size=(60, 20)) as pilot:
        app.pane.set_draft(Draft("one two\nthree"))
        await pilot.press("escape", "g", "g", "w", "V", "j")
        editor = app.pane.editor
        marked = editor.get_component_rich_style("text-area--selection").bgcolor
        for row, text in enumerate(("one two", "three")):
            styles = [segment.style for segment in editor.render_line(row) for _ in segment.text][: len(text)]
            plain = [style.bgcolor == marked for style in styles if style is not None]
            assert plain.count(False) == row  # but the cursor's own cell
        await pilot.press("escape")
        assert not any(s.style and s.style.bgcolor == marked for s in editor.render_line(0))


async def test_replace_mode_writes_over_and_the_editor_keeps_its_keys() -> None:
    app = VimHost()
    async with app.run_test() as pilot:
        await pilot.press(*"one two", "escape", "0", "R", *"ab")
        assert (app.mode, app.shown) == ("REPLACE", "ab|e two")
        await pilot.press("right", "x", "backspace", "escape")
        assert (app.mode, app.shown) == ("NORMAL", "ab|e two")
        await pilot.press("R", "enter")
        assert isinstance(app.told[-1], PromptSubmitted)
        assert app.told[-1].text == "abe two"


async def test_the_clipboard_is_a_register() -> None:
    app = VimHost()
    async with app.run_test() as pilot:
        await pilot.press(*"one two", "escape", '"', "+", "y", "i", "w")
        assert isinstance(app.told[-1], CopyRequested)
        assert app.told[-1].text == "two"
        app.copy_to_clipboard("new ")
        await pilot.press("0", '"', "+", "P")
        assert app.shown == "new| one two"


@pytest.mark.parametrize(("last", "left"), [("Z", "one"), ("Q", "")])
async def test_the_application_is_left_without_a_command(last: str, left: str) -> None:
    app = VimHost()
    async with app.run_test() as pilot:
        await pilot.press(*"one", "escape", "Z", last)
        assert isinstance(app.told[-1], QuitRequested)
        assert app.pane.draft.text == left

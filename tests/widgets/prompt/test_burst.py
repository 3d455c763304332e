"""Pastes that arrive as keys."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.events import Key

from tests.widgets.prompt.host import PromptHost, until
from widgets.prompt.burst import PASTE_END, SAME_BURST, PasteBurst, Verdict

LINES = "first line\nsecond\tline\n\nlast"


def feed(text: str, gap: float, burst: PasteBurst) -> tuple[str, int]:
    """Play keys to a burst; return what was inserted, and how many Enters were Enters."""
    out, sent, time = "", 0, 1.0
    for character in text:
        time += gap
        verdict = burst.key(character, time)
        if verdict is Verdict.NORMAL:
            sent += burst.settle()
            out += burst.take()
            if character == "\n":
                sent += 1
            else:
                out += character
    if burst.is_over(time + PASTE_END):
        sent += burst.settle()
        out += burst.take()
    return out, sent


@given(st.text(st.characters(exclude_categories=["C"], include_characters="\n\t"), min_size=1), st.booleans())
def test_a_paste_of_several_lines_is_whole_and_sends_nothing(text: str, slow: bool) -> None:
    pasted = "ab" + text + "\nz"
    assert feed(pasted, 0.005 if slow else 0.0, PasteBurst()) == (pasted, 0)


@given(st.text(st.characters(exclude_categories=["C"]), min_size=1))
def test_a_typed_or_scripted_line_is_sent(text: str) -> None:
    assert feed(text + "\n", 0.001, PasteBurst()) == (text, 1)
    assert feed(text + "\n", SAME_BURST * 2, PasteBurst()) == (text, 1)


def test_a_paste_may_end_with_a_line_end() -> None:
    assert feed("one\ntwo\n", 0.001, PasteBurst()) == ("one\ntwo\n", 0)


def test_a_key_that_inserts_nothing_ends_the_paste() -> None:
    burst = PasteBurst()
    for character in "a\nb":
        burst.key(character, 1.0)
    assert burst.collecting
    assert burst.key(None, 1.0) is Verdict.NORMAL
    assert burst.take() == "\nb"
    assert burst.key("\n", 1.001) is Verdict.NORMAL


def test_a_paste_over_a_line_that_stalls_sends_nothing() -> None:
    burst, sent, out, time = PasteBurst(), 0, "", 0.0
    for number, character in enumerate("first\nsecond\nthird\nfourth"):
        time += 0.5 if number in (9, 13) else 0.001  # within a word, and right after a line end
        if burst.is_over(time):
            sent += burst.settle()
            out += burst.take()
        if burst.key(character, time) is Verdict.NORMAL:
            sent += burst.settle()
            out += burst.take() + character
    sent += burst.settle()
    assert (out + burst.take(), sent) == ("first\nsecond\nthird\nfourth", 0)


def keys_for(text: str) -> list[Key]:
    names = {"\n": ("enter", "\r"), "\t": ("tab", "\t")}
    keys = [Key(*names.get(character, (character, character))) for character in text]
    for number, key in enumerate(keys):  # as if read at once, however slow this machine is just now
        key.time = keys[-1].time + number * 1e-6
    return keys


@pytest.mark.anyio
async def test_a_paste_as_keys_is_inserted_and_not_sent() -> None:
    app = PromptHost(paste_burst=True)
    async with app.run_test() as pilot:
        for key in keys_for(LINES):
            app.pane.editor.post_message(key)
        await until(pilot, lambda: app.pane.editor.text == LINES)
        assert app.sent == []


@pytest.mark.anyio
async def test_a_long_paste_as_keys_becomes_a_chip() -> None:
    app = PromptHost(paste_burst=True)
    text = "\n".join(["word"] * 2_000)
    async with app.run_test() as pilot:
        for key in keys_for(text):
            app.pane.editor.post_message(key)
        await until(pilot, lambda: "[Pasted" in app.pane.editor.text)
        assert app.sent == []
        assert app.pane.draft.expanded == text


@pytest.mark.anyio
async def test_a_line_that_a_script_types_is_sent_in_the_end() -> None:
    app = PromptHost(paste_burst=True)
    async with app.run_test() as pilot:
        for key in keys_for("hello\n"):
            app.pane.editor.post_message(key)
        await until(pilot, lambda: app.sent == ["hello"])
        for key in keys_for("/help\n"):
            app.pane.editor.post_message(key)
        await until(pilot, lambda: app.sent == ["hello", "help"])

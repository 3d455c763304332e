"""What terminals send."""

from __future__ import annotations

import os
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events

from app.terminal_input import TerminalDriver, TerminalInput, TerminalWriter


def read(data: str) -> list[Any]:
    parser = TerminalInput()
    return [*parser.feed(data), *parser.feed("")]


def keys(data: str) -> list[str]:
    return [event.key for event in read(data) if isinstance(event, events.Key)]


@pytest.mark.parametrize(
    ("data", "pressed"),
    [
        ("\x1b1", ["alt+1"]),
        ("\x1b[49;3u", ["alt+1"]),
        ("\x1b\r", ["alt+enter"]),
        ("\x1b[13;3u", ["alt+enter"]),
        ("\x1b[13;2u", ["shift+enter"]),
        ("\x1bs", ["alt+s"]),
        ("\n", ["ctrl+j"]),
        ("\x1d", ["ctrl+right_square_bracket"]),
        ("\x1f", ["ctrl+underscore"]),
        ("\x1b[1;3A", ["alt+up"]),
        ("\x1bb\x1bf", ["alt+b", "alt+f"]),
        ("\x1b$", ["alt+dollar_sign"]),
        ("\x1bA", ["alt+shift+a"]),
        ("\x1b[98;3u", ["alt+b"]),
        ("a\x1b[<32;NaN;NaNMb", ["a", "b"]),
        ("\x1b[<35;nan;infm", []),
        ("\x1b[57441;2:1u", []),
        ("1\x1b", ["1", "escape"]),
    ],
)
def test_keys_are_what_was_pressed(data: str, pressed: list[str]) -> None:
    assert keys(data) == pressed


def test_good_mouse_reports_and_pastes_stay() -> None:
    kinds = [type(event) for event in read("\x1b[<0;3;4M\x1b[<0;3;4m")]
    assert kinds == [events.MouseDown, events.MouseUp]
    paste = read("\x1b[200~a\nNaN\x1b[201~x")[0]
    assert isinstance(paste, events.Paste) and paste.text == "a\nNaN"


PASTE = st.text(st.sampled_from("\x1b[201~a\x07\r;")).filter(lambda text: "\x1b[201~" not in text)


@given(PASTE, st.lists(st.integers(0, 60), max_size=4))
def test_nothing_in_a_paste_acts_however_it_is_cut(text: str, cuts: list[int]) -> None:
    data = f"a\x1b[200~{text}\x1b[201~b"
    if f"{text}\x1b[201~".find("\x1b[201~") < len(text):
        return  # the text's end makes an earlier one with the marker
    parser = TerminalInput()
    places = sorted({0, len(data), *(min(cut, len(data)) for cut in cuts if cut not in range(2, 8))})
    pieces = [data[start:stop] for start, stop in zip(places, places[1:], strict=False)]
    told = [event for piece in pieces for event in parser.feed(piece)]
    pasted = [event for event in told if not isinstance(event, events.Key)]
    assert [event.key for event in told if isinstance(event, events.Key)] == ["a", "b"]
    assert [event.text for event in pasted] == [text.replace("\x1b", "\u241b")]


def test_the_start_of_a_paste_may_be_cut_anywhere() -> None:
    data = "\x1b[200~\x1bOA\x07\x1b[201~"
    for cut in range(2, len(data)):  # a lone ESC is the key until something follows it
        parser = TerminalInput()
        told = [*parser.feed(data[:cut]), *parser.feed(data[cut:])]
        assert [type(event) for event in told] == [events.Paste], cut


@given(st.text(st.sampled_from("\x1b[<>?0123456789;:uMmNaABCDR~$y")))
def test_nothing_that_a_terminal_sends_stops_the_reading(data: str) -> None:
    parser = TerminalInput()
    list(parser.feed(data + "\x1b" if not data else data))
    list(parser.feed(" " * 40 + "z"))


def test_the_driver_reads_with_it() -> None:
    reading, writing = os.pipe()
    driver = object.__new__(TerminalDriver)
    driver.fileno = reading
    driver.exit_event = threading.Event()
    driver._debug = False
    told: list[Any] = []

    def keep(message: Any) -> None:
        told.append(message)
        driver.exit_event.set()

    driver.process_message = keep  # type: ignore[method-assign]  # an application is not needed for this
    try:
        os.write(writing, b"\x1b2")
        driver.run_input_thread()
    finally:
        os.close(reading)
        os.close(writing)
    assert [event.key for event in told] == ["alt+2"]


def test_nobody_waits_for_a_terminal_that_is_gone() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w", encoding="utf-8") as gone:
        writer = TerminalWriter(gone)
        writer.start()

        def draw() -> None:
            for _ in range(100):
                writer.write("x" * 10_000)
            writer.stop()

        drawing = threading.Thread(target=draw, daemon=True)
        drawing.start()
        drawing.join(10.0)
        assert not drawing.is_alive()
        writing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(writing, gone.fileno())  # what it still holds goes here
        os.close(writing)

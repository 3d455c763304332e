"""Keys, pastes and mouse events as bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widgets.shell.keys import encode_key, encode_mouse, encode_paste


@pytest.mark.parametrize(
    ("key", "character", "data"),
    [
        ("a", "a", b"a"),
        ("A", "A", b"A"),
        ("é", "é", "é".encode()),
        ("plus", "+", b"+"),
        ("enter", "\r", b"\r"),
        ("ctrl+j", "\n", b"\n"),
        ("tab", "\t", b"\t"),
        ("shift+tab", None, b"\x1b[Z"),
        ("escape", "\x1b", b"\x1b"),
        ("backspace", "\x7f", b"\x7f"),
        ("space", " ", b" "),
        ("ctrl+c", "\x03", b"\x03"),
        ("ctrl+d", None, b"\x04"),
        ("ctrl+z", None, b"\x1a"),
        ("ctrl+backslash", None, b"\x1c"),
        ("ctrl+@", None, b"\x00"),
        ("ctrl+underscore", None, b"\x1f"),
        ("alt+x", "x", b"\x1bx"),
        ("alt+enter", None, b"\x1b\r"),
        ("up", None, b"\x1b[A"),
        ("shift+up", None, b"\x1b[1;2A"),
        ("ctrl+right", None, b"\x1b[1;5C"),
        ("ctrl+shift+left", None, b"\x1b[1;6D"),
        ("home", None, b"\x1b[H"),
        ("pageup", None, b"\x1b[5~"),
        ("ctrl+delete", None, b"\x1b[3;5~"),
        ("f1", None, b"\x1bOP"),
        ("f5", None, b"\x1b[15~"),
        ("shift+f12", None, b"\x1b[24;2~"),
        ("left_shift", None, b""),
        ("<ignore>", None, b""),
    ],
)
def test_keys(key: str, character: str | None, data: bytes) -> None:
    assert encode_key(key, character) == data


def test_application_cursor_keys() -> None:
    assert encode_key("up", application_cursor=True) == b"\x1bOA"
    assert encode_key("ctrl+up", application_cursor=True) == b"\x1b[1;5A"
    assert encode_key("pageup", application_cursor=True) == b"\x1b[5~"


def test_paste() -> None:
    assert encode_paste("a\nb\r\nc\td", bracketed=False) == b"a\rb\rc\td"
    assert encode_paste("x", bracketed=True) == b"\x1b[200~x\x1b[201~"


@given(st.text())
def test_a_paste_cannot_leave_its_bracket(text: str) -> None:
    data = encode_paste("\x1b[201~" + text + "\x9b201~", bracketed=True)
    assert data.count(b"\x1b") == 2
    assert data.endswith(b"\x1b[201~")


def test_mouse() -> None:
    assert encode_mouse(0, 4, 2, pressed=True, sgr=True) == b"\x1b[<0;5;3M"
    assert encode_mouse(0, 4, 2, pressed=False, sgr=True) == b"\x1b[<0;5;3m"
    assert encode_mouse(0, 4, 2, pressed=True, sgr=False) == b"\x1b[M %#"
    assert encode_mouse(2, 4, 2, pressed=False, sgr=False) == b"\x1b[M#%#"
    assert encode_mouse(0, 300, 2, pressed=True, sgr=False) == b""

"""The screen: what programs send, and what is seen of it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from core.contract.frame import PLAIN, CellStyle, Span
from core.contract.visible import has_hidden, make_visible
from core.terminal import plain_text
from core.terminal.plain_text import log_text, screen_lines, screen_text
from core.terminal.screen import TerminalScreen
from core.terminal.width import NARROW, WIDE_CLASS, cell_width, clean
from tests.core.terminal.screens import make, shown, texts

# --- sequences ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        ("ab\x1b[2b", "abbb"),
        ("ab\x1b[2b\x1b[2b", "abbb"),
        ("\x1b[2bab\x1b[2b\rcd\x1b[2b", "cddd"),
        ("ab\x1b[m\x1b[2b", "ab"),
        ("ab\x1b[C\x1b[2b", "ab"),
        ("ab\x1b]2;t\x07\x1b[2b", "ab"),
        ("ab\x1bPx\x1b\\\x1b[2b", "ab"),
        ("ab\x7f\x1b[2b", "abbb"),
        ("e\u0301\x1b[2b", "e\u0301"),
        ("日\x1b[b", "日日"),
    ],
)
def test_a_repetition_needs_a_character_right_before_it(data: str, wanted: str) -> None:
    assert shown(make(data))[0] == wanted


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        ('ab\x1b[1"qcd\x1b[0"qef\x1b[?2K', "  cd"),
        ('ab\x1b[1"qcd\x1b[2"qef\x1b[1G\x1b[?J', "  cd"),
        ('ab\x1b[1"qcd\x1b["qef\x1b[4G\x1b[?1K', "  cdef"),
        ('ab\x1b[1"qcd\x1b[mef\x1b[?2J', "  cdef"),
        ('ab\x1b[1"qcd\x1b["q\x1b[3Gx\x1b[?2K', "   d"),
        ('ab\x1b[1"qcd\x1b[2K', ""),
        ("abcd\x1b[3G\x1b[?K", "ab"),
    ],
)
def test_protected_characters_are_spared_by_selective_erasure_only(data: str, wanted: str) -> None:
    assert shown(make(data))[0] == wanted


def test_restoring_what_was_never_saved_gives_the_initial_state() -> None:
    assert shown(make("\x1b(0\x1b[3;4H\x1b[31m\x1b8q"))[0] == "q"
    assert make("\x1b[31m\x1b8q").frame().rows[0][0].style is PLAIN


@pytest.mark.parametrize("parameters", ["", "1", "1;2", "1;1;1;1;1"])
def test_lines_move_down_whatever_else_is_given(parameters: str) -> None:
    assert shown(make(f"a\r\nb\x1b[{parameters}T"))[:3] == ["", "a", "b"]


@pytest.mark.parametrize(("place", "wanted"), [("1;2", ["  ab", "  cd", "ef"]), ("3;2", ["ab", "cd", "ef"])])
def test_a_region_moves_aside_from_within_only(place: str, wanted: list[str]) -> None:
    assert shown(make(f"ab\r\ncd\r\nef\x1b[1;2r\x1b[{place}H\x1b[2 A"))[:3] == wanted


# --- frames -------------------------------------------------------------------------------------------


def test_rows_that_do_not_change_are_the_same_objects() -> None:
    screen = make("one\r\ntwo\r\nthree")
    before = screen.frame()
    assert screen.frame() is before
    screen.feed("\x1b[2;1HTWO")
    after = screen.frame()
    assert [new is old for new, old in zip(after.rows, before.rows, strict=True)] == [True, False, True, True, True]
    assert texts(list(after.rows[:3])) == ["one", "TWO", "three"]


def test_a_reversed_screen_is_shown_so_to_its_edges() -> None:
    screen = make("ab\x1b[7mcd\x1b[?5h", columns=6, lines=2)
    blank, reverse = CellStyle(), CellStyle(reverse=True)
    assert screen.frame().rows == (
        (Span("ab", reverse), Span("cd", blank), Span("  ", reverse)),
        (Span(" " * 6, reverse),),
    )
    screen.feed("\x1b[?5l")
    assert screen.frame().rows == ((Span("ab"), Span("cd", reverse)), ())


def test_rows_move_as_they_are_when_the_screen_scrolls() -> None:
    screen = make("1\r\n2\r\n3\r\n4\r\n5")
    before = screen.frame()
    screen.feed("\r\n6")
    assert all(new is old for new, old in zip(screen.frame().rows, before.rows[1:], strict=False))


def test_dirty_lines_are_named() -> None:
    screen = make("one\r\ntwo")
    screen.dirty.clear()
    screen.feed("\x1b[4;1Hx")
    assert screen.dirty == {3}


def test_an_unknown_size_is_clamped() -> None:
    assert (TerminalScreen(0, -5).columns, TerminalScreen(10**6, 10**6).lines) == (1, 1000)


# --- styles -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "style"),
    [
        ("1;31", CellStyle(fg="1", bold=True)),
        ("38;5;196;48;2;1;2;3", CellStyle(fg="196", bg="#010203")),
        ("38:2::255:0:16", CellStyle(fg="#ff0010")),
        ("38:2:255:0:16", CellStyle(fg="#ff0010")),
        ("38:5:9", CellStyle(fg="9")),
        ("4:3", CellStyle(underline=True)),
        ("4;4:0", PLAIN),
        ("2;9;53", CellStyle(dim=True, strike=True, overline=True)),
        ("58;5;1;1", CellStyle(bold=True)),
        ("58:2::1:2:3;3", CellStyle(italic=True)),
        ("91;102", CellStyle(fg="9", bg="10")),
        ("1;2;22", PLAIN),
        ("31;0", PLAIN),
        ("", PLAIN),
        ("38", PLAIN),
        ("38;5", PLAIN),
        ("999;1", CellStyle(bold=True)),
    ],
)
def test_sgr(parameters: str, style: CellStyle) -> None:
    assert make(f"\x1b[{parameters}mx").frame().rows[0][0].style == style


@pytest.mark.parametrize("sequence", ["\x1b[>4;2m", "\x1b[?4m", "\x1b[=1;1u", "\x1b[<u", "\x1b[>1u", "\x1b[?1m"])
def test_private_sequences_change_no_style_and_print_nothing(sequence: str) -> None:
    assert make(sequence + "x").frame().rows[0] == make("x").frame().rows[0]


# --- strings, replies ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sequence",
    [
        "\x1b]52;c;aGFja2Vk\x07",
        "\x1b]8;;https://example.org\x1b\\",
        "\x1bPq#0;2;0;0;0#0~~@@vv\x1b\\",
        "\x1b_Gf=24;AAAA\x1b\\",
        "\x1b^private\x1b\\",
        "\x1bXstring\x1b\\",
        "\x1b]1337;File=inline=1:AAAA\x07",
    ],
)
def test_strings_are_swallowed(sequence: str) -> None:
    screen = make(f"a{sequence}b")
    assert shown(screen)[0] == "ab"
    assert screen.responses == b""


def test_the_title_is_kept_short_and_harmless() -> None:
    assert make("\x1b]0;hello\x07").title == "hello"
    assert make("\x1b]2;a\tb\n\u202ec\x1b\\").title == "ab\\u202ec"
    assert len(make("\x1b]2;" + "x" * 100_000 + "\x07").title) <= 1024


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("\x1b[5n", b"\x1b[0n"),
        ("\x1b[2;3H\x1b[6n", b"\x1b[2;3R"),
        ("\x1b[c", b"\x1b[?62;22c"),
        ("\x1b[>c", b"\x1b[>0;276;0c"),
        ("\x1b[?2026$p", b"\x1b[?2026;2$y"),
        ("\x1b[?2004h\x1b[?2004$p", b"\x1b[?2004;1$y"),
        ("\x1b[?31337$p", b"\x1b[?31337;0$y"),
        ("\x1b[>q", b"\x1bP>|stet\x1b\\"),
        ("\x1b[18t", b"\x1b[8;5;20t"),
        ("\x1bP$qm\x1b\\", b"\x1bP1$r0m\x1b\\"),
        ("\x1b[1;38;5;99;48;2;1;20;255m\x1bP$qm\x1b\\", b"\x1bP1$r0;1;38:5:99;48:2:1:20:255m\x1b\\"),
        ("\x1b[2;4r\x1bP$qr\x1b\\", b"\x1bP1$r2;4r\x1b\\"),
        ("\x1bP$q q\x1b\\", b"\x1bP0$r\x1b\\"),
        ("\x1bP$qrm -rf\x1b\\", b"\x1bP0$r\x1b\\"),
    ],
)
def test_replies(question: str, reply: bytes) -> None:
    screen = make(question)
    assert screen.responses == reply
    assert screen.responses == b""


def test_the_background_colour_is_told() -> None:
    assert make("\x1b]11;?\x07").responses.startswith(b"\x1b]11;rgb:")


def test_replies_do_not_pile_up_and_never_echo_what_was_sent() -> None:
    screen = make("\x1b]0;rm -rf\x07\x1b[21t" + "\x1b[c" * 100_000)
    assert len(screen.responses) < 5000
    assert b"rm" not in make("\x1b]0;rm -rf\x07\x1b[21t\x1b]0;?\x07").responses


def test_no_mouse_is_reported_once_any_of_its_modes_is_reset() -> None:
    screen = make("\x1b[?1000;1006h\x1b[?1002h")
    assert (screen.frame().mouse, screen.frame().mouse_drag) == (True, True)
    screen.feed("\x1b[?1000l")
    assert (screen.frame().mouse, screen.frame().mouse_drag) == (False, False)


# --- wide and joined characters -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("ok ✔\ufe0f passed", 11),
        ("世界", 4),
        ("e\u0301x", 2),
        ("👩\u200d💻!", 3),
        ("👍🏽!", 3),
        ("🇩🇪!", 3),
        ("a\u200bb", 2),
        ("\ufefftext", 4),
        ("a\u202eb\u200ec\u2066d\u061c", 4),
        ("\u2630 1", 3),
        ("\u3164\uffa0|", 4),
    ],
)
def test_widths(text: str, columns: int) -> None:
    screen = make(text)
    assert screen.cursor.x == columns
    (row,) = texts(list(screen.frame().rows[:1]))
    assert cell_len(row) == columns
    assert not has_hidden(row)


def test_a_vowel_sign_takes_a_cell_as_programs_count_it() -> None:
    assert make("\u0939\u093f\u0928\u094d\u0926\u0940").cursor.x == 5
    assert shown(make("\u0915\u093fxyz\x1b[3Ga"))[0] == "\u0915\u093fayz"


def test_a_wide_character_does_not_stand_across_the_edge() -> None:
    assert shown(make("123456789世x", columns=10))[:2] == ["123456789", "世x"]


def test_half_of_a_wide_character_is_never_left() -> None:
    assert shown(make("世界\x1b[1;2HX"))[0] == " X界"
    assert shown(make("世界\x1b[1;1HX"))[0] == "X 界"
    assert shown(make("a世界\x1b[1;3H\x1b[1P"))[0] == "a 界"


def test_a_cell_does_not_grow_without_end() -> None:
    screen = make("a" + "\u0301" * 10_000 + "b")
    assert len(screen.display[0].rstrip()) < 80


def test_the_classes_of_narrow_and_of_wide_characters_are_right() -> None:
    narrow = [chr(code) for code in range(0x20, 0x30000) if NARROW.fullmatch(chr(code))]
    wide = re.findall(f"[{WIDE_CLASS}]", "".join(map(chr, (*range(0x20, 0xD800), *range(0xE000, 0x30000)))))
    assert len(narrow) > 2000
    assert len(wide) > 20_000
    assert {cell_width(character) for character in narrow} == {1}
    assert {cell_width(character) for character in wide} == {2}
    assert all(clean(character) == character for character in narrow + wide)
    assert not any("\U0001f3fb" <= character <= "\U0001f3ff" for character in wide)  # skin tones join


# --- any input ----------------------------------------------------------------------------------------

FRAGMENTS = st.sampled_from(
    [
        "\x1b[", "\x1b]", "\x1bP", "\x1b_", "\x1b", "\x9b", ";", ":", "?", ">", "!", "$", " ", "\x18", "\x07",
        "\x1b\\", "0", "1", "38;5;", "99999999999", "m", "H", "J", "K", "L", "M", "P", "@", "S", "T", "r", "h", "l",
        "b", "X", "n", "2;4r", "?1049h", "?1049l", "?6h", "?7l", "4h", "(0", "\x0e", "\x0f", "\n", "\r", "\t", "\b",
        "世", "\u0301", "\u200d", "👩", "💻", "abc", "lqqk", "\x1b[44m", "\x1bc", "\x1b7", "\x1b8", "\x1bM",
        "\x1bD", "\x1b#8", "20h",
    ]
)  # fmt: skip


@given(st.lists(FRAGMENTS, max_size=60).map("".join), st.data())
def test_any_sequences_in_any_pieces(text: str, data: st.DataObject) -> None:
    raw = text.encode()
    cut = data.draw(st.integers(0, len(raw)))
    whole, parts = make(raw, 12, 6), TerminalScreen(12, 6, 100)
    parts.feed(raw[:cut])
    parts.feed(raw[cut:])
    assert parts.display == whole.display
    assert parts.frame() == whole.frame()
    assert parts.responses == whole.responses
    assert all(len(line.text) == len(line.styles) == 12 for line in whole.grid)
    assert 0 <= whole.cursor.x <= 12
    assert not any(has_hidden(text) for text in texts(whole.frame().rows))


@given(st.binary(max_size=400))
def test_any_bytes(data: bytes) -> None:
    screen = make(data, 12, 6)
    assert len(screen.frame().rows) == 6
    screen.feed(b"\x18\x1bc\x1b[Hok")
    assert shown(screen)[0] == "ok"


@pytest.mark.parametrize(
    "data",
    [
        b"\x1b[" + b"9" * 1_000_000 + b"C",
        b"\x1b[" + b"1;" * 500_000 + b"m",
        b"\x1b]0;" + b"x" * 3_000_000,
        b"\x1bP" + b"x" * 3_000_000,
        b"\x1b[999999999S\x1b[999999999T\x1b[999999999@\x1b[999999999L\x1b[999999999Ix\x1b[999999999b",
        b"x" * 3_000_000,
        b"\0" * 1_000_000,
        b"\x1b[?" + b"25;" * 100_000 + b"h",
    ],
    ids=["number", "parameters", "osc", "dcs", "counts", "line", "nul", "modes"],
)
def test_huge_input_is_bounded(data: bytes) -> None:
    screen = make(data)
    held = sum(map(len, screen._parser._string)) + len(screen._parser._parameters)
    assert held <= 64 * 1024 + 256
    screen.feed(b"\x18\x1bc\x1b[Hok")
    assert shown(screen)[0] == "ok"


# --- text for the model -------------------------------------------------------------------------------


def test_screen_text_joins_what_was_wrapped() -> None:
    screen = make("x" * 45 + "  \r\n\r\nend   \r\n", columns=20, lines=3)
    assert screen_text(screen_lines(screen)) == "x" * 45 + "\n\nend"


def test_log_text_removes_what_is_no_text() -> None:
    raw = b"\x1b]0;t\x07\x1b[1mbold\x1b[0m\r\n10%\r50%\r100%\r\nbad \xff \x1b_x\x1b\\end\n\n"
    assert log_text(raw) == "bold\n100%\nbad \ufffd end"


OUTPUT = st.lists(
    st.sampled_from(
        [
            *(
                "a",
                " ",
                " \x0b",
                "\xa0\x85",
                "word " * 9,
                "é日🙂" * 3,
                "\n",
                "\r\n",
                "\r",
                "\t",
                "\x07",
                "\x1b",
                "\\",
                "\x9b",
            ),
            *("\x1b[31m", "\x1b[K", "\x1b[2J", "\x1b]0;a\ntitle\x07", "\x1bPq", "\x1b\\", "\x1b(B"),
        ]
    ).map(str.encode)
    | st.binary(max_size=3),
    max_size=60,
).map(b"".join)


@given(OUTPUT)
def test_output_is_the_same_text_however_it_is_cut(data: bytes) -> None:
    whole = log_text(data), plain_text._plays(data)
    lines = plain_text._SEQUENCE.sub("", data.decode("utf-8", "replace")).replace("\r\n", "\n").split("\n")
    states = [line.rstrip("\r").rpartition("\r")[2].rstrip() for line in lines]
    assert whole[0] == make_visible("\n".join(states)).rstrip("\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_text, "_PIECE", 7)
        patch.setattr(plain_text, "_LONGEST", 100)
        assert (log_text(data), plain_text._plays(data)) == whole

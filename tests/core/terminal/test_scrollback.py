"""The screen and what left it: scrollback, the alternate screen, other sizes, floods."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from core.contract.frame import CellStyle, WrappedRow
from core.terminal import scrollback
from core.terminal.plain_text import screen_lines, screen_text
from core.terminal.screen import TerminalScreen
from tests.core.terminal.screens import make, shown, texts


def test_scrollback_keeps_the_newest_lines_styled() -> None:
    screen = make("".join(f"\x1b[3{n % 8}m{n}\x1b[0m\r\n" for n in range(300)), scrollback=50)
    assert len(screen.history) == 50
    rows = list(screen.history.rows(0, 1000))
    assert texts(rows)[-1] == "295"
    assert rows[-1][0].style == CellStyle(fg="7")
    assert list(screen.history.rows(10, 12)) == rows[10:12]
    assert list(screen.history.rows(60, 70)) == []


def test_the_alternate_screen_leaves_the_main_one_alone() -> None:
    screen = make("main\x1b[?1049h\x1b[Hother\r\n" + "x\r\n" * 50)
    assert screen.frame().alternate
    assert len(screen.history) == 0
    screen.feed("\x1b[?1049l!")
    assert shown(screen)[0] == "main!"


def test_clear_with_scrollback() -> None:
    screen = make("x\r\n" * 20 + "\x1b[H\x1b[2J\x1b[3J")
    assert len(screen.history) == 0
    assert shown(screen) == [""] * 5


def test_wrapped_lines_are_wrapped_anew() -> None:
    screen = make("abcdefghij" * 3 + "\r\nshort\r\n$ ", columns=20)
    screen.resize(10, 5)
    assert shown(screen) == ["abcdefghij", "abcdefghij", "abcdefghij", "short", "$"]
    assert (screen.cursor.x, screen.cursor.y) == (2, 4)
    screen.resize(40, 5)
    assert shown(screen)[:3] == ["abcdefghij" * 3, "short", "$"]
    assert (screen.cursor.x, screen.cursor.y) == (2, 2)


@pytest.mark.parametrize(
    ("size", "wanted", "cursor"),
    [
        (30, ["abcdefghijabcdefghijXY"], (22, 0)),
        (20, ["abcdefghijabcdefghij", "XY"], (2, 1)),
        (10, ["abcdefghij", "abcdefghij", "XY"], (2, 2)),
        (8, ["abcdefgh", "ijabcdef", "ghijXY"], (6, 2)),
    ],
)
def test_what_follows_a_resize_stands_behind_what_was_before(
    size: int, wanted: list[str], cursor: tuple[int, int]
) -> None:
    screen = make("abcdefghij" * 2, columns=20)
    screen.resize(size, 6)
    screen.feed("XY")
    assert shown(screen)[: len(wanted)] == wanted
    assert (screen.cursor.x, screen.cursor.y) == cursor


@pytest.mark.parametrize("erase", ["\r\x1b[K", "\x1b[2K\r", "\r\x1b[J"])
def test_a_line_that_was_blanked_no_longer_goes_on_from_the_one_above(erase: str) -> None:
    screen = make("x" * 25 + erase + "next", columns=20)
    assert screen_text(screen_lines(screen)) == "x" * 20 + "\nnext"


def test_a_smaller_screen_pushes_lines_up_and_a_larger_one_takes_them_back() -> None:
    screen = make("1\r\n2\r\n3\r\n4\r\n5")
    screen.resize(20, 2)
    assert shown(screen) == ["4", "5"]
    assert texts(list(screen.history.rows(0, 9))) == ["1", "2", "3"]
    screen.resize(20, 4)
    assert shown(screen) == ["2", "3", "4", "5"]
    assert screen.cursor.y == 3


def test_resizing_behind_a_full_screen_program() -> None:
    screen = make("abcdefghijklmnopqrst$ \x1b[?1049h\x1b[Hfull")
    screen.resize(10, 4)
    assert shown(screen)[0] == "full"
    screen.feed("\x1b[?1049l")
    assert shown(screen)[:3] == ["abcdefghij", "klmnopqrst", "$"]


def test_of_many_sizes_in_a_row_the_last_counts_for_what_follows() -> None:
    flood = "".join(f"{n} {'x' * 30}\r\n" for n in range(200))
    noted, resized = make("", 40, 6, 1000), make("", 40, 6, 1000)
    noted.feed(flood, hold=True)
    for size in ((1, 1), (300, 80), (13, 5)):
        assert noted.note_size(*size) == size
    assert noted.note_size(0, 2000) == (1, 1000)
    noted.note_size(13, 5)
    resized.feed(flood)
    resized.resize(13, 5)
    assert noted.frame().rows == resized.frame().rows
    assert (noted.frame().columns, noted.frame().lines) == (13, 5)
    noted.note_size(60, 9)
    noted.feed("\x1b[9;60Hend")
    resized.resize(60, 9)
    resized.feed("\x1b[9;60Hend")
    for screen in (noted, resized):
        while screen.rewrap_more(1.0):
            pass
    assert noted.frame() == resized.frame()
    assert (noted.frame().columns, noted.frame().lines) == (60, 9)


@pytest.mark.parametrize("sizes", [[(30, 2), (20, 40)], [(20, 2), (20, 40)]])
def test_what_comes_back_from_the_scrollback_is_whole_however_long_wrapping_takes(
    monkeypatch: pytest.MonkeyPatch, sizes: list[tuple[int, int]]
) -> None:
    monkeypatch.setattr(scrollback, "_REWRAP_SECONDS", 0.0)
    lines = [f"{n:02} {'abcdefghij' * 3}" for n in range(40)]
    screen = make("\r\n".join(lines), columns=40, lines=40)
    for size in sizes:
        screen.resize(*size)
    assert "".join(shown(screen)).endswith("".join(lines[-20:]))


def test_a_wide_character_outlives_a_single_column() -> None:
    screen = make("a日本b\r\n" * 9)
    before = screen_text(screen_lines(screen))
    for columns in (1, 2, 1, 20):
        screen.resize(columns, 5)
        while screen.rewrap_more(1.0):
            pass
        assert screen_text(screen_lines(screen)) == before


@given(
    st.lists(st.tuples(st.integers(1, 60), st.integers(1, 30)), max_size=12), st.text("ab 世\n\x1b[1m", max_size=200)
)
def test_a_storm_of_sizes_breaks_nothing(sizes: list[tuple[int, int]], text: str) -> None:
    screen = make(text.replace("\n", "\r\n") + "\x1b[?1049hx\x1b[?1049l")
    for columns, lines in sizes:
        screen.resize(columns, lines)
        screen.feed("x\r\n\x1b[3;4Hy")
        assert len(screen.display) == len(screen.frame().rows) == lines
        assert all(len(line.text) == len(line.styles) == columns for line in screen.grid)
        assert 0 <= screen.cursor.y < lines


@pytest.mark.parametrize(
    "line",
    [
        "{:6} the quick brown fox jumps over the lazy dog, and then it does it all again, 1 to 99",
        "\x1b[2m{:6}\x1b[0m \x1b[1;32mINFO\x1b[0m \x1b[38;5;208mname\x1b[0m took \x1b[48;2;9;9;9;33m12 ms\x1b[0m",
        "".join(f"\x1b[38;2;{n * 3};{n};77m{n % 10}" for n in range(80)) + "\x1b[m",
        "".join(f"\x1b[38;2;{n * 2};{n};77;48;2;9;{n};{n * 3 % 256}m▀" for n in range(100)) + "\x1b[m",
        "größe {:6} — ½ × 3 µm ┌──────┐ │ 日本 │",
    ],
    ids=["plain", "log", "a colour a cell", "two colours a cell", "other letters"],
)
def test_ten_thousand_lines_take_less_than_twenty_megabytes(line: str) -> None:
    screen = TerminalScreen(100, 24, 1000)
    tracemalloc.start()
    try:
        for n in range(700):
            screen.feed(line.format(n) + "\r\n")  # as they come, and not as a flood
            if n == 200:
                before = tracemalloc.get_traced_memory()[0]
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert len(screen.history) == 700 - 23
    assert grown * 10_000 / 500 < 20_000_000


# --- floods -----------------------------------------------------------------------------------------

LINES = st.one_of(
    st.text("ab \t", max_size=50),
    st.text("é─x", max_size=30),
    st.text("aé世한 \t👍✅", max_size=40),
    st.text("ab", min_size=60, max_size=150),
    st.text("a世\u0301\u200d👩💻🏽🇩", max_size=30),
    st.builds(
        "\x1b[{}m{}\x1b[{}m{}".format,
        st.sampled_from(["31", "44", "1"]),
        st.text("x世\u0301\t", max_size=40),
        st.sampled_from(["0", "42", "39", "49", ""]),
        st.text("yé", max_size=30),
    ),
    st.builds(
        "{}{}{}{}".format,
        st.sampled_from(["", "\x1b[31m", "\x1b[44m", "\x1b[1;38;5;9m", "\x1b[7m"]),
        st.text("xyz", max_size=45),
        st.sampled_from(["", "\x1b[0m", "\x1b[K", "\x1b[m", "\x1b[39m", "\x1b[49m", "\t"]),
        st.text("w", max_size=5),
    ),
    st.sampled_from(
        ["plain", "\x1b[32mok\x1b[0m", "\x1b[42mbg\x1b[0m", "\x1b[42mbg\x1b[K\x1b[0m", "\x1b[44m\x1b[0K\x1b[49m"]
    ),
    st.sampled_from(["\x1b[2Aup", "世", "\x1b[?25l", "\x1b[10C", "\x1b7"]),
)


@given(
    st.lists(LINES, min_size=20, max_size=80),
    st.sampled_from(["", "start ", "\x1b[3;3H", "\x1b[2;5r", "\x1b[42m", "\x1b[32m"]),
    st.integers(50, 2000),
)
def test_a_flood_ends_as_if_every_character_had_been_drawn(lines: list[str], before: str, size: int) -> None:
    text = before + "\r\n".join(lines) + "\r\nend"
    fast, slow, held, paused = (TerminalScreen(20, 4, 30) for _ in range(4))
    fast.feed(text)
    for character in text:
        slow.feed(character)
    for at in range(0, len(text), size):
        held.feed(text[at : at + size], hold=True)
    rest = text
    while rest:
        rest = paused.feed(rest, hold=True, seconds=0.0)
    for screen in (fast, held, paused):
        assert screen.frame() == slow.frame()
        assert list(screen.history.rows(0, 99)) == list(slow.history.rows(0, 99))
        assert screen_text(screen_lines(screen)) == screen_text(screen_lines(slow))
        assert screen.history.total == slow.history.total


@pytest.mark.parametrize(
    "before", ["", "start ", "\x1b[3;7H", "\x1b[2;4r", "\x1b[42m", "\x1b[?1049h", "\x1b[?7l", "\x1b[4h"]
)
@pytest.mark.parametrize("size", [161, 179, 180, 181, 199, 200, 700])
def test_a_line_longer_than_the_screen_ends_as_if_every_character_had_been_drawn(before: str, size: int) -> None:
    text = f"top\r\n{before}\x1b[31m{'abcdé' * (size // 5)}{'x' * (size % 5)}\x1b[2b\r\nend"
    fast, slow = TerminalScreen(20, 4, 30), TerminalScreen(20, 4, 30)
    fast.feed(text)
    for character in text:
        slow.feed(character)
    assert fast.frame() == slow.frame()
    assert list(fast.history.rows(0, 99)) == list(slow.history.rows(0, 99))
    assert screen_text(screen_lines(fast)) == screen_text(screen_lines(slow))


def test_a_flood_takes_the_short_way() -> None:
    screen = TerminalScreen(20, 4, 30)
    screen.feed("".join(f"\x1b[32m{n}\x1b[0m\r\n" for n in range(1000)), hold=True)
    assert all(line.is_blank for line in screen.grid)
    assert texts(list(screen.history.rows(0, 99)))[-1] == "996"
    screen.settle()
    assert shown(screen) == ["997", "998", "999", ""]
    assert texts(list(screen.history.rows(0, 99)))[-1] == "996"


@pytest.mark.parametrize("before", ["\x1b[2;3r", "\x1b[?1049h", "\x1b[4h", "\x1b[?7l"])
def test_what_no_short_way_is_for_is_left_when_the_time_is_over(before: str) -> None:
    screen = make(before)
    assert len(screen.feed("abc\r\n" * 4000, hold=True, seconds=0.0)) > 10_000


def test_a_flood_with_tabs_takes_the_short_way_after_other_sizes() -> None:
    screen = make("", columns=40, lines=4)
    for columns in (80, 30, 100):
        screen.resize(columns, 4)
        screen.feed("a\tb\r\n" * 1000, hold=True)
        assert all(line.is_blank for line in screen.grid)
        assert screen.frame().rows[2][0].text.rstrip() == "a       b"
    screen.feed("\x1b[H" + "\t" * 9 + ".\t.")
    assert screen.frame().rows[0][0].text.index(".", 73) == 80


# --- the scrollback at another width ------------------------------------------------------------------


@given(
    st.lists(LINES.filter(lambda line: "up" not in line), min_size=5, max_size=40),
    st.lists(st.integers(1, 60), min_size=1, max_size=4),
)
def test_older_lines_are_wrapped_anew_and_lose_nothing(lines: list[str], widths: list[int]) -> None:
    screen = TerminalScreen(20, 4, 10_000)
    screen.feed("\r\n".join(lines) + "\r\nend")
    before = screen_text(screen_lines(screen))
    for width in widths:
        screen.resize(width, 4)
        while screen.history.rewrap_more(1.0):
            pass
        rows = screen.history.rows(0, len(screen.history))
        assert max((sum(cell_len(span.text) for span in row) for row in rows), default=0) <= max(2, width)
        assert screen_text(screen_lines(screen)) == before


def test_blanks_where_a_line_was_wrapped_are_kept() -> None:
    text = "123456789 " * 7 + "世" * 9 + " end"
    screen = make("top\r\n" + text + "\r\n" + "\r\n" * 9, columns=11)
    assert text in screen_text(screen_lines(screen))
    for width in (7, 30, 3, 2, 200):
        screen.resize(width, 5)
        while screen.history.rewrap_more(1.0):
            pass
        assert text in screen_text(screen_lines(screen))
    assert text in texts(list(screen.history.rows(0, 9)) + list(screen.frame().rows))


def test_wrapping_anew_takes_its_time_in_pieces() -> None:
    screen = TerminalScreen(80, 4, 3000)
    screen.feed("".join(f"{n:05} {'word ' * 12}\r\n" for n in range(1000)))
    screen.resize(20, 4)
    while screen.history.rewrap_more(0):  # at least one line a turn
        screen.feed("new\r\n")  # what comes in meanwhile stays as it is
    rows = texts(list(screen.history.rows(0, 3000)))
    assert len(rows) == 3000
    assert max(map(len, rows)) <= 20


def test_lines_with_many_styles_are_the_same_after_all() -> None:
    screen = TerminalScreen(80, 24, 2000)
    screen.feed("".join(f"\x1b[38;2;{n * 3};{n};7m{chr(97 + n % 26)}" for n in range(79)) + "\x1b[0m世x\r\n")
    before = screen.frame().rows[:2]
    screen.feed("\r\n" * 30)
    assert tuple(screen.history.rows(0, 2)) == before
    assert type(before[0]) is type(screen.history.rows(0, 1)[0]) is WrappedRow
    assert list(screen.history.texts())[0] == ("".join(span.text for span in before[0]), True)

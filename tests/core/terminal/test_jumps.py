"""Programs that draw all over the screen: what is done at once is what the parser does character by character."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.terminal.screen import TerminalScreen

_JUMPS = st.builds("\x1b[{};{}H".format, st.integers(0, 12), st.integers(0, 30))
_ODD_JUMPS = st.sampled_from(
    ("\x1b[007;0009H", "\x1b[99999;1H", f"\x1b[1;{'9' * 5000}H", "\x1b[;3H", "\x1b[4H", "\x1b[H")
)
_STYLES = st.sampled_from(
    ("\x1b[31m", "\x1b[0m", "\x1b[1;44m", "\x1b[m", "\x1b[38;5;99m", "\x1b[7m", "\x1b[38;2;1;2;3m")
)
_TEXTS = st.sampled_from(("a", "abcdef", "x" * 30, "│──┐", "31mabc", "", "日本", "e\u0301", "\tq", "\r\n", "#" * 90))
_OTHERS = st.sampled_from(
    (
        "\x1b[K",
        "\x1b[2J",
        "\x1b[?6h",
        "\x1b[?6l",
        "\x1b[3;8r",
        "\x1b[r",
        "\x1b[4h",
        "\x1b[4l",
        "\x1b7",
        "\x1b8",
        "\x1b(0",
    )
    + ("\x1b(B", "\x1b[b", "\x1b[3b", "\x1b]0;a title", "\x07", "\x1b\\", '\x1b[1"q', '\x1b[0"q', "\x1b[3L", "\x1b")
    + ("\x1b[?1049h", "\x1b[?1049l", "\x1b[?7l", "\x1b[?7h", "\x1b[2@", "\x1b[P", "\x1bM", "\x1bc", "\x1bP+q", "\x1b[5")
)
_OUTPUT = st.lists(st.one_of(_JUMPS, _JUMPS, _JUMPS, _STYLES, _TEXTS, _TEXTS, _ODD_JUMPS, _OTHERS), max_size=60)


@given(_OUTPUT, _OUTPUT)
def test_whole_output_gives_the_same_screen_as_single_characters(first: list[str], second: list[str]) -> None:
    whole, single = TerminalScreen(20, 8), TerminalScreen(20, 8)
    for pieces in (first, second):
        whole.feed("".join(pieces))
        for character in "".join(pieces):
            single.feed(character)
        assert whole.frame() == single.frame()
        assert whole.history.rows(0, len(whole.history)) == single.history.rows(0, len(single.history))


def test_only_lines_that_were_written_to_are_dirty() -> None:
    screen = TerminalScreen(20, 8)
    screen.dirty.clear()
    screen.feed("\x1b[3;1Hx\x1b[5;1H\x1b[31m\x1b[7;2Hy")
    assert screen.dirty == {2, 6}


def test_what_repeats_itself_does_not_pile_up() -> None:
    screen = TerminalScreen(20, 8)
    for number in range(20_000):
        screen.feed(f"\x1b[1;1H{number}")
    assert sum(8 + len(cells) for _, _, cells, _ in screen.pens.plain.writes.values()) <= 16_500
    assert screen.frame().rows[0][0].text == "19999"

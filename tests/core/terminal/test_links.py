"""Links of OSC 8: who looks can be told where a text leads, also after it has scrolled by or was wrapped anew."""

from __future__ import annotations

import pytest

from core.contract.frame import Row
from core.terminal.screen import TerminalScreen

ADDRESS = "https://example.org/a?b=c&d;e:f#g%20h~"


def linked(text: str, address: str = ADDRESS, end: str = "\x1b\\") -> str:
    return f"\x1b]8;;{address}{end}{text}\x1b]8;;{end}"


def links(row: Row) -> list[tuple[str, str]]:
    return [(span.text, span.style.link) for span in row]


def make(text: str, columns: int = 40, lines: int = 5) -> TerminalScreen:
    screen = TerminalScreen(columns, lines)
    screen.feed(text)
    return screen


@pytest.mark.parametrize("end", ["\x07", "\x1b\\"])
def test_the_text_knows_where_it_leads(end: str) -> None:
    screen = make(f"see {linked('here', end=end)} and \x1b]8;id=7;http://two/{end}there")
    assert links(screen.frame().rows[0]) == [("see ", ""), ("here", ADDRESS), (" and ", ""), ("there", "http://two/")]


def test_colours_change_within_a_link_and_a_reset_ends_it() -> None:
    screen = make(f"\x1b]8;;{ADDRESS}\x1b\\\x1b[31mred\x1b[1mbold\x1b[39mplain\x1b[0mend")
    row = screen.frame().rows[0]
    assert [(span.text, span.style.fg, span.style.bold, bool(span.style.link)) for span in row] == [
        ("red", "1", False, True),
        ("bold", "1", True, True),
        ("plain", "", True, True),
        ("end", "", False, False),
    ]


@pytest.mark.parametrize(
    "address",
    [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://",
        "https://a b",
        "http://ä",
        "x",
        "https://" + "y" * 5000,
    ],
)
def test_other_addresses_are_not_taken(address: str) -> None:
    assert links(make(linked("text", address)).frame().rows[0]) == [("text", "")]


@pytest.mark.parametrize("digits", ["", "1", "7", "999999", "00" * 30, "1" * 50_000])
def test_what_a_program_makes_of_our_own_parameter_is_no_link(digits: str) -> None:
    assert links(make(f"\x1b[1008:{digits}mtext").frame().rows[0]) == [("text", "")]


def test_erased_cells_lead_nowhere() -> None:
    screen = make(f"\x1b]8;;{ADDRESS}\x1b\\text\x1b[44m\x1b[2Ka")
    assert links(screen.frame().rows[0]) == [(" " * 4, ""), ("a", ADDRESS), (" " * 35, "")]


def test_links_stay_in_the_scrollback_and_when_it_is_wrapped_anew() -> None:
    screen = make(linked("a linked text that is wrapped", "http://one/") + " \x1b[1mend\r\n", columns=12, lines=2)
    screen.feed("".join(f"{number}\r\n" for number in range(9)))
    assert links(screen.history.rows(0, 3)[1]) == [("t that is wr", "http://one/")]
    screen.resize(60, 2)
    assert links(screen.history.rows(0, 1)[0])[:2] == [("a linked text that is wrapped", "http://one/"), (" ", "")]


def test_links_are_the_same_however_the_output_is_cut() -> None:
    text = "".join(f"{number} {linked(f'item {number}', f'http://host/{number % 7}')}\r\n" for number in range(300))
    whole, pieces = make(text), make("")
    for at in range(0, len(text), 5):
        pieces.feed(text[at : at + 5])
    assert whole.frame().rows == pieces.frame().rows
    assert list(whole.history.rows(0, 400)) == list(pieces.history.rows(0, 400))
    assert links(whole.history.rows(3, 4)[0]) == [("3 ", ""), ("item 3", "http://host/3")]

"""The lines of a terminal: found, selected and copied."""

from __future__ import annotations

from collections.abc import Sequence

from core.contract.frame import Row, Span, TerminalFrame, WrappedRow
from core.terminal.screen import TerminalScreen
from widgets.shell.anchor import Anchor
from widgets.shell.lines import Selection, TerminalLines, occurrences
from widgets.shell.reader import Outcome, Reader


class Lines:
    gone = 5

    def __init__(self, *texts: str) -> None:
        self.all: list[Row] = [(Span(text),) for text in texts]

    def __len__(self) -> int:
        return len(self.all)

    def rows(self, start: int, stop: int) -> Sequence[Row]:
        return self.all[max(0, start) : max(0, stop)]

    def wraps(self, start: int, stop: int) -> Sequence[bool]:
        return [isinstance(row, WrappedRow) for row in self.rows(start, stop)]


def make(alternate: bool = False) -> TerminalLines:
    screen = (WrappedRow((Span("x" * 20),)), (Span("yy  z"),), (Span("世界 wide"),))
    old = Lines(*(f"old {number}" for number in range(10)))
    return TerminalLines(TerminalFrame(20, 3, screen, history=10, scrolled=15, alternate=alternate), old)


def test_lines_are_numbered_from_the_first_that_ever_left_the_screen() -> None:
    lines = make()
    assert (lines.first, lines.screen, lines.stop) == (5, 15, 18)
    assert [row[0].text for row in lines.rows(0, 100)][:2] == ["old 0", "old 1"]
    assert [row[0].text for row in lines.rows(14, 16)] == ["old 9", "x" * 20]
    assert make(alternate=True).first == 15


def test_copied_text_has_no_breaks_where_lines_were_wrapped() -> None:
    lines = make()
    assert lines.text(Selection((14, 0), (16, 19))) == "old 9\n" + "x" * 20 + "yy  z"
    assert lines.text(Selection((16, 1), (14, 4))) == "9\n" + "x" * 20 + "yy"
    assert lines.text(Selection((17, 0), (17, 1))) == "世"
    assert lines.text(lines.word((17, 6))) == "wide"
    assert lines.text(Selection((0, 0), (5, 19))) == "old 0"


def test_search_goes_round() -> None:
    lines = make()
    assert lines.find("old", 17, older=True) == 14
    assert lines.find("old 3", 6, older=True) == 8
    assert lines.find("old 9", 14, older=False) == 14
    assert lines.find("OLD", 17, older=True) is None
    assert lines.find("wide", 5, older=False) == 17


def test_occurrences_are_columns() -> None:
    assert occurrences((Span("世 a"), Span("A")), "a") == [(3, 4), (4, 5)]
    assert occurrences((Span("aaa"),), "") == []


def test_the_reader_moves_by_lines_and_pages() -> None:
    reader = Reader(make(), 3)
    assert (reader.line, reader.top) == (17, 15)
    reader.press("up", None)
    assert (reader.line, reader.top) == (16, 15)
    reader.press("pageup", None)
    assert (reader.line, reader.top) == (14, 13)
    reader.press("g", "g")
    assert (reader.line, reader.top) == (5, 5)
    reader.press("upper_g", "G")
    assert (reader.line, reader.top) == (17, 15)
    assert reader.press("q", "q") is Outcome.LEAVE


def test_escape_ends_one_thing_after_the_other() -> None:
    reader = Reader(make(), 3)
    reader.press("slash", "/")
    reader.press("a", "a")
    assert reader.note == "search: a▏"
    assert reader.press("escape", None) is Outcome.STAY
    reader.press("v", "v")
    assert reader.press("escape", None) is Outcome.STAY
    assert reader.press("escape", None) is Outcome.LEAVE


def lines_of(screen: TerminalScreen) -> TerminalLines:
    return TerminalLines(screen.frame(), screen.history)


def text_at(lines: TerminalLines, top: int) -> str:
    return "".join(span.text for row in lines.rows(top, top + 3) for span in row)


def test_a_view_stays_at_its_text_while_lines_are_wrapped_anew_and_others_come() -> None:
    screen = TerminalScreen(60, 6, scrollback=100_000)
    screen.feed("".join(f"{number:03} " + "x" * (number % 91) + "\r\n" for number in range(400)))
    anchor = Anchor()
    lines = lines_of(screen)
    top = next(at for at in range(lines.first, lines.screen) if text_at(lines, at).startswith("100 "))
    anchor.stand(lines, top + 40)
    anchor.stand(lines, top)
    screen.feed("before\r\n" * 30)
    assert anchor.follow(lines_of(screen), top) == top
    for columns in (8, 33, 5, 80):
        screen.resize(columns, 4 + columns % 5)
        going = True
        while going:
            top = anchor.follow(lines_of(screen), top)
            assert text_at(lines_of(screen), top).startswith("100 "), columns
            going = screen.rewrap_more(0.0)
            screen.feed("while it goes on\r\n")
        top = anchor.follow(lines_of(screen), top)
        assert text_at(lines_of(screen), top).startswith("100 "), columns
        assert screen.frame().settled


def test_a_view_in_the_middle_of_a_long_line_stays_there() -> None:
    screen = TerminalScreen(20, 4)
    screen.feed("first\r\n" + "".join(f"<{number:03}>" for number in range(400)) + "\r\n" * 9)
    anchor = Anchor()
    top = next(at for at in range(400) if text_at(lines_of(screen), at).startswith("<200>"))
    anchor.stand(lines_of(screen), top)
    for columns in (10, 40, 20):
        screen.resize(columns, 4)
        while screen.rewrap_more(1.0):
            pass
        top = anchor.follow(lines_of(screen), top)
        assert text_at(lines_of(screen), top).startswith("<200>"), columns


def test_a_view_of_lines_that_are_gone_stands_at_the_oldest_or_at_the_screen() -> None:
    screen = TerminalScreen(20, 4, scrollback=10)
    screen.feed("old\r\n" * 30)
    anchor = Anchor()
    anchor.stand(lines_of(screen), lines_of(screen).first)
    screen.feed("new\r\n" * 30)
    screen.resize(30, 4)
    assert anchor.follow(lines_of(screen), 0) == lines_of(screen).first
    screen.feed("\x1b[3J")
    screen.resize(20, 4)
    assert anchor.follow(lines_of(screen), 0) == lines_of(screen).screen

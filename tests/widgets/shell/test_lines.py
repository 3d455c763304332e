"""The lines of a terminal: found, selected and copied."""

from __future__ import annotations

from collections.abc import Sequence

from core.contract.frame import Row, Span, TerminalFrame, WrappedRow
from widgets.shell.anchor import Anchor
from widgets.shell.lines import Selection, TerminalLines, occurrences
from widgets.shell.reader import Outcome, Reader


class Lines:
    settled = True

    def __init__(self, *texts: str) -> None:
        self.all: list[Row] = [(Span(text),) for text in texts]

    def __len__(self) -> int:
        return len(self.all)

    def rows(self, start: int, stop: int) -> Sequence[Row]:
        return self.all[max(0, start) : max(0, stop)]


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


def wrapped(texts: Sequence[str], columns: int) -> list[Row]:
    """Return lines as a terminal of that width shows them."""
    rows: list[Row] = []
    for text in texts:
        pieces = [text[at : at + columns] for at in range(0, len(text), columns)]
        rows += [WrappedRow((Span(piece),)) for piece in pieces[:-1]] + [(Span(pieces[-1]),)]
    return rows


def lines_of(rows: Sequence[Row], screen: Sequence[Row], columns: int, *, settled: bool = True) -> TerminalLines:
    old = Lines()
    old.all, old.settled = list(rows), settled
    frame = TerminalFrame(columns, 4, tuple(screen), history=len(rows), scrolled=len(rows), cursor_line=len(screen) - 1)
    return TerminalLines(frame, old)


def test_a_view_stays_at_its_text_when_the_lines_are_wrapped_anew() -> None:
    anchor = Anchor()
    texts = [f"{number:03} " + "x" * (number % 37) for number in range(300)]
    wide, narrow = wrapped(texts, 30), wrapped(texts, 8)
    top = wide.index((Span(texts[100]),))
    anchor.stand(lines_of(wide, [(Span("prompt"),)], 30), top + 40)
    anchor.stand(lines_of(wide, [(Span("prompt"),)], 30), top)
    more = lines_of([*wide, (Span("more"),)], [(Span("prompt"),)], 30)
    assert anchor.follow(more, top) == top
    assert anchor.follow(lines_of(wide, [(Span("more"),), (Span("prompt"),)], 30), top) == top

    # the newest are wrapped first; a line of the screen goes to the scrollback, too
    end = [WrappedRow((Span("pro"),)), (Span("mpt"),)]
    half = [*wrapped(texts[:150], 30), *wrapped(texts[150:], 8), (Span("more"),)]
    assert half[anchor.follow(lines_of(half, end, 8, settled=False), top)] == (Span(texts[100]),)
    whole = lines_of([*narrow, (Span("more"),)], end, 8)
    place = anchor.follow(whole, top)
    assert narrow[place][0].text == texts[100][:8]
    assert not isinstance(narrow[place - 1], WrappedRow)

    # then it goes on as ever
    assert anchor.follow(whole, place) == place
    anchor.stand(whole, place + 3)
    assert anchor.follow(whole, place + 3) == place + 3


def test_a_view_far_back_or_pushed_out_stands_at_its_number() -> None:
    anchor = Anchor()
    rows = wrapped(["x" * 20] * 5000, 10)
    lines = lines_of(rows, [(Span("prompt"),)], 10)
    anchor.stand(lines, 5)
    assert anchor.follow(lines_of(rows[:5000], [(Span("prompt"),)], 20), 5) == 5

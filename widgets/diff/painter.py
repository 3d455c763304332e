"""Turns the rows of a review into strips: signs, numbers, syntax colours and word marks on the line's own ground."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from core.contract.diff import DiffLine, Hunk
from widgets.common.cells import count_cells, end_of_row
from widgets.diff.highlight import LineTints
from widgets.diff.proposal import Proposal
from widgets.diff.rows import EndRow, FoldRow, HeadRow, LineRow, NoteRow, PairRow
from widgets.diff.sheet import CONTEXT_ROWS, Sheet
from widgets.diff.shown import show_line

StyleOf = Callable[[str], Style]
_CUT = "\u203a"
_ENDINGS = {"\r\n": "\u240d\u240a", "\r": "\u240d", "\n": "\u240a", "": "\\ no line break at the end"}


class Painter:
    """Paints single lines of a sheet.

    Args:
        style_of: gives the style of a part (`added`, `removed-mark`, `keyword`, …) as the theme has it.
    """

    def __init__(self, sheet: Sheet, proposal: Proposal, style_of: StyleOf) -> None:
        self.sheet = sheet
        self.proposal = proposal
        self.style_of = style_of
        self.old_tints: Sequence[LineTints] = ()
        self.new_tints: Sequence[LineTints] = ()
        self.needle = ""
        self._only_blanks: dict[int, bool] = {}
        self.more_key = "x"
        self.blanks_key = "b"
        self.plain_changes = False
        """Changed lines without syntax colours: sixteen colours have no shades, and green would stand on green."""
        self.quiet: frozenset[int] = frozenset()
        """Hunks of which changes of blanks are hidden."""
        self.hidden: frozenset[int] = frozenset()
        """Those of which nothing else is left."""
        self.shows_endings = False
        """The line break of every changed line: there are several sorts."""

    def paint(self, index: int, part: int, *, hunk: int, cursor: bool, width: int, left: int = 0) -> Strip:
        """Return line `part` of row `index`.

        Args:
            hunk: the current hunk: its rows carry a bar.
            cursor: whether the cursor stands on this row.
            width: of the strip, in cells.
            left: cells of the text that are scrolled out to the left (unwrapped).
        """
        row = self.sheet.rows[index]
        if isinstance(row, FoldRow):
            text = f"  \u22ef {row.count} unchanged line{'s' if row.count != 1 else ''} ({self.more_key} shows more)"
            return self._fill([Segment(text, self.style_of("fold"))], width, "fold")
        if isinstance(row, EndRow):
            text = f"  \u2500\u2500 {show_line(row.text).text} \u2500\u2500"
            return self._fill([Segment(text, self.style_of("fold"))], width, "fold")
        margin = self._margin(row.hunk == hunk, cursor and not part)
        if isinstance(row, HeadRow):
            return self._head(row.hunk, margin, row.hunk == hunk, width)
        if isinstance(row, NoteRow):
            piece = self.sheet.note_pieces(row.text)[part]
            indent = "  \u270e " if not part else "    "
            return self._fill([margin, Segment(indent + piece, self.style_of("note"))], width, "note")
        if isinstance(row, LineRow):
            return self._unified(row, part, margin, width, left)
        return self._split(row, part, margin, width, left)

    def _margin(self, is_current: bool, cursor: bool) -> Segment:
        text = ("\u258c" if is_current else " ") + ("\u25b8" if cursor else " ")
        return Segment(text, self.style_of("context") + self.style_of("cursor"))

    def _head(self, index: int, margin: Segment, is_current: bool, width: int) -> Strip:
        patch = self.proposal.patch
        hunk = patch.hunks[index]
        is_accepted = self.proposal.is_accepted(index)
        box = "[x]" if is_accepted else "[ ]"
        word = "" if is_accepted else "  not accepted"
        if index in self.hidden:
            word += "  only blanks, hidden"
        elif index in self.quiet:
            word += "  changes of blanks hidden"
        elif not hunk.lines:
            word += "  an empty file"
        elif self._changes_only_blanks(hunk):
            word += "  only blanks" if self.sheet.blanks else f"  only blanks ({self.blanks_key} draws them)"
        section = show_line(hunk.section).text
        text = (
            f"{box} {index + 1}/{len(patch.hunks)}  +{hunk.added} \u2212{hunk.removed}{word}"
            f"  @@ -{hunk.old_start},{hunk.old_count} +{hunk.new_start},{hunk.new_count} @@ {section}"
        )
        name = "head-current" if is_current else "head"
        return self._fill([margin, Segment(text, self.style_of(name))], width, name)

    def _changes_only_blanks(self, hunk: Hunk) -> bool:
        """Return whether old and new differ in white space alone, which is hard to see."""
        if hunk.index not in self._only_blanks:
            removed, added = (
                "".join("".join(line.text.split()) for line in hunk.lines if line.tag == tag) for tag in "-+"
            )
            self._only_blanks[hunk.index] = removed == added
        return self._only_blanks[hunk.index]

    def _unified(self, row: LineRow, part: int, margin: Segment, width: int, left: int) -> Strip:
        line, digits = row.line, self.sheet.number_width
        ground = self._ground(line, row.hunk)
        numbers = f"{line.old_number or '':>{digits}} {line.new_number or '':>{digits}} "
        segments = [margin, Segment(numbers if not part else " " * len(numbers), ground + self.style_of("number"))]
        segments += self._text(line, row.hunk, part, left, ground)
        return self._fill(segments, width, ground)

    def _split(self, row: PairRow, part: int, margin: Segment, width: int, left: int) -> Strip:
        segments = [margin]
        for side, line in enumerate((row.left, row.right)):
            if side:
                segments.append(Segment("\u2502", self.style_of("context") + self.style_of("number")))
            segments += self._side(line, bool(side), row.hunk, part, left)
        return self._fill(segments, width, "context")

    def _side(self, line: DiffLine | None, is_new: bool, hunk: int, part: int, left: int) -> list[Segment]:
        digits = self.sheet.number_width
        room = digits + 3 + self.sheet.text_width
        if line is None:
            return [Segment("\u2571" * room, self.style_of("filler"))]
        ground = self._ground(line, hunk)
        number = line.new_number if is_new else line.old_number
        text = f"{number or '':>{digits}} " if not part else " " * (digits + 1)
        segments = [Segment(text, ground + self.style_of("number")), *self._text(line, hunk, part, left, ground)]
        used = sum(cell_len(segment.text) for segment in segments)
        segments.append(Segment(" " * max(0, room - used), ground))
        return segments

    def _ground(self, line: DiffLine, hunk: int) -> Style:
        if hunk >= 0 and line.tag != " " and not self.proposal.is_accepted(hunk):
            return self.style_of("dropped")
        return self.style_of({"+": "added", "-": "removed", " ": "context"}[line.tag])

    def _text(self, line: DiffLine, hunk: int, part: int, left: int, ground: Style) -> list[Segment]:
        """Return sign and text of one part of a line, at most `text_width` + 2 cells."""
        shown, room = self.sheet.shown(line), self.sheet.text_width
        sign = line.tag if line.tag != "-" else "\u2212"
        sign_segment = Segment(sign + " " if not part else "  ", ground)
        if self.sheet.wrap:
            start, stop = self.sheet.part(line, part)
            is_cut = line.tag == " " and part + 1 == CONTEXT_ROWS and stop < len(shown.text)
            if part and start == stop:
                return [sign_segment]
            stop -= is_cut
        else:
            start, stop = _window(shown.text, left, room)
            is_cut = stop < len(shown.text)
        segments = [sign_segment, *self._styled(line, hunk, start, stop, ground)]
        used = cell_len(shown.text[start:stop])
        if is_cut:
            segments.append(Segment(_CUT, self.style_of("fold") + Style(bgcolor=ground.bgcolor)))
        elif stop == len(shown.text) and line.tag != " " and (self.shows_endings or not line.ending):
            mark = f" {_ENDINGS.get(line.ending, '')}"
            segments.append(Segment(set_cell_size(mark, max(0, min(len(mark), room - used))), self.style_of("fold")))
        return segments

    def _styled(self, line: DiffLine, hunk: int, start: int, stop: int, ground: Style) -> list[Segment]:
        """Return the shown text from `start` to `stop` with tints, word marks and search hits."""
        shown = self.sheet.shown(line)
        text = shown.text
        layers: list[tuple[int, int, Style]] = []
        is_live = line.tag == " " or hunk < 0 or self.proposal.is_accepted(hunk)
        if is_live:
            tints = () if self.plain_changes and line.tag != " " else self._tints(line)
            layers += [(shown.index_of(a), shown.index_of(b), self.style_of(kind)) for a, b, kind in tints]
            mark = self.style_of("added-mark" if line.tag == "+" else "removed-mark")
            layers += [(shown.index_of(a), shown.index_of(b), mark) for a, b in line.marks]
        if self.needle:
            layers += [(a, b, self.style_of("match")) for a, b in find_all(self.sheet.searched(line), self.needle)]
        layers = [layer for layer in layers if layer[0] < stop and layer[1] > start]
        if not layers:
            return [Segment(text[start:stop], ground)]
        cuts = sorted({start, stop, *(min(max(at, start), stop) for a, b, _ in layers for at in (a, b))})
        segments = []
        for a, b in pairwise(cuts):
            style = ground
            for first, last, layer in layers:
                if first <= a < last:
                    style += layer
            segments.append(Segment(text[a:b], style))
        return segments

    def _tints(self, line: DiffLine) -> LineTints:
        tints, number = (
            (self.old_tints, line.old_number) if line.new_number is None else (self.new_tints, line.new_number)
        )
        if number is None or number > len(tints):
            return ()
        return tints[number - 1]

    def _fill(self, segments: list[Segment], width: int, ground: Style | str) -> Strip:
        style = self.style_of(ground) if isinstance(ground, str) else ground
        return Strip(segments).adjust_cell_length(width, Style(bgcolor=style.bgcolor))


def find_all(text: str, needle: str) -> list[tuple[int, int]]:
    """Return the ranges of `text` that equal `needle`; case counts only where the needle has capitals."""
    if not needle:
        return []
    if needle == needle.lower() and len(text.lower()) == len(text):
        text = text.lower()
    found = []
    at = text.find(needle)
    while at >= 0:
        found.append((at, at + len(needle)))
        at = text.find(needle, at + len(needle))
    return found


def _window(text: str, left: int, room: int) -> tuple[int, int]:
    """Return the characters (start, stop) of `text` that lie within `room` cells from cell `left` on.

    Where the text goes on beyond, one cell stays free for the sign that says so.
    """
    start = end_of_row(text, 0, left)
    if start < len(text) and count_cells(text[:start]) < left:
        start = end_of_row(text, start, 1, forced=True)  # its first half lies to the left
    stop = end_of_row(text, start, room)
    return start, stop if stop == len(text) else end_of_row(text, start, max(2, room - 1))

"""The usual output, piece by piece between control sequences: styles and text are done in place.

Everything else goes to the parser. The result is the same as if the parser had done it all.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.terminal.grid import Grid
from core.terminal.line import MOST_PENDING
from core.terminal.parser import SEQUENCE, Parser

_SHORT = 24
_MOST_STYLES = 4096


class FastFeed:
    """Feeds a grid and its parser."""

    def __init__(self, grid: Grid, parser: Parser) -> None:
        self._grid = grid
        self._parser = parser
        self._styles: dict[str, tuple[str, str, Sequence[str]]] = {}
        """SGR parameters, the text after them and its cells, by the short pieces that hold both."""

    def feed(self, data: str) -> None:
        """Act on text; it may end anywhere."""
        grid, parser, styles = self._grid, self._parser, self._styles
        pieces = iter(data.split("\x1b["))
        parser.feed(next(pieces))
        touch, split, feed_any = grid.dirty.add, self._split, self._feed_any
        # kept here, written back before anyone else acts and read again after
        cursor, rows, room, state = grid.cursor, grid.grid, grid.room, parser.state
        x, y, pen, last = cursor.x, cursor.y, grid.pen, grid.last_text
        for piece in pieces:
            styled = styles.get(piece) or split(piece)
            if styled is not None and not state:
                head, text, cells = styled
                following = pen.following.get(head)
                stop = x + len(cells)
                if following is not None and stop < room:
                    if not text:
                        pen, last = following, ""
                        continue
                    line = rows[y]
                    made = line.made
                    if not line.wide and (made is not None or len(line.pending) < MOST_PENDING):
                        pen, last = following, text
                        touch(y)
                        line.row = None
                        if made is None:
                            line.pending.append((x, text, pen.style))
                        else:
                            made[x:stop] = cells
                            line.made_styles[x:stop] = [pen.style] * (stop - x)
                        x = stop
                        continue
            cursor.x, cursor.y, grid.pen, grid.last_text = x, y, pen, last
            feed_any(piece)
            cursor, rows, room, state = grid.cursor, grid.grid, grid.room, parser.state
            x, y, pen, last = cursor.x, cursor.y, grid.pen, grid.last_text
        cursor.x, cursor.y, grid.pen, grid.last_text = x, y, pen, last

    def _split(self, piece: str) -> tuple[str, str, Sequence[str]] | None:
        """Return SGR parameters, the plain text after them and its cells, if a piece is made of them."""
        head, final, text = piece.partition("m")
        if not final or not text.isascii() or not text.isprintable():
            return None
        if len(piece) >= _SHORT or len(self._styles) >= _MOST_STYLES:
            return head, text, text
        split = self._styles[piece] = head, text, tuple(text)
        return split

    def _feed_any(self, piece: str) -> None:
        """Act on what follows an `ESC [`."""
        grid, parser = self._grid, self._parser
        if parser.state:
            parser.feed("\x1b[" + piece)
            return
        text = self._act(piece)
        if not text:
            return
        if text.isprintable():
            grid.draw(text)
        else:
            parser.feed(text)

    def _act(self, piece: str) -> str:
        """Act on the sequence that a piece begins with; return the text that is left."""
        grid, parser = self._grid, self._parser
        action = parser.known.get(piece)
        if action is not None:
            action[0](action[1])
            grid.last_text = ""
            return ""
        head, final, text = piece.partition("m")
        following = grid.pen.following.get(head) if final else None
        if following is not None:
            grid.pen, grid.last_text = following, ""
            return text
        found = SEQUENCE.match(piece)
        if found is None:
            parser.feed("\x1b[" + piece)
            return ""
        head, text = found[0], piece[found.end() :]
        if head.endswith("m") and found[2] == head[:-1]:
            grid.pen = grid.pen.after(found[2])
        else:
            control, numbers = parser.known.get(head) or parser.learn(head, *found.groups())
            control(numbers)
        grid.last_text = ""
        return text

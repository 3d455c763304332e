"""The usual output, piece by piece between control sequences: styles, jumps of the cursor and text are done in place.

Everything else goes to the parser. The result is the same as if the parser had done it all.
"""

from __future__ import annotations

from pyte import modes as mo

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
        self._styles: dict[str, tuple[str, str]] = {}
        """SGR parameters and the text after them, by the short pieces that hold both: animations repeat them."""

    def feed(self, data: str) -> None:
        """Act on text; it may end anywhere."""
        grid, parser, act, draw = self._grid, self._parser, self._act, self._grid.draw
        pieces = iter(data.split("\x1b["))
        parser.feed(next(pieces))
        dirty, known, styles = grid.dirty, parser.known, self._styles
        # kept here, written back before anyone else acts and read again after
        cursor, rows, room, state = grid.cursor, grid.grid, grid.room, parser.state
        x, y, pen, last = cursor.x, cursor.y, grid.pen, grid.last_text
        for piece in pieces:
            action = known.get(piece)
            if action is not None and not state:
                control, numbers = action
                if control is None:
                    x, y = numbers
                else:
                    cursor.x, cursor.y, grid.pen, grid.last_text = x, y, pen, last
                    control(numbers)
                    cursor, pen, rows, room = grid.cursor, grid.pen, grid.grid, grid.room
                    x, y = cursor.x, cursor.y
                last = ""
                continue
            styled = styles.get(piece)
            if styled is None:
                head, final, text = piece.partition("m")
                plain = text.isascii() and text.isprintable()
                if final and plain and len(piece) < _SHORT and len(styles) < _MOST_STYLES:
                    styles[piece] = head, text
            else:
                head, text = styled
                plain, final = True, "m"
            following = pen.following.get(head)
            if following is not None and final and not state:
                pen, last = following, text
            else:
                cursor.x, cursor.y, grid.pen, grid.last_text = x, y, pen, last
                text = act(piece)
                cursor, rows, room, state = grid.cursor, grid.grid, grid.room, parser.state
                x, y, pen, last = cursor.x, cursor.y, grid.pen, grid.last_text
                plain = text.isascii() and text.isprintable()
            if not text:
                continue
            stop = x + len(text)
            if plain and stop < room:
                line = rows[y]
                pending = line.pending
                if len(pending) < MOST_PENDING and not line.wide:
                    dirty.add(y)
                    line.row = None
                    pending.append((x, text, pen.style))
                    x, last = stop, text
                    continue
            cursor.x, cursor.y, grid.pen, grid.last_text = x, y, pen, last
            if plain or text.isprintable():
                draw(text)
            else:
                parser.feed(text)
            cursor, rows, room, state = grid.cursor, grid.grid, grid.room, parser.state
            x, y, pen, last = cursor.x, cursor.y, grid.pen, grid.last_text
        cursor.x, cursor.y, grid.pen, grid.last_text = x, y, pen, last

    def _act(self, piece: str) -> str:
        """Let the parser act on what follows an `ESC [`; return the text that is left."""
        grid, parser = self._grid, self._parser
        if parser.state:
            parser.feed("\x1b[" + piece)
            return ""
        head, final, text = piece.partition("H")
        head += final
        action = parser.known.get(head) if final else None
        if action is None:
            found = SEQUENCE.match(piece)
            if found is None:
                parser.feed("\x1b[" + piece)
                return ""
            head, text = found[0], piece[found.end() :]
            if head.endswith("m") and found[2] == head[:-1]:
                grid.pen = grid.pen.after(found[2])
                grid.last_text = ""
                return text
            action = parser.known.get(head) or parser.learn(head, *found.groups())
        control, numbers = action
        if control is None:
            grid.cursor.x, grid.cursor.y = numbers
        else:
            control(numbers)
            if control == grid.go_to and mo.DECOM not in grid.mode:
                parser.known[head] = None, [grid.cursor.x, grid.cursor.y]
        grid.last_text = ""
        return text

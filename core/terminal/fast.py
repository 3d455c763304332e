"""The usual output, piece by piece between control sequences: styles, jumps of the cursor and text are done in place.

Everything else goes to the parser. The result is the same as if the parser had done it all.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyte import modes as mo

from core.terminal.grid import Grid
from core.terminal.line import MOST_PENDING
from core.terminal.parser import SEQUENCE, Parser

_SHORT = 24
_MOST_STYLES = 4096
_NUMBERS = {str(number): number for number in range(1, 1000)}


class FastFeed:
    """Feeds a grid and its parser."""

    def __init__(self, grid: Grid, parser: Parser) -> None:
        self._grid = grid
        self._parser = parser
        self._styles: dict[str, tuple[str, str, tuple[str, ...]]] = {}
        """SGR parameters, the text after them and its cells, by the short pieces that hold both."""

    def feed(self, data: str) -> None:
        """Act on text; it may end anywhere."""
        grid, parser, act, draw = self._grid, self._parser, self._act, self._grid.draw
        pieces = iter(data.split("\x1b["))
        parser.feed(next(pieces))
        touch, jumps, known, styles = grid.dirty.add, parser.jumps, parser.known, self._styles
        # kept here, written back before anyone else acts and read again after
        cursor, rows, room, state = grid.cursor, grid.grid, grid.room, parser.state
        x, y, pen, last = cursor.x, cursor.y, grid.pen, grid.last_text
        cells: Sequence[str]
        for piece in pieces:
            jump = jumps.get(piece)
            if jump is not None and not state:
                x, y = jump
                last = ""
                continue
            styled = styles.get(piece)
            if styled is None:
                action = known.get(piece)
                if action is not None and not state:
                    cursor.x, cursor.y, grid.pen, grid.last_text = x, y, pen, last
                    action[0](action[1])
                    cursor, rows, room = grid.cursor, grid.grid, grid.room
                    x, y, pen, last = cursor.x, cursor.y, grid.pen, ""
                    continue
                head, final, text = piece.partition("m")
                cells, plain = text, text.isascii() and text.isprintable()
                if final and plain and len(piece) < _SHORT and len(styles) < _MOST_STYLES:
                    styles[piece] = head, text, tuple(text)
            else:
                head, text, cells = styled
                plain, final = True, "m"
            following = pen.following.get(head)
            if following is not None and final and not state:
                pen, last = following, text
            else:
                cursor.x, cursor.y, grid.pen, grid.last_text = x, y, pen, last
                text = cells = act(piece)
                cursor, rows, room, state = grid.cursor, grid.grid, grid.room, parser.state
                x, y, pen, last = cursor.x, cursor.y, grid.pen, grid.last_text
                plain = text.isascii() and text.isprintable()
            if not text:
                continue
            stop = x + len(cells)
            if plain and stop < room:
                line = rows[y]
                made = line.made
                if not line.wide and (made is not None or len(line.pending) < MOST_PENDING):
                    touch(y)
                    line.row = None
                    if made is None:
                        line.pending.append((x, text, pen.style))
                    else:
                        made[x:stop] = cells
                        line.made_styles[x:stop] = [pen.style] * (stop - x)
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
        jump = (parser.jumps.get(head + final) or self._find_jump(head)) if final else None
        if jump is not None:
            grid.cursor.x, grid.cursor.y = jump
            grid.last_text = ""
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

    def _find_jump(self, parameters: str) -> tuple[int, int] | None:
        """Return where CUP with a line and a column leads, and remember it; none where it depends on more."""
        grid = self._grid
        line, _, column = parameters.partition(";")
        if mo.DECOM in grid.mode or line not in _NUMBERS or column not in _NUMBERS:
            return None
        jump = min(_NUMBERS[column], grid.columns) - 1, min(_NUMBERS[line], grid.lines) - 1
        self._parser.learn_jump(f"{parameters}H", jump)
        return jump

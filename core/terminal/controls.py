"""What each control function does: tables from its name on the wire to a function on the grid.

Names and parameters after ECMA-48, DEC STD 070 and xterm's ctlseqs. Counts are clamped where they are used.
"""

from __future__ import annotations

from collections.abc import Callable

from pyte import modes as mo

from core.terminal import protection
from core.terminal.grid import Grid

Parameters = list[int]
Control = Callable[[Grid, Parameters], None]


def count_of(parameters: Parameters, at: int = 0) -> int:
    """Return a count: 1 where it was not given or is 0."""
    return (parameters[at] or 1) if len(parameters) > at else 1


def choice_of(parameters: Parameters) -> int:
    """Return a selector: 0 where it was not given."""
    return parameters[0] if parameters else 0


# --- cursor -----------------------------------------------------------------------------------------


def move_up(grid: Grid, parameters: Parameters) -> None:
    """CUU: up, not over the upper margin if it starts below it."""
    limit = grid.top if grid.cursor.y >= grid.top else 0
    grid.cursor.y = max(limit, grid.cursor.y - count_of(parameters))
    grid.cursor.x = grid.at


def move_down(grid: Grid, parameters: Parameters) -> None:
    """CUD: down, not over the lower margin if it starts above it."""
    limit = grid.bottom if grid.cursor.y <= grid.bottom else grid.lines - 1
    grid.cursor.y = min(limit, grid.cursor.y + count_of(parameters))
    grid.cursor.x = grid.at


def move_right(grid: Grid, parameters: Parameters) -> None:
    x = grid.cursor.x + count_of(parameters)
    grid.cursor.x = x if x < grid.columns else grid.columns - 1


def move_left(grid: Grid, parameters: Parameters) -> None:
    x = grid.at - count_of(parameters)
    grid.cursor.x = x if x > 0 else 0


def next_line(grid: Grid, parameters: Parameters) -> None:
    move_down(grid, parameters)
    grid.cursor.x = 0


def previous_line(grid: Grid, parameters: Parameters) -> None:
    move_up(grid, parameters)
    grid.cursor.x = 0


def go_to_column(grid: Grid, parameters: Parameters) -> None:
    grid.cursor.x = min(grid.columns, count_of(parameters)) - 1


def go_to_line(grid: Grid, parameters: Parameters) -> None:
    """VPA: absolute line; with DECOM within the region."""
    first, last = (grid.top, grid.bottom) if mo.DECOM in grid.mode else (0, grid.lines - 1)
    grid.cursor.y = min(last, first + count_of(parameters) - 1)
    grid.cursor.x = grid.at


def line_down(grid: Grid, parameters: Parameters) -> None:
    grid.cursor.y = min(grid.lines - 1, grid.cursor.y + count_of(parameters))
    grid.cursor.x = grid.at


def set_region(grid: Grid, parameters: Parameters) -> None:
    """DECSTBM."""
    top, bottom = count_of(parameters), (parameters[1] if len(parameters) > 1 else 0) or grid.lines
    if top >= min(bottom, grid.lines):
        return
    grid.set_margins(top, bottom)
    grid.go_to([])


# --- tabs -------------------------------------------------------------------------------------------


def tab(grid: Grid, parameters: Parameters) -> None:
    """HT, CHT: to the next tab stops, at most to the last column; a pending wrap stays pending."""
    for _ in range(min(count_of(parameters), grid.columns)):
        if grid.cursor.x >= grid.columns - 1:
            return
        x = grid.cursor.x + 1
        while x < grid.columns - 1 and x not in grid.tabstops:
            x += 1
        grid.cursor.x = x


def tab_back(grid: Grid, parameters: Parameters) -> None:
    grid.cursor.x = grid.at
    for _ in range(min(count_of(parameters), grid.columns)):
        grid.cursor.x = max((stop for stop in grid.tabstops if stop < grid.cursor.x), default=0)


def set_tab(grid: Grid, parameters: Parameters) -> None:
    grid.tabstops.add(grid.at)


def clear_tab(grid: Grid, parameters: Parameters) -> None:
    """TBC: at the cursor (0) or all (3)."""
    if choice_of(parameters) == 0:
        grid.tabstops.discard(grid.at)
    elif choice_of(parameters) == 3:
        grid.tabstops = set()


# --- cells ------------------------------------------------------------------------------------------


def erase_display(grid: Grid, parameters: Parameters) -> None:
    grid.erase_in_display(choice_of(parameters))


def erase_line(grid: Grid, parameters: Parameters) -> None:
    grid.erase_in_line(choice_of(parameters))


def delete_columns(grid: Grid, parameters: Parameters) -> None:
    """DECDC: delete columns at the cursor over the whole region."""
    if grid.top <= grid.cursor.y <= grid.bottom:
        for y in range(grid.top, grid.bottom + 1):
            grid.delete_cells(y, grid.at, count_of(parameters))


def insert_columns(grid: Grid, parameters: Parameters) -> None:
    """DECIC."""
    if grid.top <= grid.cursor.y <= grid.bottom:
        for y in range(grid.top, grid.bottom + 1):
            grid.insert_cells(y, grid.at, count_of(parameters))


def shift_left(grid: Grid, parameters: Parameters) -> None:
    """SL: the region's lines move to the left, if the cursor is in it."""
    if grid.top <= grid.cursor.y <= grid.bottom:
        for y in range(grid.top, grid.bottom + 1):
            grid.delete_cells(y, 0, count_of(parameters))


def shift_right(grid: Grid, parameters: Parameters) -> None:
    """SR."""
    if grid.top <= grid.cursor.y <= grid.bottom:
        for y in range(grid.top, grid.bottom + 1):
            grid.insert_cells(y, 0, count_of(parameters))


# --- C0 and ESC -------------------------------------------------------------------------------------


def carriage_return(grid: Grid) -> None:
    grid.cursor.x = 0


def backspace(grid: Grid) -> None:
    grid.cursor.x = max(0, grid.at - 1)


def shift_out(grid: Grid) -> None:
    grid.shift(1)


def shift_in(grid: Grid) -> None:
    grid.shift(0)


def line_feed(grid: Grid) -> None:
    grid.cursor.x = grid.at if grid.cursor.x < grid.columns else grid.cursor.x
    grid.linefeed()


def index(grid: Grid) -> None:
    grid.index()


def reverse_index(grid: Grid) -> None:
    grid.cursor.x = grid.at
    grid.reverse_index()


def new_line(grid: Grid) -> None:
    grid.index()
    grid.cursor.x = 0


CONTROLS: dict[str, Callable[[Grid], None]] = {
    "\b": backspace,
    "\t": lambda grid: tab(grid, []),
    "\n": line_feed,
    "\x0b": line_feed,
    "\x0c": line_feed,
    "\r": carriage_return,
    "\x0e": shift_out,
    "\x0f": shift_in,
}
ESCAPES: dict[str, Callable[[Grid], None]] = {
    "D": index,
    "E": new_line,
    "H": lambda grid: set_tab(grid, []),
    "M": reverse_index,
    "#8": lambda grid: grid.alignment_display(),
}
SEQUENCES: dict[str, Control] = {
    "@": lambda grid, parameters: grid.insert_characters(count_of(parameters)),
    "A": move_up,
    "B": move_down,
    "C": move_right,
    "D": move_left,
    "E": next_line,
    "F": previous_line,
    "G": go_to_column,
    "I": tab,
    "J": erase_display,
    "K": erase_line,
    "L": lambda grid, parameters: grid.insert_lines(count_of(parameters)),
    "M": lambda grid, parameters: grid.delete_lines(count_of(parameters)),
    "P": lambda grid, parameters: grid.delete_characters(count_of(parameters)),
    "S": lambda grid, parameters: grid.scroll_up(count_of(parameters)),
    "T": lambda grid, parameters: grid.scroll_down(count_of(parameters)),
    "X": lambda grid, parameters: grid.erase_characters(count_of(parameters)),
    "Z": tab_back,
    "`": go_to_column,
    "a": move_right,
    "b": lambda grid, parameters: grid.repeat(count_of(parameters)),
    "d": go_to_line,
    "e": line_down,
    "g": clear_tab,
    "r": set_region,
    "?J": protection.erase_display,
    "?K": protection.erase_line,
    '"q': protection.protect,
    " @": shift_left,
    " A": shift_right,
    "'}": insert_columns,
    "'~": delete_columns,
}
"""CSI functions by prefix, intermediates and final byte."""

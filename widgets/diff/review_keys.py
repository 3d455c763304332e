"""The keys of the review, in the order in which the line of keys offers them."""

from __future__ import annotations

from textual.binding import Binding, BindingType


def _key(keys: str, action: str, label: str, *, show: bool = False, display: str | None = None) -> Binding:
    name = action.partition("(")[0]
    step = action[len(name) :].strip("()").replace("-", "minus_")
    return Binding(keys, action, label, show=show, key_display=display, id=f"review.{name}{'.' + step if step else ''}")


REVIEW_KEYS: list[BindingType] = [
    _key("y,1", "accept", "accept", show=True),
    _key("s,2", "accept_session", "session", show=True),
    _key("p,3", "accept_save", "save rule", show=True),
    _key("P", "save_project", "save for the project", show=True),
    _key("n,4", "deny", "deny", show=True),
    _key("r", "deny_reason", "deny, why", show=True),
    _key("space", "toggle_hunk", "hunk on/off", show=True),
    _key("e", "edit_hunk", "edit", show=True),
    _key("j,down", "next_hunk", "next", show=True),
    _key("k,up", "previous_hunk", "previous"),
    _key("tab,J", "next_file(1)", "file", show=True),
    _key("shift+tab,K", "next_file(-1)", "previous file"),
    _key("c", "accept_note", "accept, note", show=True),
    _key("semicolon", "comment", "comment", show=True, display=";"),
    _key("v", "show_end", "see the end", show=True),
    _key("t", "toggle_split", "split", show=True),
    _key("E", "edit_file", "editor", show=True),
    _key("x", "open_context", "context", show=True),
    _key("slash", "search", "search", show=True, display="/"),
    _key("a", "toggle_file", "whole file on/off"),
    _key("R", "decline_file", "whole file off, why"),
    _key("A", "toggle_everything", "everything on/off"),
    _key("right_square_bracket,shift+down", "move_line(1)", "next line", display="]"),
    _key("left_square_bracket,shift+up", "move_line(-1)", "previous line", display="["),
    _key("V", "start_range", "range of lines (space drops it)"),
    _key("o", "keep_range", "keep only the range"),
    _key("u", "revert_file", "undo your edits of this file"),
    _key("G,end", "go_to_end", "end of the file's changes"),
    _key("g,home", "go_to_start", "start of the file's changes"),
    _key("w", "toggle_wrap", "wrap long lines"),
    _key("X", "open_whole", "whole file on/off"),
    _key("b", "toggle_blanks", "show blanks"),
    _key("B", "toggle_quiet", "hide changes of blanks"),
    _key("escape", "leave", "deny"),
]

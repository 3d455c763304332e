"""Vi's editing of one text: modes, what was yanked, undo and repeat. It is told every key, and holds no text itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from widgets.prompt.vim.command import FINDS, Command, Unfinished, read_command
from widgets.prompt.vim.edits import (
    Edited,
    Register,
    find_span,
    in_case,
    joined,
    overwritten,
    put,
    reached,
    taken,
    toggled,
    whole_lines,
    without,
)
from widgets.prompt.vim.insertion import Change, Insertion, find_inserted, first_difference
from widgets.prompt.vim.motions import (
    MOTIONS,
    Reach,
    find_in_line,
    first_text,
    last_column,
    line_end,
    line_start,
    lines_off,
)
from widgets.prompt.vim.objects import Span, find_object

MAX_UNDO = 200
"""Changes that can be taken back."""
_TO_LINE_END = 1 << 30
"""The column that `$` wants in every line."""

_SHORT = {
    "x": ("d", "l"),
    "X": ("d", "h"),
    "D": ("d", "$"),
    "C": ("c", "$"),
    "Y": ("y", "lines"),
    "s": ("c", "l"),
    "S": ("c", "lines"),
}
_VISUAL = {"x": "d", "s": "c", "R": "c", "u": "gu", "U": "gU", "~": "g~"}
_VISUAL_LINES = {"X": "d", "D": "d", "C": "c", "S": "c", "R": "c", "Y": "y"}
_REPEATED_INSERTS = frozenset("iaIAoO")


class VimMode(StrEnum):
    INSERT = "insert"
    NORMAL = "normal"
    VISUAL = "visual"
    VISUAL_LINE = "visual line"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a key made."""

    text: str
    cursor: int
    wants: str = ""
    """`up` or `down` where the cursor would leave the text; else empty."""


class VimEditing:
    """The state between two keys; it starts in insert mode, as a prompt does."""

    def __init__(self) -> None:
        self.mode = VimMode.INSERT
        self.anchor = 0
        """Where what is selected starts, in the visual modes."""
        self.register = Register()
        self._keys: list[str] = []
        self._insertion = Insertion(Edited("", 0), "", 0)
        self._change: Change | None = None
        self._find: tuple[str, str] | None = None
        self._wanted = 0
        """The column that going up and down keeps to."""
        self._undo: list[Edited] = []
        self._redo: list[Edited] = []

    @property
    def pending(self) -> str:
        """The keys of a command that is not complete."""
        return "".join(key if len(key) == 1 else f"<{key}>" for key in self._keys)

    def restart(self, text: str, cursor: int, *, insert: bool) -> None:
        """Begin with another text: nothing of the former one can be undone or is pending."""
        self._keys.clear()
        self._undo.clear()
        self._redo.clear()
        self._insertion = Insertion(Edited(text, cursor), text, cursor)
        self._wanted = cursor - line_start(text, cursor)
        self.mode = VimMode.INSERT if insert else VimMode.NORMAL

    def note_change(self, before: Edited) -> None:
        """Note that the text was changed from outside, so that it can be undone."""
        self._undo.append(before)
        del self._undo[:-MAX_UNDO]
        self._redo.clear()

    def leave_insert(self, text: str, cursor: int) -> Outcome:
        """Leave insert mode (Esc): the cursor goes back onto a character."""
        insertion = self._insertion
        start, inserted = find_inserted(insertion, text)
        command = insertion.command
        if command is not None:
            self._change = Change(command, inserted, insertion.place - start)
            if command.times > 1 and command.verb in _REPEATED_INSERTS and not command.operator:
                piece = f"\n{inserted}" if command.verb in "oO" else inserted
                text = text[:cursor] + piece * (command.times - 1) + text[cursor:]
                cursor += len(piece) * (command.times - 1)
        if text != insertion.undo.text:
            self.note_change(insertion.undo)
        self.mode = VimMode.NORMAL
        cursor = max(line_start(text, cursor), cursor - 1)
        self._wanted = cursor - line_start(text, cursor)
        return Outcome(text, cursor)

    def select(self, anchor: int) -> None:
        """Take what was selected by other means (a mouse): from `anchor` to the cursor."""
        self.mode, self.anchor = VimMode.VISUAL, anchor

    def escape(self) -> bool:
        """Drop what is pending or selected; return whether there was anything."""
        had = bool(self._keys) or self.mode is not VimMode.NORMAL
        self._keys.clear()
        self.mode = VimMode.NORMAL
        return had

    def press(self, key: str, text: str, cursor: int) -> Outcome | None:
        """Take a key in normal or visual mode; none where it means nothing here."""
        self._keys.append(key)
        command = read_command(self._keys, visual=self.mode is not VimMode.NORMAL)
        if command is Unfinished.PARTIAL:
            return Outcome(text, cursor)
        first = len(self._keys) == 1
        self._keys.clear()
        if not isinstance(command, Command):
            return None if first else Outcome(text, cursor)
        return self._run(command, text, cursor)

    # --- running a command --------------------------------------------------------------------------

    def _run(self, command: Command, text: str, cursor: int) -> Outcome:
        if self.mode is not VimMode.NORMAL:
            outcome = self._run_visual(command, text, cursor)
        elif command.verb == ".":
            outcome = self._repeat(command, text, cursor)
        else:
            outcome = self._run_normal(command, text, cursor)
        if self.mode is VimMode.NORMAL:
            outcome = replace(outcome, cursor=min(outcome.cursor, last_column(outcome.text, outcome.cursor)))
        if command.verb not in ("j", "k") or command.operator:
            at_end = command.verb == "$" and not command.operator
            self._wanted = _TO_LINE_END if at_end else outcome.cursor - line_start(outcome.text, outcome.cursor)
        return outcome

    def _run_normal(self, command: Command, text: str, cursor: int) -> Outcome:
        if command.verb in _SHORT and not command.operator:
            operator, verb = _SHORT[command.verb]
            command = Command(verb, command.count, operator)
        if command.operator:
            return self._operate(command, text, cursor)
        if (moved := self._moved(command, text, cursor)) is not None:
            return moved
        if command.verb in _REPEATED_INSERTS:
            return self._insert(command, text, cursor)
        match command.verb:
            case "u" | "ctrl+r":
                return self._undone(text, cursor, command)
            case "v" | "V":
                self.mode = VimMode.VISUAL if command.verb == "v" else VimMode.VISUAL_LINE
                self.anchor = cursor
                return Outcome(text, cursor)
        return self._changed(command, text, cursor, self._rewritten(command, text, cursor))

    def _rewritten(self, command: Command, text: str, cursor: int) -> Edited | None:
        match command.verb:
            case "p" | "P" if self.register.text or self.register.lines:
                return put(text, cursor, self.register, command.times, before=command.verb == "P")
            case "J":
                return joined(text, cursor, command.times)
            case "~":
                return toggled(text, cursor, command.times)
            case "r":
                return overwritten(text, cursor, command.argument, command.times)
        return None

    def _changed(self, command: Command, text: str, cursor: int, edited: Edited | None) -> Outcome:
        """Take a change in, to be undone and repeated; none changes nothing."""
        if edited is None:
            return Outcome(text, cursor)
        self._change = Change(command)
        if edited.text != text:
            self.note_change(Edited(text, cursor))
        return Outcome(edited.text, edited.cursor)

    # --- moving -------------------------------------------------------------------------------------

    def _moved(self, command: Command, text: str, cursor: int) -> Outcome | None:
        """Return where a motion leads (the cursor stays where it leads nowhere); none for what is no motion."""
        if command.verb in ("j", "k"):
            step = command.times if command.verb == "j" else -command.times
            start = lines_off(text, cursor, step)
            if start is None:
                return Outcome(text, cursor, ("down" if step > 0 else "up") if command.count is None else "")
            return Outcome(text, min(start + self._wanted, last_column(text, start)))
        if command.verb in FINDS or command.verb in (";", ","):
            found = self._found(command, text, cursor)
            return Outcome(text, cursor if found is None else found[0])
        if command.verb not in MOTIONS:
            return None
        target = MOTIONS[command.verb][0](text, cursor, command.count, command.argument)
        return Outcome(text, cursor if target is None else target)

    def _found(self, command: Command, text: str, cursor: int) -> tuple[int, Reach] | None:
        """Return where `f F t T ; ,` lead, and what an operator takes until there."""
        again = command.verb in (";", ",")
        if not again:
            self._find = command.verb, command.argument
        if self._find is None:
            return None
        verb, wanted = self._find
        if command.verb == ",":
            verb = verb.swapcase()
        step = 1 if verb.islower() else -1
        target = find_in_line(step, int(verb in "tT"), text, cursor, command.times, wanted, again)
        return None if target is None else (target, Reach.INCLUSIVE if step > 0 else Reach.EXCLUSIVE)

    # --- operators ----------------------------------------------------------------------------------

    def _operate(self, command: Command, text: str, cursor: int) -> Outcome:
        if command.verb in FINDS or command.verb in (";", ","):
            found = self._found(command, text, cursor)
            span = None if found is None else reached(text, cursor, *found)
        else:
            span = find_span(text, cursor, command)
        if span is None and command.operator == "c" and command.verb in "hlwWeE$}":
            span = Span(cursor, cursor)  # there is nothing to delete, but something to write
        return Outcome(text, cursor) if span is None else self._apply(command, span, text, cursor)

    def _apply(self, command: Command, span: Span, text: str, cursor: int) -> Outcome:
        operator = command.operator
        if operator in ("d", "c", "y"):
            self.register = taken(text, span) if span.stop > span.start or span.lines else self.register
        if operator == "y":
            return Outcome(text, self._kept(command, span, text, cursor))
        if operator == "c":
            left = text[: span.start] + text[span.stop :]
            return self._enter(command, Edited(text, cursor), left, span.start)
        if operator == "d":
            return self._changed(command, text, cursor, without(text, span))
        place = self._kept(command, span, text, cursor)
        return self._changed(command, text, cursor, Edited(in_case(text, span, operator), place))

    def _kept(self, command: Command, span: Span, text: str, cursor: int) -> int:
        """Return where the cursor stands after an operator that deletes nothing: at the start, in lines in its column.

        In lines that is where it was, or where the motion has led, if that is above.
        """
        if not span.lines or command.verb[0] in "ia":
            return span.start
        if command.verb == "lines":
            return cursor if command.operator == "y" else min(cursor, first_text(text, cursor))
        moved = self._moved(replace(command, operator=""), text, cursor)
        return cursor if moved is None else min(cursor, moved.cursor)

    # --- inserting ----------------------------------------------------------------------------------

    def _insert(self, command: Command, text: str, cursor: int) -> Outcome:
        before, place = Edited(text, cursor), cursor
        match command.verb:
            case "a":
                place = min(cursor + 1, line_end(text, cursor))
            case "I":
                place = first_text(text, cursor)
                place += text[place : place + 1] in (" ", "\t")  # nothing but blanks: behind them
            case "A":
                place = line_end(text, cursor)
            case "o":
                place = line_end(text, cursor) + 1
                text = f"{text[: place - 1]}\n{text[place - 1 :]}"
            case "O":
                place = line_start(text, cursor)
                text = f"{text[:place]}\n{text[place:]}"
        return self._enter(command, before, text, place)

    def _enter(self, command: Command, before: Edited, text: str, place: int) -> Outcome:
        self._insertion = Insertion(before, text, place, command)
        self.mode = VimMode.INSERT
        return Outcome(text, place)

    def _repeat(self, again: Command, text: str, cursor: int) -> Outcome:
        change = self._change
        if change is None:
            return Outcome(text, cursor)
        command = replace(change.command, count=again.count or change.command.count)
        outcome = self._run_normal(command, text, cursor)
        if self.mode is VimMode.INSERT:
            place = max(line_start(outcome.text, outcome.cursor), outcome.cursor - change.erased)
            written = outcome.text[:place] + change.inserted + outcome.text[outcome.cursor :]
            outcome = self.leave_insert(written, place + len(change.inserted))
        self._change = replace(change, command=command)
        return outcome

    # --- undo ---------------------------------------------------------------------------------------

    def _undone(self, text: str, cursor: int, command: Command) -> Outcome:
        back, forth = (self._undo, self._redo) if command.verb == "u" else (self._redo, self._undo)
        for _ in range(command.times):
            if not back:
                break
            forth.append(Edited(text, cursor))
            before = text
            text = back.pop().text
            cursor = first_difference(before, text)
        return Outcome(text, min(cursor, len(text)))

    # --- visual -------------------------------------------------------------------------------------

    def selected(self, text: str, cursor: int) -> Span:
        """Return what is selected in a visual mode: the characters under anchor and cursor are part of it."""
        if self.mode is VimMode.VISUAL_LINE:
            return whole_lines(text, self.anchor, cursor)
        low, high = sorted((min(self.anchor, len(text)), cursor))
        return Span(low, min(len(text), high + 1))

    def _run_visual(self, command: Command, text: str, cursor: int) -> Outcome:
        verb = command.verb
        if verb in ("v", "V"):
            mode = VimMode.VISUAL if verb == "v" else VimMode.VISUAL_LINE
            self.mode = VimMode.NORMAL if self.mode is mode else mode
            return Outcome(text, cursor)
        if verb in ("o", "O"):
            self.anchor, cursor = cursor, min(self.anchor, len(text))
            return Outcome(text, cursor)
        if verb[0] in "ia":
            found = find_object(text, cursor, verb, command.times)
            if found is not None:
                self.anchor, cursor = found.start, max(found.start, found.stop - 1)
                self.mode = VimMode.VISUAL_LINE if found.lines else VimMode.VISUAL
            return Outcome(text, cursor)
        if verb not in _VISUAL and (moved := self._moved(command, text, cursor)) is not None:
            return replace(moved, wants="")
        span = self.selected(text, cursor)
        if verb in _VISUAL_LINES:
            span = whole_lines(text, span.start, max(span.start, span.stop - 1))
        self.mode = VimMode.NORMAL
        operator = _VISUAL.get(verb) or _VISUAL_LINES.get(verb) or verb
        if operator in ("d", "c", "y", "gu", "gU", "g~"):
            return self._apply(_like(span, text, operator), span, text, span.start)
        return self._changed_selection(command, span, text, cursor)

    def _changed_selection(self, command: Command, span: Span, text: str, cursor: int) -> Outcome:
        match command.verb:
            case "r":
                old = text[span.start : span.stop]
                new = "".join(each if each == "\n" else command.argument for each in old)
                edited = Edited(text[: span.start] + new + text[span.stop :], span.start)
            case "J":
                found = joined(text, span.start, text.count("\n", span.start, span.stop) + 1)
                edited = found or Edited(text, cursor)
            case _ if not (self.register.text or self.register.lines):
                return Outcome(text, span.start)
            case _:
                edited = self._put_over(span, text)
        change = self._change  # "." would have to know how much was selected
        outcome = self._changed(command, text, cursor, edited)
        self._change = change
        return outcome

    def _put_over(self, span: Span, text: str) -> Edited:
        """Put the register in place of a span, which becomes the register."""
        register, self.register = self.register, taken(text, span)
        body = register.text if span.lines or not register.lines else f"\n{register.text}\n"
        done = text[: span.start] + body + text[span.stop :]
        if register.lines:
            return Edited(done, first_text(done, span.start + (not span.lines)))
        return Edited(done, max(span.start, span.start + len(body) - 1))


def _like(span: Span, text: str, operator: str) -> Command:
    """Return the command that takes as much from the cursor on as a span has, for `.`."""
    if span.lines:
        return Command("lines", text.count("\n", span.start, span.stop) + 1, operator)
    return Command("l", max(1, span.stop - span.start), operator)

"""Vi's editing of one text: modes, what was yanked, undo and repeat. It is told every key, and holds no text itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from widgets.prompt.vim.command import FINDS, Command, Unfinished, read_command
from widgets.prompt.vim.edits import (
    Edited,
    as_lines,
    find_span,
    in_case,
    joined,
    overwritten,
    put,
    reached,
    shifted,
    taken,
    toggled,
    typed_over,
    whole_lines,
    without,
)
from widgets.prompt.vim.insertion import Change, Insertion, find_inserted, first_difference
from widgets.prompt.vim.motions import first_text, last_column, line_end, line_start
from widgets.prompt.vim.moving import Mover
from widgets.prompt.vim.objects import Span, find_object
from widgets.prompt.vim.overtyping import Overtyping
from widgets.prompt.vim.registers import CLIPBOARD, Registers
from widgets.prompt.vim.selection import extent_of, joined_span, overwritten_span, put_over, span_of

MAX_UNDO = 200
"""Changes that can be taken back."""

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
_OPERATORS = ("d", "c", "y", "gu", "gU", "g~", "<", ">")
_FAR = ("%", "{", "}")
_LEAVING = {"ZZ": "leave", "ZQ": "throw away"}
_REPEATED_INSERTS = frozenset("iaIAoO")


class VimMode(StrEnum):
    INSERT = "insert"
    REPLACE = "replace"
    NORMAL = "normal"
    VISUAL = "visual"
    VISUAL_LINE = "visual line"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a key made."""

    text: str
    cursor: int
    wants: str = ""
    """What is not the text's business: `up`, `down` (the cursor would leave the text), `leave`, `throw away`."""
    copied: str = ""
    """What goes to the clipboard."""


class VimEditing:
    """The state between two keys; it starts in insert mode, as a prompt does."""

    def __init__(self) -> None:
        self.mode = VimMode.INSERT
        self.anchor = 0
        """Where what is selected starts, in the visual modes."""
        self.registers = Registers()
        self._over = Overtyping("", 0, Command("R"))
        self._keys: list[str] = []
        self._insertion = Insertion(Edited("", 0), "", 0)
        self._change: Change | None = None
        self._mover = Mover()
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
        self._mover.keep_column(text, cursor)
        self.mode = VimMode.INSERT if insert else VimMode.NORMAL

    def note_change(self, before: Edited) -> None:
        """Note that the text was changed from outside, so that it can be undone."""
        self._undo.append(before)
        del self._undo[:-MAX_UNDO]
        self._redo.clear()

    def leave_insert(self, text: str, cursor: int) -> Outcome:
        """Leave insert or replace mode (Esc): the cursor goes back onto a character."""
        if self.mode is VimMode.REPLACE:
            return self._leave_replace(text, cursor)
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
        return self._back_on_character(text, cursor)

    def _leave_replace(self, text: str, cursor: int) -> Outcome:
        command, typed = self._over.command, self._over.typed
        again = typed * (command.times - 1)
        text = typed_over(text, cursor, again)
        if text != self._over.undo.text:
            self.note_change(self._over.undo)
            self._change = Change(command, typed)
        return self._back_on_character(text, cursor + len(again))

    def _back_on_character(self, text: str, cursor: int) -> Outcome:
        self.mode = VimMode.NORMAL
        cursor = max(line_start(text, cursor), cursor - 1)
        self._mover.keep_column(text, cursor)
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
        """Take a key in normal, visual or replace mode; none where it means nothing here."""
        if self.mode is VimMode.REPLACE:
            return self._type_over(key, text, cursor)
        self._keys.append(key)
        command = read_command(self._keys, visual=self.mode is not VimMode.NORMAL)
        if command is Unfinished.PARTIAL:
            return Outcome(text, cursor)
        first = len(self._keys) == 1
        self._keys.clear()
        if not isinstance(command, Command):
            return None if first else Outcome(text, cursor)
        return self._run(command, text, cursor)

    def _type_over(self, key: str, text: str, cursor: int) -> Outcome | None:
        if key not in ("space", "backspace") and len(key) != 1:
            return None
        character = {"space": " "}.get(key, key)
        over = self._over
        edited = over.erase(text, cursor) if key == "backspace" else over.type(character, text, cursor)
        return Outcome(edited.text, edited.cursor)

    # --- running a command --------------------------------------------------------------------------

    def _run(self, command: Command, text: str, cursor: int) -> Outcome:
        before = self.registers.read(command.register)
        if self.mode is not VimMode.NORMAL:
            outcome = self._run_visual(command, text, cursor)
        elif command.verb == ".":
            outcome = self._repeat(command, text, cursor)
        else:
            outcome = self._run_normal(command, text, cursor)
        if self.mode is VimMode.NORMAL:
            outcome = replace(outcome, cursor=min(outcome.cursor, last_column(outcome.text, outcome.cursor)))
        if command.register in CLIPBOARD and (now := self.registers.read(command.register)) is not before:
            outcome = replace(outcome, copied=now.text + "\n" * now.lines)
        if command.verb not in ("j", "k") or command.operator:
            at_end = command.verb == "$" and not command.operator
            self._mover.keep_column(outcome.text, outcome.cursor, at_end=at_end)
        return outcome

    def _run_normal(self, command: Command, text: str, cursor: int) -> Outcome:
        if command.extent is not None:
            return self._run_selected(command, span_of(command.extent, text, cursor), text, cursor)
        if command.verb in _SHORT and not command.operator:
            operator, verb = _SHORT[command.verb]
            command = replace(command, verb=verb, operator=operator)
        if command.operator:
            return self._operate(command, text, cursor)
        if (moved := self._mover.lead(command, text, cursor)) is not None:
            return Outcome(text, moved.place, moved.beyond)
        if command.verb in _REPEATED_INSERTS:
            return self._insert(command, text, cursor)
        match command.verb:
            case "u" | "ctrl+r":
                return self._undone(text, cursor, command)
            case "v" | "V":
                self.mode = VimMode.VISUAL if command.verb == "v" else VimMode.VISUAL_LINE
                self.anchor = cursor
                return Outcome(text, cursor)
            case "R":
                self.mode, self._over = VimMode.REPLACE, Overtyping(text, cursor, command)
                return Outcome(text, cursor)
            case "ZZ" | "ZQ":
                return Outcome(text, cursor, _LEAVING[command.verb])
        return self._changed(command, text, cursor, self._rewritten(command, text, cursor))

    def _rewritten(self, command: Command, text: str, cursor: int) -> Edited | None:
        register = self.registers.read(command.register)
        match command.verb:
            case "p" | "P" if register.text or register.lines:
                return put(text, cursor, register, command.times, before=command.verb == "P")
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

    # --- operators ----------------------------------------------------------------------------------

    def _operate(self, command: Command, text: str, cursor: int) -> Outcome:
        if command.verb in FINDS or command.verb in (";", ","):
            found = self._mover.find(command, text, cursor)
            span = None if found is None else reached(text, cursor, *found)
        else:
            span = find_span(text, cursor, command)
        if span is None and command.operator == "c" and command.verb in "hlwWeE$}":
            span = Span(cursor, cursor)  # there is nothing to delete, but something to write
        elif span is None and command.operator in ("<", ">") and command.verb in "hl":
            span = Span(cursor, cursor)
        if span is None:
            return Outcome(text, cursor)
        if command.operator == "d" and command.verb[0] not in "ia":
            span = as_lines(text, span)
        return self._apply(command, span, text, cursor)

    def _apply(self, command: Command, span: Span, text: str, cursor: int) -> Outcome:
        operator = command.operator
        if operator in ("d", "c", "y") and (span.stop > span.start or span.lines):
            if operator == "y":
                self.registers.yank(taken(text, span), command.register)
            else:
                self.registers.delete(taken(text, span), command.register, is_far=command.verb in _FAR)
        if operator in ("<", ">"):
            steps = command.times if command.extent is not None else 1
            return self._changed(command, text, cursor, shifted(text, span, -steps if operator == "<" else steps))
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
        if command.verb == "lines" or command.extent is not None:
            return cursor if command.operator == "y" else min(cursor, first_text(text, cursor))
        moved = self._mover.lead(replace(command, operator=""), text, cursor)
        return cursor if moved is None else min(cursor, moved.place)

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
        command = change.command
        if command.extent is None and again.count:
            command = replace(command, count=again.count)
        if command.verb == "R" and command.extent is None:
            written = change.inserted * command.times
            done = Edited(typed_over(text, cursor, written), cursor + max(0, len(written) - 1))
            outcome = self._changed(command, text, cursor, done)
        else:
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
        if verb not in _VISUAL and (moved := self._mover.lead(command, text, cursor)) is not None:
            return Outcome(text, moved.place)
        span = self.selected(text, cursor)
        if verb in _VISUAL_LINES:
            span = whole_lines(text, span.start, max(span.start, span.stop - 1))
        self.mode = VimMode.NORMAL
        return self._run_selected(command, span, text, cursor)

    def _run_selected(self, command: Command, span: Span, text: str, cursor: int) -> Outcome:
        """Run a visual mode's command on what was selected, or on as much again."""
        command = replace(command, extent=extent_of(text, span))
        operator = _VISUAL.get(command.verb) or _VISUAL_LINES.get(command.verb) or command.verb
        if operator in _OPERATORS:
            return self._apply(replace(command, operator=operator), span, text, span.start)
        match command.verb:
            case "r":
                edited: Edited | None = overwritten_span(text, span, command.argument)
            case "J":
                edited = joined_span(text, span)
            case _:
                register = self.registers.read(command.register)
                if not (register.text or register.lines):
                    return Outcome(text, span.start)
                if command.verb == "p":  # `P` keeps what was there
                    self.registers.delete(taken(text, span))
                edited = put_over(text, span, register)
        return self._changed(command, text, cursor, edited or Edited(text, span.start))

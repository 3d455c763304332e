"""Vi's keys in the prompt: hands keys to `VimEditing`, and what it makes of them to the editor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.document._document import Document, Selection
from textual.events import Key

from widgets.prompt.messages import CopyRequested, QuitRequested
from widgets.prompt.vim.editing import Outcome, VimEditing, VimMode
from widgets.prompt.vim.edits import Edited, Register
from widgets.prompt.vim.folding import Folded, unfold, without_chips
from widgets.prompt.vim.insertion import first_difference
from widgets.prompt.vim.motions import last_column

if TYPE_CHECKING:
    from widgets.prompt.editor import PromptEditor

_BY_ALT = ("steer", "earlier", "later")
"""The editor's own actions with Alt that keep it in insert mode."""
_WRITING = ("delete_", "kill_", "yank", "undo", "redo")
"""Starts of the editor's own actions that have no place outside of insert mode."""


class VimKeys:
    """Vi's keys over one editor."""

    def __init__(self, editor: PromptEditor) -> None:
        self._editor = editor
        self.editing = VimEditing()
        self._text = ""
        """What the text was after the last key; another one was changed from outside."""
        self._selection: Selection | None = None
        """What is shown as selected in the visual modes."""
        self.restart(insert=True)

    @property
    def is_inserting(self) -> bool:
        return self.editing.mode is VimMode.INSERT

    @property
    def shown(self) -> str:
        """The mode, and the keys that wait for more."""
        return f"{self.editing.mode.upper()} {self.editing.pending}".rstrip()

    def restart(self, *, insert: bool) -> None:
        """Begin with the text that the editor has now."""
        folded, cursor = self._read()
        self.editing.registers.clean(without_chips)  # they were of another draft
        self.editing.restart(folded.text, cursor, insert=insert)
        self._text = folded.text

    def take(self, event: Key) -> bool:
        """Do what a key means in vi; false where it is the editor's, or the application's."""
        if self.editing.mode in (VimMode.INSERT, VimMode.REPLACE):
            return self._take_writing(event)
        if event.key.startswith("alt+"):
            return self._is_writing(event)
        self._note_outside(takes_selection=event.is_printable or event.key == "delete")
        if event.key == "escape":
            return self._escape()
        folded, cursor = self._read()
        key = event.character if event.is_printable and event.character else event.key
        if event.key in ("up", "down", "enter") and not self.editing.pending:
            return self.editing.mode is not VimMode.NORMAL and event.key == "enter"
        clipboard = self._editor.app.clipboard
        self.editing.registers.clipboard = Register(clipboard.removesuffix("\n"), clipboard.endswith("\n"))
        outcome = self.editing.press(key, folded.text, cursor)
        if outcome is None:
            return event.is_printable or self._is_writing(event)
        self._show(folded, outcome)
        self._do(outcome)
        return True

    def _do(self, outcome: Outcome) -> None:
        """Do what is not the text's business."""
        if outcome.copied:
            self._editor.post_message(CopyRequested(unfold(outcome.copied, self._editor.pastes.chip)))
        match outcome.wants:
            case "up":
                self._editor.action_up()
            case "down":
                self._editor.action_down()
            case "throw away" | "leave":
                if outcome.wants == "throw away":
                    self._editor.clear_draft()
                self._editor.post_message(QuitRequested())

    def _is_writing(self, event: Key) -> bool:
        return self._editor.action_for(event).startswith(_WRITING)

    def _take_writing(self, event: Key) -> bool:
        """Leave insert mode for Esc, and for Alt with a character: so many terminals send Esc before a quick key."""
        character = event.character if event.key.startswith("alt+") and event.is_printable else None
        if event.key != "escape" and (character is None or self._editor.action_for(event) in _BY_ALT):
            return self.editing.mode is VimMode.REPLACE and self._type_over(event)
        folded, cursor = self._read()
        self._show(folded, self.editing.leave_insert(folded.text, cursor))
        if character is not None:
            self.take(Key(character, character))
        return True

    def _type_over(self, event: Key) -> bool:
        if event.key != "backspace" and (not event.is_printable or event.key.startswith("alt+")):
            return False
        folded, cursor = self._read()
        key = event.key if event.key == "backspace" else event.character or ""
        if (outcome := self.editing.press(key, folded.text, cursor)) is not None:
            self._show(folded, outcome)
        return True

    def _escape(self) -> bool:
        had = self.editing.escape()
        if had:
            folded, cursor = self._read()
            self._show(folded, Outcome(folded.text, min(cursor, last_column(folded.text, cursor))))
        return had

    def _note_outside(self, *, takes_selection: bool) -> None:
        """Take in what happened to the text by other means since the last key: a paste, a mouse.

        Args:
            takes_selection: the key that came may act on what was selected.
        """
        folded, cursor = self._read()
        if folded.text != self._text:
            self.editing.note_change(Edited(self._text, 0))
            self._text = folded.text
        selection = self._editor.selection
        if self.editing.mode is not VimMode.NORMAL and selection != self._selection:
            self.editing.escape()
        if takes_selection and self.editing.mode is VimMode.NORMAL and not selection.is_empty:
            start = folded.folded(_index(self._editor, selection.start))
            self.editing.select(start if start <= cursor else start - 1)
            if start <= cursor:
                self._editor.move_cursor(_location(self._editor, folded.unfolded(max(start, cursor - 1))))

    # --- editor to text and back --------------------------------------------------------------------

    def _read(self) -> tuple[Folded, int]:
        pastes = self._editor.pastes
        folded = Folded(self._editor.text, lambda number: bool(pastes.chip(number)))
        return folded, folded.folded(_index(self._editor, self._editor.selection.end))

    def _show(self, before: Folded, outcome: Outcome) -> None:
        editor = self._editor
        old, new = editor.text, unfold(outcome.text, editor.pastes.chip)
        if new != old:
            start = first_difference(old, new)
            same = first_difference(old[start:][::-1], new[start:][::-1])
            ends = _location(editor, start), _location(editor, len(old) - same)
            editor.replace(new[start : len(new) - same], *ends)
        folded = Folded(editor.text, lambda number: bool(editor.pastes.chip(number)))
        self._text = folded.text
        cursor = min(outcome.cursor, len(folded.text))
        place = _location(editor, folded.unfolded(cursor))
        self._selection = self._selected(folded, cursor)
        editor.show_whole_rows(self._selected_rows())
        editor.selection = self._selection or Selection.cursor(place)

    def _selected_rows(self) -> range:
        if self.editing.mode is not VimMode.VISUAL_LINE or self._selection is None:
            return range(0)
        first, last = sorted((self._selection.start[0], self._selection.end[0]))
        return range(first, last + 1)

    def _selected(self, folded: Folded, cursor: int) -> Selection | None:
        """Return what shows as selected: the editor marks its cursor's own cell beside it."""
        if self.editing.mode not in (VimMode.VISUAL, VimMode.VISUAL_LINE):
            return None
        span = self.editing.selected(folded.text, cursor)
        anchor = span.start if self.editing.anchor <= cursor else span.stop
        ends = (_location(self._editor, folded.unfolded(place)) for place in (anchor, cursor))
        return Selection(*ends)


def _document(editor: PromptEditor) -> Document:
    document = editor.document
    assert isinstance(document, Document)
    return document


def _index(editor: PromptEditor, location: tuple[int, int]) -> int:
    return _document(editor).get_index_from_location(location)


def _location(editor: PromptEditor, index: int) -> tuple[int, int]:
    return _document(editor).get_location_from_index(index)

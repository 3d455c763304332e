"""Large pastes in the prompt: each stands as a chip, which the cursor jumps over and which is deleted as a whole."""

from __future__ import annotations

from collections.abc import Mapping

from rich.text import Text
from textual.document._document import Selection
from textual.events import Paste

from widgets.prompt.draft import PASTE_LIMIT, Pastes, clean_paste, is_large
from widgets.prompt.messages import PasteRefused
from widgets.prompt.readline import ReadlineArea

EDITOR_LIMIT = 50_000
"""Characters that the editor holds as text; drafts that are longer hold the rest as a chip."""


class ChipArea(ReadlineArea):
    """A text area with chips."""

    COMPONENT_CLASSES = ReadlineArea.COMPONENT_CLASSES | {"prompt--chip"}

    def __init__(self, keys: Mapping[str, str], *, id: str | None = None) -> None:
        self.pastes = Pastes()
        super().__init__(keys, id=id)

    async def _on_paste(self, event: Paste) -> None:
        event.stop()
        event.prevent_default()
        self.insert_paste(event.text)

    def insert_paste(self, text: str) -> None:
        """Insert text from outside at the cursor: a large one as a chip, one beyond the limit not at all."""
        text = clean_paste(text)
        if len(text) > PASTE_LIMIT:
            self.post_message(PasteRefused(len(text), PASTE_LIMIT))
            return
        large = is_large(text) or len(text) + len(self.text) > EDITOR_LIMIT
        self._replace_via_keyboard(self.pastes.add(text) if large else text, *self.selection)

    def action_paste(self) -> None:
        """Insert the application's clipboard."""
        self.insert_paste(self.app.clipboard)

    def get_line(self, line_index: int) -> Text:
        line = super().get_line(line_index)
        for start, end in self.pastes.spans(line.plain):
            line.stylize(self.get_component_rich_style("prompt--chip", partial=True), start, end)
        return line

    def validate_selection(self, selection: Selection) -> Selection:
        """Keep the cursor out of chips: it jumps over them in the direction that it moves in."""
        row, column = selection.end
        for start, end in self.pastes.spans(self.document[row]):
            if start < column < end:
                column = end if (row, column) > self.selection.end else start
                is_cursor = selection.is_empty
                return Selection((row, column) if is_cursor else selection.start, (row, column))
        return selection

    def action_delete_right(self) -> None:
        """Delete to the right: a character, the selection, or a chip as a whole."""
        row, column = self.cursor_location
        chip = next((span for span in self.pastes.spans(self.document[row]) if span[0] == column), None)
        if chip and self.selection.is_empty:
            self._delete_via_keyboard((row, column), (row, chip[1]))
        else:
            super().action_delete_right()

    def action_delete_left(self) -> None:
        """Delete to the left: a character, the selection, or a chip as a whole."""
        row, column = self.cursor_location
        chip = next((span for span in self.pastes.spans(self.document[row]) if span[1] == column), None)
        if chip and self.selection.is_empty:
            self._delete_via_keyboard((row, chip[0]), (row, column))
        else:
            super().action_delete_left()

"""Large pastes in the prompt: each stands as a chip, which the cursor jumps over and which is deleted as a whole."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from rich.text import Text
from textual.document._document import Location, Selection
from textual.events import Paste

from widgets.prompt.draft import PASTE_LIMIT, Draft, Pastes, clean_paste, is_large
from widgets.prompt.messages import PasteRefused
from widgets.prompt.readline import ReadlineArea

if TYPE_CHECKING:
    from widgets.prompt.chip_screen import ChipChange

EDITOR_LIMIT = 50_000
"""Characters that the editor holds as text; drafts that are longer hold the rest as a chip."""

ReadPaste = Callable[[str], Awaitable[str]]
"""`await read_paste(text)` gives what is to stand for a paste: it may name images."""
ReadImage = Callable[[], Awaitable[str]]
"""`await read_image()` gives a mention of the image that the clipboard holds; empty if there is none."""


async def _as_it_is(text: str) -> str:
    return text


async def _no_image() -> str:
    return ""


class ChipArea(ReadlineArea):
    """A text area with chips."""

    COMPONENT_CLASSES = ReadlineArea.COMPONENT_CLASSES | {"prompt--chip"}

    def __init__(self, keys: Mapping[str, str], *, id: str | None = None) -> None:
        self.pastes = Pastes()
        self.read_paste: ReadPaste = _as_it_is
        self.read_image: ReadImage = _no_image
        super().__init__(keys, id=id)

    async def _on_paste(self, event: Paste) -> None:
        event.stop()
        event.prevent_default()
        await self.take_paste(event.text)

    async def take_paste(self, text: str) -> None:
        """Insert what the terminal pasted; what names images becomes mentions of them."""
        self.insert_paste(await self.read_paste(text) if self.takes_images else text)

    def insert_paste(self, text: str) -> None:
        """Insert text from outside at the cursor: a large one as a chip, one beyond the limit not at all."""
        text = clean_paste(text)
        if len(text) > PASTE_LIMIT:
            self.post_message(PasteRefused(len(text), PASTE_LIMIT))
            return
        large = is_large(text) or len(text) + len(self.text) > EDITOR_LIMIT
        self._replace_via_keyboard(self.pastes.add(text) if large else text, *self.selection)

    async def action_paste(self) -> None:  # type: ignore[override]  # actions may be awaited
        """Insert the image that the clipboard holds, else the application's clipboard."""
        image = await self.read_image() if self.takes_images else ""
        self.insert_paste(image or self.app.clipboard)

    @property
    def takes_images(self) -> bool:
        """Whether images may stand here."""
        return True

    # --- looking into one ---------------------------------------------------------------------------

    def action_look(self) -> None:
        """Open the paste at the cursor, else the last before it, else the first."""
        found = self._find_chip()
        if found is None:
            self.notify("There is no large paste in the prompt.", markup=False)
            return
        from widgets.prompt.chip_screen import ChipScreen  # late: few ever look

        row, start, stop = found
        chip = self.document[row][start:stop]
        text = Draft(chip, pastes=self.pastes.used_in(chip)).expanded
        fits = len(text) + len(self.text) <= EDITOR_LIMIT

        def take(change: ChipChange | None) -> None:
            self.focus()
            if change is not None and self.document[row][start:stop] == chip:
                self._change_chip((row, start), (row, stop), text, change)

        self.app.push_screen(ChipScreen(chip, text, fits=fits), take)

    def _find_chip(self) -> tuple[int, int, int] | None:
        row, column = self.cursor_location
        chips = [
            (line, *span) for line in range(self.document.line_count) for span in self.pastes.spans(self.document[line])
        ]
        before = [chip for chip in chips if chip[:2] <= (row, column)]
        if before:
            return before[-1]
        return chips[0] if chips else None

    def _change_chip(self, start: Location, end: Location, before: str, change: ChipChange) -> None:
        if change.as_text or not is_large(change.text):
            self.replace(change.text, start, end)
        elif change.text != before:
            self.replace(self.pastes.add(clean_paste(change.text)), start, end)

    # --- drawing and moving -------------------------------------------------------------------------

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

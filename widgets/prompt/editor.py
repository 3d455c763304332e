"""The text of the prompt: sending, modes, history, paste chips. It knows neither who answers nor where files are."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from rich.text import Text
from textual.actions import SkipAction
from textual.content import Content
from textual.document._document import Location, Selection
from textual.events import Key
from textual.reactive import reactive
from textual.timer import Timer

from widgets.prompt.burst import PasteBurst, Verdict
from widgets.prompt.chips import EDITOR_LIMIT, ChipArea
from widgets.prompt.completion import CompletionPopup
from widgets.prompt.draft import Draft, DraftGuard, PromptMode, clean_paste
from widgets.prompt.history import HistoryWalk, PromptHistory
from widgets.prompt.messages import (
    CompletionWanted,
    PromptSubmitted,
    QueueRecalled,
    QueueRequested,
    SearchRequested,
    SteerRequested,
)
from widgets.prompt.trigger import Trigger, completed, find_trigger

if TYPE_CHECKING:
    from widgets.prompt.vim_keys import VimKeys

_SIGILS = {"!": PromptMode.SHELL, "/": PromptMode.COMMAND}


class PromptEditor(ChipArea):
    """The editor of the prompt.

    Args:
        keys: key to action, while the completion list is closed or does not know the key.
        completion_keys: key to action while the list is open.
        history: what was sent before; the editor adds to it in memory.
        popup: the completion list.
        paste_burst: whether a fast run of keys may be a paste; none for on a real terminal.
        clock: seconds, monotonic, as Textual's events have them.
    """

    mode: reactive[PromptMode] = reactive(PromptMode.AGENT, init=False)
    vim_mode: reactive[str] = reactive("", init=False)
    """Vi's mode, with the keys that wait for more; empty without vi's keys."""

    def __init__(
        self,
        keys: Mapping[str, str],
        completion_keys: Mapping[str, str],
        history: PromptHistory,
        popup: CompletionPopup,
        *,
        paste_burst: bool | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._vim: VimKeys | None = None
        self._whole_rows = range(0)
        super().__init__(keys, id="prompt-editor")
        self.completion_keys = completion_keys
        self.queued = 0
        """How many prompts wait to be run."""
        self._prompt_history = history
        self._walk = HistoryWalk(history)
        self._popup = popup
        self._burst = PasteBurst()
        self._burst_timer: Timer | None = None
        self._paste_burst = paste_burst
        self._clock = clock
        self.placeholder = Content("Ask, or  ! shell   / commands   @ files")
        self.guard = DraftGuard()

    # --- the draft ----------------------------------------------------------------------------------

    @property
    def draft(self) -> Draft:
        """What stands in the prompt."""
        text = self.text
        return Draft(text, self.mode, self.pastes.used_in(text))

    def set_draft(self, draft: Draft, *, at_start: bool = False) -> None:
        """Put a draft in place of what stands there; it can be undone by the history only.

        Args:
            at_start: whether the cursor goes to the end of the first line, not of the text.
        """
        self.pastes.replace(draft.pastes)
        text = clean_paste(draft.text)
        self.mode = draft.mode
        self.load_text(text if len(text) <= EDITOR_LIMIT else self.pastes.add(text))
        row = 0 if at_start else self.document.line_count - 1
        self.move_cursor((row, len(self.document[row])))
        if self._vim is not None:
            self._vim.restart(insert=self._vim.is_inserting)

    def clear_draft(self) -> bool:
        """Empty the prompt and keep in the history what stood there if it may be; false if it was empty."""
        draft = self.draft
        if draft.is_empty and draft.mode is PromptMode.AGENT:
            return False
        if self.guard.may_keep(draft):
            self._prompt_history.add(draft)
        self._reset()
        return True

    def _reset(self) -> None:
        self._walk.restart()
        self.set_draft(Draft())
        self._insert_again()

    # --- keys ---------------------------------------------------------------------------------------

    def use_vim(self, wanted: bool) -> None:
        """Use vi's keys, or no longer; they begin in insert mode."""
        if wanted and self._vim is None:
            from widgets.prompt.vim_keys import VimKeys  # late: most people do without

            self._vim = VimKeys(self)
        elif not wanted:
            self._vim = None
        self._show_vim()

    @property
    def uses_vim(self) -> bool:
        return self._vim is not None

    def _show_vim(self) -> None:
        self.vim_mode = self._vim.shown if self._vim is not None else ""

    def show_whole_rows(self, rows: range) -> None:
        """Show rows as selected over all their length, as vi's `V` selects them."""
        if rows != self._whole_rows:
            self._whole_rows = rows
            self.notify_style_update()

    def get_line(self, line_index: int) -> Text:
        line = super().get_line(line_index)
        if line_index in self._whole_rows:
            line.stylize(self.get_component_rich_style("text-area--selection", partial=True))
        return line

    def _insert_again(self) -> None:
        if self._vim is not None:
            self._vim.restart(insert=True)
            self._show_vim()

    def _take_vim(self, event: Key) -> bool:
        """Let vi have a key; false where it is ours."""
        if self._vim is None:
            return False
        if event.key == "escape":
            self._popup.dismiss(self.find_trigger())
        taken = self._vim.take(event)
        self._show_vim()
        return taken

    def action_for(self, event: Key) -> str:
        if self._popup.is_open and (action := self.completion_keys.get(event.key)):
            return action
        if event.key == "shift+\r":  # xterm's modifyOtherKeys form, as Textual names it
            return "newline"
        return super().action_for(event)

    async def _on_key(self, event: Key) -> None:
        if self._detects_bursts and await self._judge_burst(event):
            event.stop()
            event.prevent_default()
        elif self.begins_mode(event) or self._take_vim(event):
            event.stop()
            event.prevent_default()
        elif event.key.startswith("alt+") and not self.action_for(event):
            event.prevent_default()  # a key of the application's, although it comes with a character
            if await self.run_binding(event):
                event.stop()
        else:
            await super()._on_key(event)

    def begins_mode(self, event: Key) -> bool:
        """Enter shell or command mode where the key is their sigil, and at the start; in vi's other modes if empty."""
        inserting = self._vim is None or self._vim.is_inserting
        sigil = "/" if event.character == ":" and not inserting else event.character
        if (
            sigil not in _SIGILS
            or event.key.startswith("alt+")
            or self.mode is not PromptMode.AGENT
            or self.cursor_location != (0, 0)
        ):
            return False
        if not self.selection.is_empty or (self.text and not inserting):
            return False
        self.mode = _SIGILS[sigil]
        self._insert_again()
        self._want_completion()
        return True

    @property
    def _detects_bursts(self) -> bool:
        return not self.app.is_headless if self._paste_burst is None else self._paste_burst

    async def _judge_burst(self, event: Key) -> bool:
        """Return whether the key was dealt with as part of a paste, or as an Enter that waits."""
        character = {"enter": "\n", "ctrl+j": "\n", "tab": "\t"}.get(event.key)
        if event.is_printable and not event.key.startswith("alt+"):
            character = event.character
        verdict = self._burst.key(character, event.time, self._clock())
        if verdict is Verdict.NORMAL:
            await self._end_burst()
            return False
        if self._burst_timer is None:
            self._burst_timer = self.set_timer(self._burst.patience, self._ask_burst)
        return True

    def _ask_burst(self) -> None:
        """Look, once all keys that have come are dealt with, whether the burst is over."""
        self.app.call_later(self.call_later, self._end_burst_if_over)

    async def _end_burst_if_over(self) -> None:
        self._burst_timer = None
        if self._burst.is_over(self._clock()):
            await self._end_burst()
        else:
            self._burst_timer = self.set_timer(self._burst.patience, self._ask_burst)

    async def _end_burst(self) -> None:
        if self._burst.settle():
            await self._press_enter()
        if text := self._burst.take():
            await self.take_paste(text)

    async def _press_enter(self) -> None:
        event = Key("enter", "\r")
        if not self._take_vim(event):
            await self.app.run_action(self.action_for(event), self)

    @property
    def takes_images(self) -> bool:
        return self.mode is PromptMode.AGENT

    def action_delete_left(self) -> None:
        """Delete to the left: a character, the selection, a chip; at the start leave the mode."""
        at_start = self.selection.is_empty and self.cursor_location == (0, 0)
        if at_start and self.mode is not PromptMode.AGENT:
            self.mode = PromptMode.AGENT
            self._want_completion()
        else:
            super().action_delete_left()

    # --- sending ------------------------------------------------------------------------------------

    def action_send(self) -> None:
        """Send; a backslash before the cursor at the end makes a line break instead."""
        row, column = self.cursor_location
        if self.cursor_at_end_of_text and self.document[row].endswith("\\"):
            self._replace_via_keyboard("\n", (row, column - 1), (row, column))
            return
        if not (draft := self.draft).is_empty and self.guard.may_send(draft):
            self._take_off(draft)
            self.post_message(PromptSubmitted(draft))

    def action_steer(self) -> None:
        """Send to the agent while it works; what is no prompt for the agent is sent as ever."""
        if self.mode is not PromptMode.AGENT:
            self.action_send()
        elif not (draft := self.draft).is_empty and self.guard.may_send(draft):
            self._take_off(draft)
            self.post_message(SteerRequested(draft))

    def _take_off(self, draft: Draft) -> None:
        self._prompt_history.add(draft)
        self._reset()

    def action_newline(self) -> None:
        """Insert a line break."""
        self._replace_via_keyboard("\n", *self.selection)

    def action_leave(self) -> None:
        """Leave shell or command mode; in agent mode the key is the application's."""
        if self.mode is PromptMode.AGENT:
            raise SkipAction
        self.mode = PromptMode.AGENT
        self._want_completion()

    def action_cursor_page_up(self) -> None:
        """Up by what is visible; where all of the prompt is, the key is the application's."""
        self._leave_short()
        super().action_cursor_page_up()

    def action_cursor_page_down(self) -> None:
        """Down by what is visible; where all of the prompt is, the key is the application's."""
        self._leave_short()
        super().action_cursor_page_down()

    def _leave_short(self) -> None:
        if not self.max_scroll_y:
            raise SkipAction

    # --- history ------------------------------------------------------------------------------------

    def action_up(self) -> None:
        """Up a line; from the first one to the prompt before, or to the queued one if nothing is written."""
        if not self.on_first_visual_line:
            self.action_cursor_up()
        elif self.queued and self.draft.is_empty:
            self.post_message(QueueRecalled())
        else:
            self.action_earlier()

    def action_down(self) -> None:
        """Down a line; from the last one to the prompt after."""
        if self.on_last_visual_line:
            self.action_later()
        else:
            self.action_cursor_down()

    def action_earlier(self) -> None:
        """To the prompt before; the draft is kept."""
        if (draft := self._walk.earlier(self.draft)) is not None:
            self.set_draft(draft, at_start=True)

    def action_later(self) -> None:
        """To the prompt after, at last back to the draft."""
        if (draft := self._walk.later()) is not None:
            self.set_draft(draft)

    def action_queue(self) -> None:
        """See and change what waits for the agent."""
        self.post_message(QueueRequested())

    def action_search(self) -> None:
        """Search the history."""
        self.post_message(SearchRequested())

    # --- completion ---------------------------------------------------------------------------------

    def find_trigger(self) -> Trigger | None:
        """Return what may be completed at the cursor."""
        row, column = self.cursor_location
        if not self.selection.is_empty or (self._vim is not None and not self._vim.is_inserting):
            return None
        return find_trigger(self.mode, self.document[row], row, column)

    def _watch_selection(self, previous_selection: Selection, selection: Selection) -> None:
        super()._watch_selection(previous_selection, selection)
        self._want_completion()

    def _want_completion(self) -> None:
        self.post_message(CompletionWanted())

    def action_completion_next(self) -> None:
        """Move into the list."""
        self._popup.move(1)

    def action_completion_previous(self) -> None:
        """Move up in the list; before moving into it the key is the prompt's."""
        if self._popup.moved:
            self._popup.move(-1)
        else:
            self.action_up()

    def action_completion_accept(self) -> None:
        """Insert the marked candidate."""
        trigger, chosen = self.find_trigger(), self._popup.marked
        if trigger is not None and chosen is not None:
            ends: tuple[Location, Location] = (trigger.row, trigger.start), (trigger.row, trigger.end)
            self._replace_via_keyboard(completed(trigger, chosen.text), *ends)
        self._popup.close()

    def action_completion_accept_moved(self) -> None:
        """Insert the candidate that the user moved to; otherwise send."""
        if self._popup.moved:
            self.action_completion_accept()
        else:
            self.action_send()

    def action_completion_close(self) -> None:
        """Close the list until another word is completed."""
        self._popup.dismiss(self.find_trigger())

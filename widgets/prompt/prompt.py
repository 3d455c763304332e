"""The prompt's pane: queue, mode sign, editor and completion list. It knows neither the agent nor the commands."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.css.query import NoMatches
from textual.events import Key
from textual.reactive import reactive
from textual.widgets import Static, TextArea

from core.contract.visible import make_visible_line
from widgets.prompt.candidates import Candidate, CandidateList
from widgets.prompt.completion import Completer, CompletionPopup
from widgets.prompt.draft import Draft, PromptMode
from widgets.prompt.editor import PromptEditor
from widgets.prompt.history import PromptHistory
from widgets.prompt.messages import (
    CompletionToggled,
    CompletionWanted,
    DraftChanged,
    PromptSubmitted,
    SearchRequested,
    SteerRequested,
)
from widgets.prompt.preview import CompletionPreview, Previewer
from widgets.prompt.trigger import Trigger

QUEUE_ROWS = 3

_SIGNS = {PromptMode.AGENT: "❯", PromptMode.SHELL: "$", PromptMode.COMMAND: "/"}
_ASCII_SIGNS = {**_SIGNS, PromptMode.AGENT: ">"}


class PromptPane(Vertical):
    """The prompt.

    It posts `PromptSubmitted`, `SteerRequested`, `QueueRecalled` and `PasteRefused` (widgets.prompt.messages).

    Args:
        keys: key to action, of the catalogue's prompt scope.
        completion_keys: the same of the completion scope.
        complete: gives candidates; none for no completion.
        preview: gives the first lines of the path that is marked; none for no preview.
        history: where sent prompts are kept.
        paste_burst: see `PromptEditor`.
        ascii_only: no other than ASCII signs.
    """

    queue: reactive[tuple[str, ...]] = reactive((), init=False)

    def __init__(
        self,
        keys: Mapping[str, str],
        completion_keys: Mapping[str, str],
        *,
        complete: Completer | None = None,
        preview: Previewer | None = None,
        history: PromptHistory | None = None,
        paste_burst: bool | None = None,
        ascii_only: bool = False,
    ) -> None:
        super().__init__(id="prompt")
        self.history = history or PromptHistory()
        self._complete = complete
        self._signs = _ASCII_SIGNS if ascii_only else _SIGNS
        self._popup = CompletionPopup()
        self._shown = CompletionPreview()
        self._preview = preview
        self.editor = PromptEditor(keys, completion_keys, self.history, self._popup, paste_burst=paste_burst)
        self._saves: list[Draft] = []

    def compose(self) -> ComposeResult:
        yield self._popup
        yield self._shown
        yield Static(id="prompt-queue", markup=False)
        with Horizontal(id="prompt-line"):
            yield Static(self._signs[PromptMode.AGENT], id="prompt-sign", markup=False)
            yield self.editor
            yield Static(id="prompt-vim", markup=False)

    def on_mount(self) -> None:
        self.watch(self.editor, "mode", self._show_mode)
        self.watch(self.editor, "vim_mode", self._show_vim_mode)
        self.call_after_refresh(self._load_history)  # nobody walks through it before the first paint

    # --- for the screen -----------------------------------------------------------------------------

    @property
    def draft(self) -> Draft:
        """What stands in the prompt, to be kept over a crash."""
        return self.editor.draft

    def set_draft(self, draft: Draft) -> None:
        """Put a draft in place of what stands there."""
        self.editor.set_draft(draft)

    def insert_text(self, text: str) -> None:
        """Insert text at the cursor and focus the prompt; large text becomes a chip."""
        self.editor.insert_paste(text)
        self.editor.focus()

    def take_key(self, event: Key) -> None:
        """Take a key that was typed elsewhere, and focus the prompt: `!` and `/` begin their modes as they do there."""
        if event.character and not self.editor.begins_mode(event):
            self.editor.insert_paste(event.character)
        self.editor.focus()

    def clear(self) -> bool:
        """Empty the prompt, its text going to the history if it may be kept; false if it was empty."""
        before = self.editor.draft
        may_keep = self.editor.guard.may_keep(before)
        cleared = self.editor.clear_draft()
        if cleared and may_keep:
            self._save(before)
        return cleared

    def use_vim(self, wanted: bool) -> None:
        """Use vi's keys in the editor, or no longer."""
        self.editor.use_vim(wanted)

    @property
    def is_completing(self) -> bool:
        """Whether the completion list is open."""
        return self._popup.is_open

    @property
    def uses_vim(self) -> bool:
        return self.editor.uses_vim

    def set_queue(self, prompts: Sequence[str]) -> None:
        """Show the prompts that wait for the agent, oldest first."""
        self.queue = tuple(prompts)

    # --- inside -------------------------------------------------------------------------------------

    def watch_queue(self, queue: tuple[str, ...]) -> None:
        self.editor.queued = len(queue)
        shown = self.query_one("#prompt-queue", Static)
        shown.display = bool(queue)
        key = next((key for key, method in self.editor.keys.items() if method == "queue"), "")
        shown.update(Content("\n".join(_queue_lines(queue, f"  ({key} changes it)" if key else ""))))

    def _show_mode(self, mode: PromptMode) -> None:
        try:
            self.query_one("#prompt-sign", Static).update(Content(self._signs[mode]))
        except NoMatches:
            return
        self.update_classes({f"-{each.value}": each is mode for each in PromptMode})

    def _show_vim_mode(self, mode: str) -> None:
        try:
            shown = self.query_one("#prompt-vim", Static)
        except NoMatches:
            return
        shown.display = bool(mode)
        shown.update(Content(mode))

    @on(PromptSubmitted)
    @on(SteerRequested)
    def _keep(self, message: PromptSubmitted | SteerRequested) -> None:
        self._save(message.draft)

    @on(TextArea.Changed)
    def _tell_change(self, message: TextArea.Changed) -> None:
        message.stop()
        self.editor.guard.note_change(self.editor.draft)
        self.post_message(DraftChanged())

    @work(group="history", exit_on_error=False)
    async def _load_history(self) -> None:
        await asyncio.to_thread(self.history.load)

    @work(group="history", exit_on_error=False)
    async def keep_history(self, path: Path, redact: Callable[[str], str]) -> None:
        """Keep what is sent in a file from now on.

        Args:
            redact: takes secrets out of it.
        """
        try:
            await asyncio.to_thread(self.history.keep_in, path, redact)
        except OSError as error:
            self.log.error(f"the prompt history can't be read or written: {error}")

    def _save(self, draft: Draft) -> None:
        """Append to the history's file in a thread, one at a time and in order."""
        self._saves.append(draft)
        if len(self._saves) == 1:
            self._save_all()

    @work(group="history", exit_on_error=False)
    async def _save_all(self) -> None:
        while self._saves:
            try:
                await asyncio.to_thread(self.history.save, self._saves[0])
            except OSError as error:
                self.log.error(f"the prompt history can't be written: {error}")
            finally:
                del self._saves[0]

    @on(CompletionWanted)
    def _ask_completion(self, message: CompletionWanted) -> None:
        message.stop()
        trigger = self.editor.find_trigger()
        if self._complete is None or not self._popup.wants(trigger) or trigger is None:
            self.workers.cancel_group(self, "completion")
            self._close_popup()
            return
        self._show_completion(self._complete, trigger)

    @work(group="completion", exclusive=True, exit_on_error=False)
    async def _show_completion(self, complete: Completer, trigger: Trigger) -> None:
        candidates = await complete(trigger.kind, trigger.query)
        if self.editor.find_trigger() == trigger and self._popup.wants(trigger):  # else the answer came too late
            self._popup.show_candidates(() if _is_done(candidates, trigger) else candidates)
            await self._show_preview(trigger.kind == "path")

    def _close_popup(self) -> None:
        self._popup.close()
        self._shown.show_text("")

    @on(CandidateList.Moved)
    def _preview_moved(self, message: CandidateList.Moved) -> None:
        message.stop()
        self._preview_marked()

    @work(group="preview", exclusive=True, exit_on_error=False)
    async def _preview_marked(self) -> None:
        trigger = self.editor.find_trigger()
        await self._show_preview(trigger is not None and trigger.kind == "path")

    async def _show_preview(self, is_path: bool) -> None:
        marked, rows = self._popup.marked, self._shown.rows
        text = ""
        if is_path and marked is not None and rows and self._preview is not None:
            text = await self._preview(marked.text, rows)
        text = text if self._popup.is_open and self._popup.marked is marked else ""
        self._popup.set_class(bool(text), "-beside")
        self._shown.show_text(text)

    @on(CandidateList.Chosen)
    def _accept_clicked(self, message: CandidateList.Chosen) -> None:
        message.stop()
        self._popup.index = message.index
        self.editor.action_completion_accept()
        self.editor.focus()

    @on(CompletionPopup.Toggled)
    def _tell_toggled(self) -> None:
        self.post_message(CompletionToggled())  # of its own: one of a child that it made post it would end here

    @on(SearchRequested)
    def _search(self, message: SearchRequested) -> None:
        message.stop()
        from widgets.prompt.search import HistorySearch

        def put(found: Draft | None) -> None:
            if found is not None:
                self.editor.set_draft(found)
            self.editor.focus()

        self.app.push_screen(HistorySearch(self.history.entries, self.editor.text), put)


def _is_done(candidates: Sequence[Candidate], trigger: Trigger) -> bool:
    """Whether the only candidate is what stands there already."""
    return len(candidates) == 1 and candidates[0].text == trigger.query and not candidates[0].hint


def _queue_lines(queue: Iterable[str], hint: str) -> list[str]:
    prompts = list(queue)
    hidden = max(0, len(prompts) - QUEUE_ROWS)
    lines = [
        f"queued {n + 1}{'' if n else hint}: {make_visible_line(text)}" for n, text in enumerate(prompts[:QUEUE_ROWS])
    ]
    return [*lines, f"… {hidden} more"] if hidden else lines

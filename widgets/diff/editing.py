"""The part of the review that changes what is proposed: a hunk in place, a range of lines, the file in an editor.

It decides nothing and computes no diff: every edit goes back through `recompute`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from textual import work

from core.contract.diff import FilePatch
from core.contract.errors import StetError
from widgets.approval.inline_editor import InlineEditor
from widgets.diff.proposal import Proposal
from widgets.diff.reading import ReadingScreen
from widgets.diff.splice import drop_lines, edit_text, refuse_edit, splice

Recompute = Callable[[str, str], Awaitable[FilePatch]]
"""Gives the patch of a path for a whole new text; raises `StetError` where there can be none."""
OpenEditor = Callable[[str, str], Awaitable[str | None]]
"""Opens a path's proposed text in the user's editor; gives the text as saved, or none."""
Merge = Callable[[str, str, str], str | None]
"""Puts two changes (second, third) of one text (first) together; none where they meet."""


class EditingScreen(ReadingScreen):
    """Lets the reviewer edit.

    Args:
        recompute: without it nothing can be edited.
        open_editor: without it there is no editor to go to.
        merge: without it an edit of a proposal that is made again meanwhile is not kept.
    """

    def __init__(
        self,
        *proposals: Proposal,
        recompute: Recompute | None,
        open_editor: OpenEditor | None,
        merge: Merge | None,
        **reading: Any,
    ) -> None:
        super().__init__(proposals, **reading)
        self._recompute = recompute
        self._open_editor = open_editor
        self._merge = merge
        self._rebuilds = 0
        """Patches that are being made again for an edit."""
        self._in_editor = False
        self._left_edits: dict[tuple[str, str], str] = {}
        """By path and text as proposed: what was typed into a hunk and not taken, for the next time."""

    @property
    def editor(self) -> InlineEditor:
        return self.query_one(InlineEditor)

    @property
    def is_typing(self) -> bool:
        return super().is_typing or (self.is_mounted and self.editor.is_open)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        offered = {
            "edit_hunk": self._recompute is not None,
            "start_range": self._recompute is not None,
            "keep_range": self.is_mounted and self.view.range_start is not None,
            "edit_file": self._recompute is not None and self._open_editor is not None,
            "revert_file": self.is_mounted and self.proposal.is_edited,
        }
        return super().check_action(action, parameters) if offered.get(action, True) else False

    # --- a hunk -----------------------------------------------------------------------------------

    def action_edit_hunk(self) -> None:
        patch, index = self.proposal.patch, self.view.hunk
        if index < 0:
            return
        if refusal := refuse_edit(patch.hunks[index]):
            self.say(f"Not here: {refusal}.")
            return
        self.view.display = False
        proposed = edit_text(patch.hunks[index])
        self.editor.open(self._left_edits.get((patch.path, proposed), proposed), patch.hunks[index].new_start)
        self.say("ctrl+s takes the edit, esc leaves it")
        self.refresh_bindings()

    def on_inline_editor_saved(self, event: InlineEditor.Saved) -> None:
        patch = self.proposal.patch
        self._close_editor()
        self._rebuild_from(splice(patch, patch.hunks[self.view.hunk], event.text))

    def on_inline_editor_left(self, event: InlineEditor.Left) -> None:
        self._leave_editor(event.text)

    def _leave_editor(self, text: str) -> None:
        patch = self.proposal.patch
        self._left_edits[patch.path, edit_text(patch.hunks[self.view.hunk])] = text
        self._close_editor()

    def _close_editor(self) -> None:
        self.editor.close()
        self.view.display = True
        self.focus_body()
        self.say("")
        self.refresh_bindings()

    # --- a range of lines -------------------------------------------------------------------------

    def action_start_range(self) -> None:
        self.view.range_start = None if self.view.range_start is not None else self.view.cursor
        self.view.repaint()
        self.say("")
        self.refresh_bindings()

    @property
    def status(self) -> str:
        if not self.is_mounted or self.view.range_start is None:
            return super().status
        up, down = self.key("move_line.minus_1"), self.key("move_line.1")
        drop, keep, leave = (self.key(action) for action in ("toggle_hunk", "keep_range", "start_range"))
        return f"{down} {up} widen the range, {drop} drops its lines, {keep} keeps only them, {leave} leaves it"

    def action_next_hunk(self) -> None:
        if self.view.range_start is not None:
            self.view.move_line(1)
        else:
            super().action_next_hunk()

    def action_previous_hunk(self) -> None:
        if self.view.range_start is not None:
            self.view.move_line(-1)
        else:
            super().action_previous_hunk()

    def action_keep_range(self) -> None:
        """Drop the changed lines of the hunk that are not in the range."""
        self.drop_range(others=True)

    def drop_range(self, *, others: bool = False) -> None:
        """Take the changes of the range's lines out of the proposal; with `others` those of the hunk's other lines."""
        patch, hunk = self.proposal.patch, self.proposal.patch.hunks[self.view.hunk]
        if others and self.view.hides_part_of(self.view.hunk):
            self.say(f"This hunk has changes that are hidden: {self.key('toggle_quiet')} shows them.")
            return
        chosen = {id(line) for line in self.view.chosen_lines()}
        self.view.range_start = None
        self.refresh_bindings()
        positions = [
            position
            for position, line in enumerate(hunk.lines)
            if line.tag != " " and (id(line) in chosen) is not others
        ]
        if not chosen:
            self.view.repaint()
            self.say("The range holds no changed line.")
        elif positions:
            self._rebuild_from(drop_lines(patch, hunk, positions))

    # --- the whole file ---------------------------------------------------------------------------

    def action_edit_file(self) -> None:
        if self._in_editor:
            self.say("Your editor is open.")
        else:
            self.app.run_worker(self._edit_file(self.proposal))  # not ours: it must outlive a review that is taken back

    async def _edit_file(self, proposal: Proposal) -> None:
        assert self._open_editor is not None
        before = proposal.patch.new_text
        self._in_editor = True
        try:
            text = await self._open_editor(proposal.path, before)
        except StetError as error:
            if self.is_attached:
                self.say(f"{error.message} {error.hint}".rstrip())
            return
        finally:
            self._in_editor = False
            self.guard.shut()
        if text is None:
            return
        if not self.is_attached:
            self.app.notify("The proposal is no longer asked about: your edit was not taken.", severity="warning")
            return
        if proposal.patch.new_text != before:  # it was made again while the editor was open
            merged = self._merge(before, text, proposal.patch.new_text) if self._merge else None
            if merged is None:
                self.say("Not taken: the proposal changed meanwhile, in the same lines.")
                return
            text = merged
        self._rebuild_from(text, proposal)

    def action_revert_file(self) -> None:
        self.proposal.replace(self.proposal.original)
        self._show_rebuilt("Your edits of this file are undone.")

    # --- rebuilding -------------------------------------------------------------------------------

    def _rebuild_from(self, text: str, proposal: Proposal | None = None) -> None:
        """Let the patch of a file, by default the current one, be made again for a new text."""
        proposal = proposal or self.proposal
        if text != proposal.patch.new_text:
            self._rebuilds += 1
            self._recompute_patch(proposal, proposal.patch, text)

    @work(group="edit")
    async def _recompute_patch(self, proposal: Proposal, before: FilePatch, text: str) -> None:
        assert self._recompute is not None
        message = ""
        try:
            patch = await self._recompute(proposal.path, text)
            if proposal.patch is before:
                proposal.replace(patch)
            else:
                message = "Not taken: the proposal was made again meanwhile."
        except StetError as error:
            message = f"Not taken: {error.message}"
        finally:
            self._rebuilds -= 1
        if proposal is self.proposal:
            self._show_rebuilt(message)

    def _show_rebuilt(self, message: str = "") -> None:
        self.view.rebuild()
        self.view.start_tinting()
        self.show_marks()
        self.say(message)

    def renew_patch(self, path: str, patch: FilePatch, *, edited: FilePatch | None = None, note: str = "") -> None:
        """Show a proposal that was made again, because its file changed on disk.

        Decisions and remarks stay with the hunks that are the same; keys wait again, as something else is on screen.

        Args:
            edited: the same with the reviewer's edits, where those could be kept.

        Raises:
            KeyError: no file of this review has `path`.
        """
        proposal = self.find_proposal(path)
        proposal.renew(patch, edited)
        if note:
            proposal.notes = (*(known for known in proposal.notes if known != note), note)
        self.guard.shut()
        if proposal is self.proposal:
            if self.editor.is_open:
                self._leave_editor(self.editor.text)
            self._show_rebuilt(note)
        else:
            self.show_marks()

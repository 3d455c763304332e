"""The review of proposed changes: one modal for one or several files, ending with a `ReviewOutcome`.

It computes no diff and writes nothing: patches come ready, an edit goes back through `recompute`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import ClassVar, TypeVar

from textual.binding import BindingType

from core.contract.diff import FilePatch, Hunk
from core.contract.errors import StetError
from core.contract.requests import LineComment
from widgets.approval.confirm import ConfirmScreen
from widgets.approval.guard import TypeAheadGuard
from widgets.approval.inline_editor import InlineEditor
from widgets.approval.text_view import Passage
from widgets.diff.outcome import ReviewDecision, ReviewOutcome
from widgets.diff.proposal import Proposal
from widgets.diff.reading import ReadingScreen
from widgets.diff.review_keys import REVIEW_KEYS
from widgets.diff.rows import HeadRow, line_key
from widgets.diff.splice import drop_lines, edit_text, refuse_edit, splice
from widgets.diff.view import DiffView

Recompute = Callable[[str, str], Awaitable[FilePatch]]
"""Gives the patch of a path for a whole new text; raises `StetError` where there can be none."""
OpenEditor = Callable[[str, str], Awaitable[str | None]]
"""Opens a path's proposed text in the user's editor; gives the text as saved, or none."""

K = TypeVar("K")


class ReviewScreen(ReadingScreen):
    """Shows patches until they are accepted, in part or whole, or denied.

    Args:
        patches: what is proposed, a file each.
        title: what is to be done, to what.
        tool: which tool asks.
        reason: why it asks, in words.
        grant: what "this session" would allow; empty where that is not offered.
        rule: the rule that would be saved; empty where that is not offered.
        notes: by path, what the reviewer should know.
        recompute: without it nothing can be edited.
        open_editor: without it there is no editor to go to.
        split: side by side; if none, where the window is wide enough.
    """

    BINDINGS: ClassVar[list[BindingType]] = REVIEW_KEYS

    def __init__(
        self,
        patches: Sequence[FilePatch],
        *,
        title: str = "",
        tool: str = "",
        reason: str = "",
        grant: str = "",
        rule: str = "",
        notes: Mapping[str, tuple[str, ...]] | None = None,
        recompute: Recompute | None = None,
        open_editor: OpenEditor | None = None,
        guard: TypeAheadGuard | None = None,
        place: tuple[int, int] = (1, 1),
        split: bool | None = None,
    ) -> None:
        if not patches:
            raise ValueError("a review needs at least one patch")
        proposals = [Proposal(patch, (notes or {}).get(patch.path, ())) for patch in patches]
        super().__init__(
            proposals, title=title, tool=tool, reason=reason, grant=grant, guard=guard, place=place, split=split
        )
        self.rule = rule
        self._recompute = recompute
        self._open_editor = open_editor
        self._is_rebuilding = False
        self._left_edits: dict[tuple[str, Hunk], str] = {}
        """What was typed into a hunk and not taken: it is there again when the hunk is edited again."""

    @property
    def editor(self) -> InlineEditor:
        return self.query_one(InlineEditor)

    @property
    def is_typing(self) -> bool:
        return super().is_typing or (self.is_mounted and self.editor.is_open)

    @property
    def held_actions(self) -> frozenset[str]:
        if self._obstacle():
            return frozenset({"accept", "accept_session", "accept_save", "accept_note"})
        return frozenset()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        offered = {
            "accept_session": bool(self.grant),
            "accept_save": bool(self.rule),
            "edit_hunk": self._recompute is not None,
            "start_range": self._recompute is not None,
            "edit_file": self._recompute is not None and self._open_editor is not None,
            "revert_file": self.is_mounted and self.proposal.is_edited,
            "next_file": len(self.proposals) > 1,
            "toggle_everything": len(self.proposals) > 1,
        }
        return super().check_action(action, parameters) if offered.get(action, True) else False

    # --- deciding ---------------------------------------------------------------------------------

    def _obstacle(self) -> str:
        """Return why nothing can be accepted now; empty where it can."""
        if self._is_rebuilding:
            return "The diff is being rebuilt."
        if not any(proposal.accepted for proposal in self.proposals):
            return "Nothing is on: space takes a hunk in, n denies the whole."
        unseen = [proposal for proposal in self.proposals if proposal.unseen]
        if unseen:
            hunks = sum(len(proposal.unseen) for proposal in unseen)
            where = "" if len(self.proposals) == 1 else f" in {len(unseen)} file{'s' if len(unseen) > 1 else ''}"
            return f"Not seen to the end yet: {hunks} hunk{'s' if hunks > 1 else ''}{where}; v goes there."
        return ""

    def _accept(self, decision: ReviewDecision, note: str = "") -> None:
        if obstacle := self._obstacle():
            self.say(obstacle)
        else:
            files = tuple(proposal.review() for proposal in self.proposals)
            self.decide(ReviewOutcome(decision, files, self._comments(), note))

    def _deny(self, reason: str = "") -> None:
        self.decide(ReviewOutcome(ReviewDecision.DENY, (), self._comments(), reason))

    def _comments(self) -> tuple[LineComment, ...]:
        return tuple(comment for proposal in self.proposals for comment in proposal.line_comments())

    def action_accept(self) -> None:
        self._accept(ReviewDecision.ONCE)

    def action_accept_session(self) -> None:
        self._accept(ReviewDecision.SESSION)

    def action_accept_save(self) -> None:
        if obstacle := self._obstacle():
            self.say(obstacle)
            return
        passages = [Passage("Later calls that match it are not asked about:", "muted"), Passage(self.rule, "code")]
        self.app.push_screen(ConfirmScreen("Accept, and save this rule?", passages), self._on_rule)

    def _on_rule(self, confirmed: bool | None) -> None:
        if confirmed:
            self._accept(ReviewDecision.SAVE)

    def action_accept_note(self) -> None:
        if obstacle := self._obstacle():
            self.say(obstacle)
        else:
            self.ask_entry("note", "accept with a note (enter accepts, esc back):")

    def action_deny(self) -> None:
        self._deny()

    def action_deny_reason(self) -> None:
        self.ask_entry("reason", "deny because (enter denies, esc back):")

    def action_leave(self) -> None:
        if any(proposal.is_edited for proposal in self.proposals):
            self.say("Your edits would be lost: n denies, y accepts.")
        else:
            self._deny()

    # --- marks ------------------------------------------------------------------------------------

    def action_toggle_hunk(self) -> None:
        if self.view.range_start is not None:
            self._drop_range()
        elif self.view.hunk >= 0:
            self.proposal.toggle(self.view.hunk)
            self.show_marks()

    def action_toggle_file(self) -> None:
        self.proposal.toggle_all()
        self.show_marks()

    def action_toggle_everything(self) -> None:
        on = any(len(proposal.accepted) < len(proposal.patch.hunks) for proposal in self.proposals)
        for proposal in self.proposals:
            proposal.mark_all(on)
        self.show_marks()

    def on_diff_view_hunk_pressed(self, event: DiffView.HunkPressed) -> None:
        self.proposal.toggle(event.hunk)
        self.show_marks()

    def on_diff_view_seen(self) -> None:
        self.show_status()
        self.files.refresh()
        self.refresh_bindings()

    # --- remarks ----------------------------------------------------------------------------------

    def action_comment(self) -> None:
        """Remark on the line at the cursor, or on the hunk whose head it stands on."""
        view, proposal = self.view, self.proposal
        if isinstance(view.cursor_row, HeadRow):
            text = proposal.remarks.get(view.hunk, "")
            self.ask_entry("remark", "on this hunk (enter keeps, empty removes, esc back):", text)
        elif (line := view.cursor_line) is not None:
            text = proposal.comments.get(line_key(line), "")
            self.ask_entry("comment", "on this line (enter keeps, empty removes, esc back):", text)

    def on_entry(self, purpose: str, text: str) -> None:
        if purpose == "reason":
            self._deny(text)
        elif purpose == "note":
            self._accept(ReviewDecision.ONCE, text)
        elif purpose == "remark":
            self._keep_remark(self.proposal.remarks, self.view.hunk, text)
        elif purpose == "comment" and (line := self.view.cursor_line) is not None:
            self._keep_remark(self.proposal.comments, line_key(line), text)

    def _keep_remark(self, remarks: dict[K, str], key: K, text: str) -> None:
        if text:
            remarks[key] = text
        else:
            remarks.pop(key, None)
        self.view.rebuild()

    # --- edits ------------------------------------------------------------------------------------

    def action_edit_hunk(self) -> None:
        patch, index = self.proposal.patch, self.view.hunk
        if index < 0:
            return
        if refusal := refuse_edit(patch.hunks[index]):
            self.say(f"Not here: {refusal}.")
            return
        self.view.display = False
        text = self._left_edits.get((patch.path, patch.hunks[index]), edit_text(patch.hunks[index]))
        self.editor.open(text, patch.hunks[index].new_start)
        self.say("ctrl+s takes the edit, esc leaves it")
        self.refresh_bindings()

    def on_inline_editor_saved(self, event: InlineEditor.Saved) -> None:
        patch = self.proposal.patch
        self._close_editor()
        self._rebuild_from(splice(patch, patch.hunks[self.view.hunk], event.text))

    def on_inline_editor_left(self, event: InlineEditor.Left) -> None:
        patch = self.proposal.patch
        self._left_edits[patch.path, patch.hunks[self.view.hunk]] = event.text
        self._close_editor()

    def _close_editor(self) -> None:
        self.editor.close()
        self.view.display = True
        self.focus_body()
        self.say("")
        self.refresh_bindings()

    def action_edit_file(self) -> None:
        self.run_worker(self._edit_file(self.proposal), group="edit", exclusive=True)

    async def _edit_file(self, proposal: Proposal) -> None:
        assert self._open_editor is not None
        try:
            text = await self._open_editor(proposal.path, proposal.patch.new_text)
        except StetError as error:
            self.say(f"{error.message} {error.hint}".rstrip())
            return
        finally:
            self.guard.shut()
        if text is not None:
            self._rebuild_from(text)

    def action_start_range(self) -> None:
        self.view.range_start = None if self.view.range_start is not None else self.view.cursor
        self.view.repaint()
        self.say("] [ widen the range, space drops its lines, V leaves it" if self.view.range_start is not None else "")

    def _drop_range(self) -> None:
        patch, hunk = self.proposal.patch, self.proposal.patch.hunks[self.view.hunk]
        chosen = {id(line) for line in self.view.chosen_lines()}
        self.view.range_start = None
        if chosen:
            positions = [position for position, line in enumerate(hunk.lines) if id(line) in chosen]
            self._rebuild_from(drop_lines(patch, hunk, positions))
        else:
            self.say("The range holds no changed line.")

    def action_revert_file(self) -> None:
        self.proposal.replace(self.proposal.original)
        self._show_rebuilt("Your edits of this file are undone.")

    def _rebuild_from(self, text: str) -> None:
        """Let the patch of the current file be made again for a new text."""
        if text != self.proposal.patch.new_text:
            self._is_rebuilding = True
            self.run_worker(self._recompute_patch(self.proposal, text), group="edit", exclusive=True)

    async def _recompute_patch(self, proposal: Proposal, text: str) -> None:
        assert self._recompute is not None
        message = ""
        try:
            proposal.replace(await self._recompute(proposal.path, text))
        except StetError as error:
            message = f"Not taken: {error.message}"
        finally:
            self._is_rebuilding = False
        if proposal is self.proposal:
            self._show_rebuilt(message)

    def replace_patch(self, path: str, patch: FilePatch, note: str = "") -> None:
        """Show a proposal that was rebuilt meanwhile, for example because the file changed on disk.

        Decisions stay with the hunks that are the same; keys wait again, as something else is on screen now.

        Raises:
            KeyError: no file of this review has `path`.
        """
        index = next((index for index, proposal in enumerate(self.proposals) if proposal.path == path), None)
        if index is None:
            raise KeyError(path)
        proposal = self.proposals[index]
        proposal.replace(patch, proposed=patch.new_text)
        if note:
            proposal.notes = (*(known for known in proposal.notes if known != note), note)
        self.guard.shut()
        if index == self.current:
            if self.editor.is_open:
                self._close_editor()
            self._show_rebuilt(note)

    def _show_rebuilt(self, message: str = "") -> None:
        self.view.rebuild()
        self.view.start_tinting()
        self.show_marks()
        self.say(message)

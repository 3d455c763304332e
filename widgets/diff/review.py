"""The review of proposed changes: one modal for one or several files, ending with a `ReviewOutcome`.

It computes no diff and writes nothing: patches come ready, an edit goes back through `recompute`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, TypeVar

from textual.binding import BindingType

from core.contract.diff import FilePatch
from core.contract.requests import LineComment
from core.contract.visible import make_visible_line
from widgets.approval.confirm import ConfirmScreen
from widgets.approval.guard import TypeAheadGuard
from widgets.approval.text_view import Passage
from widgets.diff.bonds import Bonds
from widgets.diff.editing import EditingScreen, Merge, OpenEditor, Recompute
from widgets.diff.outcome import ReviewDecision, ReviewOutcome
from widgets.diff.proposal import Proposal
from widgets.diff.review_keys import REVIEW_KEYS
from widgets.diff.rows import HeadRow, line_key
from widgets.diff.view import DiffView

K = TypeVar("K")


class ReviewScreen(EditingScreen):
    """Shows patches until they are accepted, in part or whole, or denied.

    Args:
        patches: what is proposed, a file each.
        title: what is to be done, to what.
        tool: which tool asks.
        reason: why it asks, in words.
        grant: what "this session" would allow; empty where that is not offered.
        rule: the rule that would be saved; empty where that is not offered. Or by path, one for each file.
        scopes: where it can be saved: for the `user`, for the `project`.
        notes: by path, what the reviewer should know.
        dropped_with: by path the others of which nothing can be taken where nothing of that one is.
        recompute: without it nothing can be edited.
        open_editor: without it there is no editor to go to.
        merge: without it edits are lost when a proposal is made again.
        split: side by side; if none, where the window is wide enough.
        is_wanted: the user asked for all of this: it need not be seen to its end.
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
        rule: str | Mapping[str, str] = "",
        scopes: tuple[str, ...] = (),
        notes: Mapping[str, tuple[str, ...]] | None = None,
        dropped_with: Mapping[str, Sequence[str]] | None = None,
        recompute: Recompute | None = None,
        open_editor: OpenEditor | None = None,
        merge: Merge | None = None,
        guard: TypeAheadGuard | None = None,
        place: tuple[int, int] = (1, 1),
        split: bool | None = None,
        is_wanted: bool = False,
    ) -> None:
        if not patches:
            raise ValueError("a review needs at least one patch")
        super().__init__(
            *(Proposal(patch, (notes or {}).get(patch.path, ())) for patch in patches),
            recompute=recompute,
            open_editor=open_editor,
            merge=merge,
            title=title,
            tool=tool,
            reason=reason,
            grant=grant,
            guard=guard,
            place=place,
            split=split,
        )
        self._bonds = Bonds(dropped_with or {})
        self._rule = rule
        self._scopes = scopes
        self._is_wanted = is_wanted

    @property
    def rule(self) -> str:
        """The rule, or rules, of the files of which anything is accepted."""
        if isinstance(self._rule, str):
            return self._rule
        rules = [self._rule.get(proposal.path, "") for proposal in self.proposals if proposal.accepted]
        return "\n".join(dict.fromkeys(rules)) if rules and all(rules) else ""

    @property
    def held_actions(self) -> frozenset[str]:
        if self._obstacle():
            return frozenset({"accept", "accept_session", "accept_save", "save_project", "accept_note"})
        return frozenset()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        several = len(self.proposals) > 1
        offered = {
            "accept_session": bool(self.grant),
            "accept_save": bool(self.rule),
            "save_project": bool(self.rule) and "project" in self._scopes,
            "next_file": several,
            "toggle_everything": several,
            "decline_file": several,
        }
        return super().check_action(action, parameters) if offered.get(action, True) else False

    # --- deciding ---------------------------------------------------------------------------------

    def _obstacle(self) -> str:
        """Return why nothing can be accepted now; empty where it can."""
        if held := [proposal.path for proposal in self.proposals if proposal.is_held]:
            return make_visible_line(f"{held[0]} changed on disk: its diff is being rebuilt.")
        if self._rebuilds:
            return "The diff is being rebuilt."
        if not any(proposal.accepted for proposal in self.proposals):
            return f"Nothing is on: {self.key('toggle_hunk')} takes a hunk in, {self.key('deny')} denies the whole."
        unseen = [proposal for proposal in self.proposals if proposal.unseen]
        if unseen and not self._is_wanted:
            hunks = sum(len(proposal.unseen) for proposal in unseen)
            where = "" if len(self.proposals) == 1 else f" in {len(unseen)} file{'s' if len(unseen) > 1 else ''}"
            count = f"{hunks} hunk{'s' if hunks > 1 else ''}{where}"
            if self.view.quiet:
                blanks, end = self.key("toggle_quiet"), self.key("show_end")
                return f"Not seen yet: {count}; {blanks} shows changes of blanks again, {end} all to the end."
            return f"Not seen to the end yet: {count}; {self.key('show_end')} goes there."
        return ""

    def _accept(self, decision: ReviewDecision, note: str = "", scope: str = "") -> None:
        if obstacle := self._obstacle():
            self.say(obstacle)
        else:
            files = tuple(proposal.review() for proposal in self.proposals)
            self.decide(ReviewOutcome(decision, files, self._comments(), note, scope))

    def _deny(self, reason: str = "") -> None:
        self.decide(ReviewOutcome(ReviewDecision.DENY, (), self._comments(), reason))

    def _comments(self) -> tuple[LineComment, ...]:
        return tuple(comment for proposal in self.proposals for comment in proposal.line_comments())

    def action_accept(self) -> None:
        self._accept(ReviewDecision.ONCE)

    def action_accept_session(self) -> None:
        self._accept(ReviewDecision.SESSION)

    def action_accept_save(self) -> None:
        self._save("", "Accept, and save this rule?")

    def action_save_project(self) -> None:
        self._save("project", "Accept, and save this rule for everyone in this project?")

    def _save(self, scope: str, question: str) -> None:
        if obstacle := self._obstacle():
            self.say(obstacle)
            return

        def answer(confirmed: bool | None) -> None:
            if confirmed:
                self._accept(ReviewDecision.SAVE, scope=scope)

        passages = [Passage("Later calls that match it are not asked about:", "muted"), Passage(self.rule, "code")]
        self.app.push_screen(ConfirmScreen(question, passages), answer)

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
            self.say(f"Your edits would be lost: {self.key('deny')} denies, {self.key('accept')} accepts.")
        else:
            self._deny()

    # --- marks ------------------------------------------------------------------------------------

    def _show_marked(self) -> None:
        """Show what was done to the file, and to those that stand or fall with it."""
        along = self._bonds.follow(self.proposal, self.proposals)
        self.show_marks()
        if along:
            state = "on" if self.proposal.accepted else "off"
            self.say(make_visible_line(f"{state} with it: {', '.join(along)}"))

    def action_toggle_hunk(self) -> None:
        if self.view.range_start is not None:
            self.drop_range()
        elif self.view.hunk >= 0:
            self.proposal.toggle(self.view.hunk)
            self._show_marked()

    def action_toggle_file(self) -> None:
        self.proposal.toggle_all()
        self._show_marked()

    def action_decline_file(self) -> None:
        label = "this file is not accepted, because (enter keeps, esc back):"
        self.ask_entry("file", label, self.proposal.reason)

    def action_toggle_everything(self) -> None:
        on = any(len(proposal.accepted) < len(proposal.patch.hunks) for proposal in self.proposals)
        for proposal in self.proposals:
            proposal.mark_all(on)
        self.show_marks()

    def on_diff_view_hunk_pressed(self, event: DiffView.HunkPressed) -> None:
        self.proposal.toggle(event.hunk)
        self._show_marked()

    def on_sheet_view_seen(self) -> None:
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
        elif purpose == "file":
            self.proposal.decline(text)
            self._show_marked()
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

    # --- files that change under the review ---------------------------------------------------------

    def hold(self, path: str) -> None:
        """Let nothing be accepted until the proposal of a file was made again (`renew_patch`) or taken out."""
        self.find_proposal(path).is_held = True
        self.guard.shut()
        self.say(make_visible_line(f"{path} changed on disk: its diff is being rebuilt."))
        self.refresh_bindings()

    def add(self, patch: FilePatch, notes: tuple[str, ...] = ()) -> None:
        """Show one file more."""
        self.proposals.append(Proposal(patch, notes))
        self.guard.shut()
        self.show_marks()

    def take_out(self, path: str, message: str) -> None:
        """Remove a file that is no longer proposed; at least one must be left.

        Raises:
            KeyError: no file of this review has `path`.
        """
        gone = self.find_proposal(path)
        current = self.proposal
        self.proposals.remove(gone)
        self.guard.shut()
        if gone is current:
            if self.editor.is_open:
                self._close_editor()
            self.show_file(min(self.current, len(self.proposals) - 1))
        else:
            self.current = self.proposals.index(current)
            self.show_marks()
        self.say(message)

"""The part of the review that reads: files, hunks, ways of showing, search. It decides and changes nothing."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content
from textual.geometry import Size
from textual.widgets import Label

from core.contract.visible import make_visible_line
from widgets.approval.dialog import DecisionScreen, heading_row, status_rows
from widgets.approval.entry_line import EntryLine
from widgets.approval.guard import TypeAheadGuard
from widgets.approval.inline_editor import InlineEditor
from widgets.common.shown_keys import shown_keys
from widgets.diff.file_list import FileList
from widgets.diff.outcome import ReviewOutcome
from widgets.diff.proposal import Proposal
from widgets.diff.view import DiffView

LIST_WIDTH = 100
"""Columns of the screen from which several files stand in a list at the left."""

LIST_LEAST = 30
"""Columns that the list may take in any case."""

ROOMY = 30
"""Rows of the screen from which blank lines set the diff apart."""

LOW = 16
"""Rows of the screen below which the reason gives its place to the diff."""


class ReadingScreen(DecisionScreen[ReviewOutcome]):
    """Shows proposals.

    Args:
        title: what is to be done, to what.
        tool: which tool asks.
        reason: why it asks, in words.
        grant: what "this session" would allow; empty where that is not offered.
    """

    CSS_PATH = ["../../styles/approval.tcss", "../../styles/diff.tcss"]  # noqa: RUF012  # as Textual declares it

    def __init__(
        self,
        proposals: Sequence[Proposal],
        *,
        title: str,
        tool: str,
        reason: str,
        grant: str,
        guard: TypeAheadGuard | None,
        place: tuple[int, int],
        split: bool | None = None,
    ) -> None:
        super().__init__(guard=guard, place=place)
        self.proposals = list(proposals)
        self.current = 0
        self.reason = reason
        self.grant = grant
        self._title = title
        self._tool = tool
        self._split = split

    # --- looks ------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        files = FileList(self.proposals, id="files")
        self._fit(self.app.size, files)  # before there are widgets, which would all be styled once more
        with Vertical(id="review"):
            yield heading_row()
            why = Label(Content(make_visible_line(self.reason)), id="why", markup=False)
            why.display = bool(self.reason) and self.app.size.height >= LOW
            yield why
            notes = Label("", id="notes", markup=False)
            notes.display = False  # what has no room at first need not be laid out to find that
            yield notes
            with Container(id="body"):
                yield files
                yield DiffView(self.proposals[0], id="diff")
                yield InlineEditor(id="editor")
            grant = Label(Content(""), id="grant", markup=False)
            grant.display = bool(self.grant)
            yield grant
            yield from status_rows(self)

    def on_mount(self) -> None:
        grant = self.query_one("#grant", Label)
        grant.update(Content(make_visible_line(f"{self.key('accept_session')} this session: {self.grant}")))
        self.view.more_key, self.view.blanks_key = self.key("open_context"), self.key("toggle_blanks")
        self.view.split_choice = self._split
        self.show_marks()
        self.view.focus()

    def on_resize(self, event: events.Resize) -> None:
        self._fit(event.size, self.files)
        self.query_one("#why").display = bool(self.reason) and event.size.height >= LOW

    def _fit(self, size: Size, files: FileList) -> None:
        """Give the list of files the room that it needs, at most a quarter; a single file needs none."""
        several = len(self.proposals) > 1
        is_column = several and size.width >= LIST_WIDTH
        self.set_class(is_column, "-list")
        self.set_class(size.height >= ROOMY, "-roomy")
        files.display = several
        files.styles.width = min(files.natural_width + 1, max(LIST_LEAST, size.width // 4)) if is_column else None

    @property
    def view(self) -> DiffView:
        return self.query_one(DiffView)

    @property
    def files(self) -> FileList:
        return self.query_one(FileList)

    @property
    def proposal(self) -> Proposal:
        return self.proposals[self.current]

    def key(self, action: str) -> str:
        """Return the key of an action of the review, as it is in force."""
        return shown_keys(self, f"review.{action}")

    def find_proposal(self, path: str) -> Proposal:
        """Return the proposal of a path.

        Raises:
            KeyError: there is none.
        """
        for proposal in self.proposals:
            if proposal.path == path:
                return proposal
        raise KeyError(path)

    @property
    def heading(self) -> str:
        paths = ", ".join(proposal.path for proposal in self.proposals)
        what = self._title or paths
        if len(self.proposals) == 1 and paths not in what:
            what = f"{what} \u00b7 {paths}"
        return make_visible_line(f"Review \u00b7 {self._tool} \u00b7 {what}" if self._tool else f"Review \u00b7 {what}")

    @property
    def status(self) -> str:
        total = sum(len(proposal.patch.hunks) for proposal in self.proposals)
        accepted = sum(len(proposal.accepted) for proposal in self.proposals)
        unseen = sum(len(proposal.unseen) for proposal in self.proposals)
        parts = [f"{accepted} of {total} hunk{'s' if total != 1 else ''} on"]
        if len(self.proposals) > 1:
            parts.append(f"file {self.current + 1} of {len(self.proposals)}")
        else:
            parts.append(self.files.describe(0))
        if unseen:
            parts.append(f"{unseen} not seen yet ({self.key('show_end')})")
        if self.view.quiet:
            parts.append(self._quiet_status())
        return " \u00b7 ".join(parts)

    def _quiet_status(self) -> str:
        hidden, partly = self.view.quiet_hunks
        if not hidden and not partly:
            return "no change of blanks alone"
        whole = f"{hidden} hunk{'s' if hidden != 1 else ''} of blanks alone hidden" if hidden else ""
        part = f"some blanks of {partly} hunk{'s' if partly != 1 else ''} hidden" if partly else ""
        shown = f"{self.key('toggle_quiet')} shows them"
        return f"{' and '.join(filter(None, (whole, part)))}; accepting takes them, too ({shown})"

    def show_file(self, index: int) -> None:
        """Show file `index` from its beginning."""
        self.current = index
        self.view.show(self.proposal)
        self.show_marks()

    def show_marks(self) -> None:
        """Draw what depends on marks and on the current file."""
        notes = self.query_one("#notes", Label)
        shown = [f"! {make_visible_line(note)}" for note in self.proposal.notes]
        if self.proposal.reason:
            shown.append(make_visible_line(f"not accepted: {self.proposal.reason}"))
        notes.update(Content("\n".join(shown)))
        notes.display = bool(shown)
        self._fit(self.app.size, self.files)
        self.files.show(self.current)
        self.view.repaint()
        self.say("")
        self.refresh_bindings()

    def focus_body(self) -> None:
        self.view.focus()

    # --- moving -----------------------------------------------------------------------------------

    def action_next_hunk(self) -> None:
        """Go to the next hunk, behind the last one to the next file."""
        if not self.view.next_hunk() and self.current + 1 < len(self.proposals):
            self.show_file(self.current + 1)

    def action_previous_hunk(self) -> None:
        """Go to the hunk before, from the first one to the end of the file before."""
        if not self.view.previous_hunk() and self.current:
            self.show_file(self.current - 1)
            self.view.go_to_end()

    def action_next_file(self, step: int) -> None:
        self.show_file((self.current + step) % len(self.proposals))

    def on_file_list_chosen(self, event: FileList.Chosen) -> None:
        self.show_file(event.index)

    def action_move_line(self, step: int) -> None:
        self.view.move_line(step)

    def action_go_to_start(self) -> None:
        self.view.go_to_start()

    def action_go_to_end(self) -> None:
        if not self.view.hides:  # who hides some of it did not ask for the whole
            self.proposal.whole_asked = True
        self.view.go_to_end()
        self.show_marks()

    def action_show_end(self) -> None:
        """Show the end of this file, or of the next one whose end was not seen; what was hidden is shown again."""
        if self.view.quiet:
            self.action_toggle_quiet()
        if not self.proposal.unseen:
            others = [*range(self.current + 1, len(self.proposals)), *range(self.current)]
            unseen = next((index for index in others if self.proposals[index].unseen), self.current)
            if unseen != self.current:
                self.show_file(unseen)
        self.action_go_to_end()

    # --- ways of showing --------------------------------------------------------------------------

    def action_toggle_split(self) -> None:
        self.view.split_choice = not self.view.is_split
        self.view.rebuild()

    def action_toggle_wrap(self) -> None:
        self.view.wrap = not self.view.wrap
        self.view.rebuild()

    def action_toggle_blanks(self) -> None:
        self.view.blanks = not self.view.blanks
        self.view.rebuild()

    def action_toggle_quiet(self) -> None:
        self.view.quiet = not self.view.quiet
        self.view.rebuild()
        self.show_status()

    def on_sheet_view_quietened(self) -> None:
        self.show_status()

    def action_open_context(self) -> None:
        self._open_context(self.view.hunk)

    def on_diff_view_fold_pressed(self, event: DiffView.FoldPressed) -> None:
        self._open_context(event.hunk)

    def _open_context(self, hunk: int) -> None:
        if hunk >= 0:
            self.proposal.open_context(hunk)
            self.view.rebuild()

    def action_open_whole(self) -> None:
        self.proposal.toggle_whole()
        self.view.rebuild()

    # --- search -----------------------------------------------------------------------------------

    def action_search(self) -> None:
        self.ask_entry("search", "search (\u2193\u2191 other places, enter stays, esc ends):", self.view.needle)

    def on_entry_line_edited(self, event: EntryLine.Edited) -> None:
        if event.purpose == "search":
            found, total = self.view.find(event.text, event.step)
            self.say(f"{found} of {total} lines" if total else "not found" if event.text else "")

    def on_entry_line_left(self, event: EntryLine.Left) -> None:
        if event.purpose == "search":
            self.view.find("")

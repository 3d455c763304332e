"""Asks whether a command may run: the whole command, where, what its parts are judged, why it asks."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from core.contract.confirmation import ExecConfirmation, ToolConfirmationOutcome
from core.contract.requests import ApprovalReply, ApprovalRequest
from core.contract.visible import has_hidden
from widgets.approval.approval_dialog import ApprovalDialog, title_line
from widgets.approval.dialog import heading_row, status_rows
from widgets.approval.guard import TypeAheadGuard
from widgets.approval.inline_editor import InlineEditor
from widgets.approval.text_view import Passage, TextView

_SIGNS = {"allow": ("\u2714", "good"), "deny": ("\u2716", "bad"), "ask": ("?", "warning")}


class ExecDialog(ApprovalDialog):
    """Ends with the reply; `reply.command` holds the command where it was edited."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "edit", "edit", id="exec.edit"),
    ]

    def __init__(
        self,
        request: ApprovalRequest,
        details: ExecConfirmation,
        *,
        guard: TypeAheadGuard | None = None,
        place: tuple[int, int] = (1, 1),
    ) -> None:
        super().__init__(request, guard=guard, place=place)
        self.details = details
        self.command = details.command

    @property
    def heading(self) -> str:
        return title_line("Run a command?", self.request.display_name)

    @property
    def is_edited(self) -> bool:
        return self.command != self.details.command

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield heading_row()
            yield TextView(self.passages())
            yield InlineEditor()
            yield from status_rows(self)

    def passages(self) -> list[Passage]:
        """Return all that is shown: the command first and whole."""
        shown = [Passage(self.command, "code", "$ ")]
        if self.is_edited:
            note = "edited by you; the verdicts below are of the command as it was proposed"
            shown.append(Passage(note, "warning", "! "))
        if has_hidden(self.command):
            shown.append(Passage("holds hidden characters, shown here as symbols", "warning", "! "))
        shown.append(Passage(self.details.directory, "plain", "in      "))
        shown += self.asker_passages()
        if self.request.reason and [part.reason for part in self.details.parts] != [self.request.reason]:
            shown.append(Passage(self.request.reason, "plain", "asks    "))
        for part in self.details.parts:
            sign, look = _SIGNS.get(part.verdict, ("?", "warning"))
            reason = f"  \u2014 {part.reason}" if part.reason else ""
            shown.append(Passage(f"{part.text}{reason}", look, f"{sign} {part.verdict:<6}"))
        return [*shown, *self.grant_passages()]

    @property
    def is_typing(self) -> bool:
        return super().is_typing or (self.is_mounted and self.editor.is_open)

    @property
    def editor(self) -> InlineEditor:
        return self.query_one(InlineEditor)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("accept_always", "accept_save") and self.is_edited:
            # What was granted or would be saved is said of the command as it was proposed.
            return False
        return super().check_action(action, parameters)

    def approval(self, outcome: ToolConfirmationOutcome, note: str) -> ApprovalReply:
        reply = super().approval(outcome, note)
        return replace(reply, command=self.command) if self.is_edited else reply

    def action_edit(self) -> None:
        if has_hidden(self.command):
            self.say("It holds hidden characters, which editing here could change: r rejects it with a reason.")
            return
        self.body.display = False
        self.editor.open(self.command)
        self.editor.move_cursor(self.editor.document.end)
        self.say("ctrl+s takes the edit, esc leaves it")
        self.refresh_bindings()

    def on_inline_editor_saved(self, event: InlineEditor.Saved) -> None:
        if not event.text.strip():
            self.say("An empty command does nothing: esc leaves the edit, then n rejects it.")
            return
        self.command = event.text
        self._close_editor()
        self.body.show(self.passages())
        self.body.fit()
        self.say("y runs the edited command")

    def on_inline_editor_left(self) -> None:
        self._close_editor()
        self.say("")

    def _close_editor(self) -> None:
        self.editor.close()
        self.body.display = True
        self.focus_body()
        self.refresh_bindings()

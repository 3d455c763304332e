"""Asks whether a command may run: the whole command, where, what its parts are judged, why it asks."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import TextArea

from core.contract.confirmation import ExecConfirmation, ToolConfirmationOutcome
from core.contract.requests import ApprovalReply, ApprovalRequest
from core.contract.visible import has_hidden
from widgets.approval.approval_dialog import ApprovalDialog, title_line
from widgets.approval.dialog import heading_row, status_rows
from widgets.approval.guard import TypeAheadGuard
from widgets.approval.text_view import Passage, TextView

_SIGNS = {"allow": ("\u2714", "good"), "deny": ("\u2716", "bad"), "ask": ("?", "warning")}


class ExecDialog(ApprovalDialog):
    """Ends with the reply; `reply.command` holds the command where it was edited."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "edit", "edit", id="exec.edit"),
        Binding("ctrl+s", "take_edit", "take the edit", id="exec.take_edit"),
        Binding("escape", "leave_edit", "leave it", id="exec.leave_edit"),
    ]
    TYPING_ACTIONS: ClassVar[frozenset[str]] = frozenset({"take_edit", "leave_edit"})

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
            yield TextArea(id="command-editor", show_line_numbers=False, compact=True)
            yield from status_rows(self)

    def on_mount(self) -> None:
        self.query_one("#command-editor").display = False

    def passages(self) -> list[Passage]:
        """Return all that is shown: the command first and whole."""
        shown = [Passage(self.command, "code", "$ ")]
        if self.is_edited:
            note = "edited by you; the verdicts below are of the command as it was proposed"
            shown.append(Passage(note, "warning", "! "))
        if has_hidden(self.command):
            shown.append(Passage("holds hidden characters, shown here as symbols", "warning", "! "))
        shown.append(Passage(self.details.directory, "plain", "in      "))
        if self.request.reason:
            shown.append(Passage(self.request.reason, "plain", "asks    "))
        for part in self.details.parts:
            sign, look = _SIGNS.get(part.verdict, ("?", "warning"))
            reason = f"  \u2014 {part.reason}" if part.reason else ""
            shown.append(Passage(f"{part.text}{reason}", look, f"{sign} {part.verdict:<6}"))
        return [*shown, *self.grant_passages()]

    @property
    def is_typing(self) -> bool:
        return super().is_typing or (self.is_mounted and self.editor.display)

    @property
    def editor(self) -> TextArea:
        return self.query_one("#command-editor", TextArea)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("take_edit", "leave_edit"):
            return self.is_mounted and bool(self.editor.display)
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
        self.editor.load_text(self.command)
        self.editor.move_cursor(self.editor.document.end)
        self._show_editor(True)
        self.editor.focus()
        self.say("ctrl+s takes the edit, esc leaves it")

    def action_take_edit(self) -> None:
        if not self.editor.text.strip():
            self.say("An empty command does nothing: esc leaves the edit, then n rejects it.")
            return
        self.command = self.editor.text
        self._show_editor(False)
        self.body.show(self.passages())
        self.fit()
        self.say("y runs the edited command")

    def action_leave_edit(self) -> None:
        self._show_editor(False)
        self.say("")

    def _show_editor(self, shown: bool) -> None:
        self.editor.display = shown
        self.body.display = not shown
        if not shown:
            self.focus_body()
        self.refresh_bindings()

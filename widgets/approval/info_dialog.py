"""Asks about calls that are neither edits nor commands: a fetch with its addresses, an MCP tool with its arguments."""

from __future__ import annotations

import json
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from core.contract.confirmation import InfoConfirmation, McpConfirmation, ToolConfirmationOutcome
from core.contract.requests import ApprovalRequest
from core.contract.visible import has_hidden
from widgets.approval.approval_dialog import ApprovalDialog, title_line
from widgets.approval.dialog import heading_row, status_rows
from widgets.approval.guard import TypeAheadGuard
from widgets.approval.text_view import Passage, TextView


class InfoDialog(ApprovalDialog):
    """Shows a prompt with addresses, or the arguments of an MCP tool as JSON."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("S", "accept_server", "the whole server", key_display="S", id="approval.accept_server"),
    ]

    def __init__(
        self,
        request: ApprovalRequest,
        details: InfoConfirmation | McpConfirmation,
        *,
        guard: TypeAheadGuard | None = None,
        place: tuple[int, int] = (1, 1),
    ) -> None:
        super().__init__(request, guard=guard, place=place)
        self.details = details

    @property
    def heading(self) -> str:
        if isinstance(self.details, McpConfirmation):
            name = self.details.tool_display_name or self.details.tool_name
            return title_line("Call an MCP tool?", self.details.server_name, name)
        return title_line(self.details.title, self.request.display_name)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield heading_row()
            yield TextView(self.passages())
            yield from status_rows(self)

    def passages(self) -> list[Passage]:
        if isinstance(self.details, McpConfirmation):
            arguments = json.dumps(self.details.args, indent=2, ensure_ascii=False, default=str)
            texts = [arguments]
            shown = [
                Passage(f"{self.details.tool_name} of {self.details.server_name}", "plain", "tool    "),
                Passage(arguments, "code", "args    "),
            ]
        else:
            texts = [self.details.prompt, *self.details.urls]
            shown = [Passage(self.details.prompt)] if self.details.prompt else []
            shown += [Passage(url, "code", "url     ") for url in self.details.urls]
        if any(map(has_hidden, texts)):
            shown.append(Passage("holds hidden characters, shown here as symbols", "warning", "! "))
        shown += self.asker_passages()
        if self.request.reason:
            shown.append(Passage(self.request.reason, "plain", "asks    "))
        shown += self.grant_passages()
        if self.offers_server and isinstance(self.details, McpConfirmation):
            shown.append(Passage(f"every tool of {self.details.server_name} in this session", "plain", "S allows "))
        return shown

    @property
    def offers_server(self) -> bool:
        """Whether every tool of the server can be allowed at once."""
        return isinstance(self.details, McpConfirmation) and bool(self.request.grant)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "accept_server" and not self.offers_server:
            return False
        return super().check_action(action, parameters)

    def action_accept_server(self) -> None:
        """Accept, and let every tool of the server run in this session."""
        self._accept(ToolConfirmationOutcome.PROCEED_ALWAYS_SERVER)

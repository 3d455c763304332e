"""Asks about calls that are neither edits nor commands: a fetch with its addresses, an MCP tool with its arguments."""

from __future__ import annotations

import json

from textual.app import ComposeResult
from textual.containers import Vertical

from core.contract.confirmation import InfoConfirmation, McpConfirmation
from core.contract.requests import ApprovalRequest
from core.contract.visible import has_hidden
from widgets.approval.approval_dialog import ApprovalDialog, title_line
from widgets.approval.dialog import heading_row, status_rows
from widgets.approval.guard import TypeAheadGuard
from widgets.approval.text_view import Passage, TextView


class InfoDialog(ApprovalDialog):
    """Shows a prompt with addresses, or the arguments of an MCP tool as JSON."""

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
        if self.request.reason:
            shown.append(Passage(self.request.reason, "plain", "asks    "))
        return [*shown, *self.grant_passages()]

"""Asks whether a plan is good to be carried out."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical

from core.contract.confirmation import PlanConfirmation
from core.contract.requests import ApprovalRequest
from widgets.approval.approval_dialog import ApprovalDialog, title_line
from widgets.approval.dialog import heading_row, status_rows
from widgets.approval.guard import TypeAheadGuard
from widgets.approval.text_view import Passage, TextView


class PlanDialog(ApprovalDialog):
    """Shows the plan as it is written."""

    def __init__(
        self,
        request: ApprovalRequest,
        details: PlanConfirmation,
        *,
        guard: TypeAheadGuard | None = None,
        place: tuple[int, int] = (1, 1),
    ) -> None:
        super().__init__(request, guard=guard, place=place)
        self.details = details

    @property
    def heading(self) -> str:
        return title_line(self.details.title or "Carry out this plan?", self.details.plan_file)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield heading_row()
            yield TextView(self.passages())
            yield from status_rows(self)

    def passages(self) -> list[Passage]:
        lines = self.details.plan.split("\n")
        shown = [Passage(line, "heading" if line.startswith("#") else "plain") for line in lines]
        return [*shown, *self.grant_passages()]

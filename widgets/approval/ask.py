"""One door for all requests but edits: makes the dialog, shows it, gives the reply."""

from __future__ import annotations

from typing import Any

from textual.app import App

from core.contract.confirmation import (
    AskUserConfirmation,
    ExecConfirmation,
    InfoConfirmation,
    McpConfirmation,
    PlanConfirmation,
    ToolConfirmationOutcome,
)
from core.contract.requests import ApprovalReply, ApprovalRequest, QuestionReply, QuestionRequest, Reply, Request
from widgets.approval.dialog import DecisionScreen, Shown, present
from widgets.approval.exec_dialog import ExecDialog
from widgets.approval.guard import TypeAheadGuard
from widgets.approval.info_dialog import InfoDialog
from widgets.approval.plan_dialog import PlanDialog
from widgets.approval.question_dialog import QuestionDialog


def make_dialog(
    request: Request, *, guard: TypeAheadGuard | None = None, place: tuple[int, int] = (1, 1)
) -> DecisionScreen[Any]:
    """Return the dialog for a request. It ends with an `ApprovalReply`, or for questions with a `QuestionReply`.

    Raises:
        ValueError: an edit, which `widgets.diff.review.ReviewScreen` asks about.
    """
    if isinstance(request, QuestionRequest):
        return QuestionDialog(request.title, request.questions, guard=guard, place=place)
    details = request.details
    if isinstance(details, ExecConfirmation):
        return ExecDialog(request, details, guard=guard, place=place)
    if isinstance(details, InfoConfirmation | McpConfirmation):
        return InfoDialog(request, details, guard=guard, place=place)
    if isinstance(details, PlanConfirmation):
        return PlanDialog(request, details, guard=guard, place=place)
    if isinstance(details, AskUserConfirmation):
        return QuestionDialog(details.title, details.questions, is_open=True, guard=guard, place=place)
    raise ValueError(f"{details.type} confirmations have no dialog here")


def reply_of(request: Request, outcome: ApprovalReply | QuestionReply) -> Reply:
    """Return what a dialog ended with as the reply that the request expects."""
    if isinstance(request, ApprovalRequest) and isinstance(outcome, QuestionReply):
        if outcome.cancelled:
            return ApprovalReply(ToolConfirmationOutcome.CANCEL, "the user did not answer")
        return ApprovalReply(ToolConfirmationOutcome.PROCEED_ONCE, answers=outcome.answers)
    return outcome


async def ask(
    app: App[Any],
    request: Request,
    *,
    guard: TypeAheadGuard | None = None,
    place: tuple[int, int] = (1, 1),
    on_shown: Shown = lambda dialog: None,
) -> Reply:
    """Show the dialog of a request until it is decided. Cancelling this closes the dialog."""
    return reply_of(request, await present(app, make_dialog(request, guard=guard, place=place), on_shown))

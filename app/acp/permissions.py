"""Requests of the session as requests for permission, and the editor's choice as the reply. A doubt is a refusal."""

from __future__ import annotations

from typing import NamedTuple

from acp import RequestError
from acp.interfaces import Client
from acp.schema import AllowedOutcome, PermissionOption, PermissionOptionKind, ToolCallUpdate

from app.acp.content import content_of_details, fenced, text_content
from app.acp.kinds import tool_kind
from app.plain_questions import choices_for
from core.contract.confirmation import AskUserConfirmation, Question, ToolConfirmationOutcome
from core.contract.requests import ApprovalReply, ApprovalRequest, QuestionReply, QuestionRequest, Reply
from core.contract.visible import make_visible_line

_KINDS: dict[ToolConfirmationOutcome, PermissionOptionKind] = {
    ToolConfirmationOutcome.PROCEED_ONCE: "allow_once",
    ToolConfirmationOutcome.CANCEL: "reject_once",
}
CANNOT_ASK = "This editor's protocol can offer choices only: ask with choices, or in the answer."


class _Asked(NamedTuple):
    """Where a question is put."""

    client: Client
    session: str
    call: ToolCallUpdate


async def ask(client: Client, session: str, id: str, request: ApprovalRequest | QuestionRequest) -> Reply:
    """Ask the editor's user; no answer, a cancelled or an unknown one count as a refusal.

    Args:
        id: names the question where no tool call does.
    """
    if isinstance(request, QuestionRequest):
        call = ToolCallUpdate(tool_call_id=id, title=make_visible_line(request.title) or "Question", kind="other")
        answers = await _ask_all(_Asked(client, session, call), request.questions)
        return request.unanswered() if answers is None else QuestionReply(answers)
    details = request.details
    call = ToolCallUpdate(
        tool_call_id=request.call.id,
        title=make_visible_line(details.title),
        kind=tool_kind(request.kind),
        status="pending",
        raw_input=dict(request.call.args),
    )
    if isinstance(details, AskUserConfirmation):
        answers = await _ask_all(_Asked(client, session, call), details.questions)
        if answers is None:
            choices = all(question.choices for question in details.questions)
            return ApprovalReply(ToolConfirmationOutcome.CANCEL, "the user did not answer" if choices else CANNOT_ASK)
        return ApprovalReply(ToolConfirmationOutcome.PROCEED_ONCE, answers=answers)
    call.content = content_of_details(details, request.reason, request.asker_in_words)
    offered = [choice for choice in choices_for(request) if not choice.asks_for]
    options = [(choice.label, _KINDS.get(choice.outcome, "allow_always")) for choice in offered]
    chosen = await _choose(_Asked(client, session, call), options)
    if chosen is None:
        return ApprovalReply(ToolConfirmationOutcome.CANCEL)
    return ApprovalReply(offered[chosen].outcome, scope=offered[chosen].scope)


async def _ask_all(asked: _Asked, questions: tuple[Question, ...]) -> dict[str, str] | None:
    """Return the answers by question; none where one can't be asked or was not answered."""
    answers: dict[str, str] = {}
    for question in questions:
        if not question.choices:
            return None
        told = [f"{each.label}: {each.description}" for each in question.choices if each.description]
        words = [question.question, *told]
        asked.call.title = make_visible_line(question.question)
        asked.call.content = [text_content(fenced("\n".join(words)))]
        options: list[tuple[str, PermissionOptionKind]] = [(each.label, "allow_once") for each in question.choices]
        chosen = await _choose(asked, [*options, ("No answer", "reject_once")])
        if chosen is None or chosen == len(options):
            return None
        answers[question.question] = question.choices[chosen].label
    return answers


async def _choose(asked: _Asked, options: list[tuple[str, PermissionOptionKind]]) -> int | None:
    """Return the position of the chosen option."""
    shown = [
        PermissionOption(option_id=str(index), name=make_visible_line(label), kind=kind)
        for index, (label, kind) in enumerate(options)
    ]
    try:
        response = await asked.client.request_permission(session_id=asked.session, tool_call=asked.call, options=shown)
    except (RequestError, ConnectionError):
        return None
    outcome = response.outcome
    known = {option.option_id: index for index, option in enumerate(shown)}
    return known.get(outcome.option_id) if isinstance(outcome, AllowedOutcome) else None

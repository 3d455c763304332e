"""Requests of the session as lines to be read aloud, with numbered choices, and the answers to them as replies.

It knows neither the terminal nor who reads.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass

from core.contract.confirmation import (
    AskUserConfirmation,
    ConfirmationDetails,
    EditConfirmation,
    ExecConfirmation,
    FileOperationsConfirmation,
    InfoConfirmation,
    McpConfirmation,
    PlanConfirmation,
    Question,
    ToolConfirmationOutcome,
)
from core.contract.diff import FilePatch
from core.contract.requests import (
    ApprovalReply,
    ApprovalRequest,
    DroppedHunk,
    QuestionReply,
    QuestionRequest,
    Reply,
)
from core.diff.hunks import apply_hunks, make_patch

Say = Callable[[str], None]
"""Says lines; hidden characters are made visible on the way."""
Hear = Callable[[], Awaitable[str | None]]
"""Gives the next line that is typed, or none where no more come."""


async def answer(request: ApprovalRequest | QuestionRequest, say: Say, hear: Hear) -> Reply:
    """Ask the user, and return the reply; where no line comes any more the request counts as unanswered."""
    if isinstance(request, QuestionRequest):
        say(f"Question: {request.title}")
        answers = await _ask_all(request.questions, say, hear)
        return request.unanswered() if answers is None else QuestionReply(answers)
    details = request.details
    if isinstance(details, AskUserConfirmation):
        say(f"Question: {details.title}")
        answers = await _ask_all(details.questions, say, hear)
        if answers is None:
            return ApprovalReply(ToolConfirmationOutcome.CANCEL, "the user did not answer")
        return ApprovalReply(ToolConfirmationOutcome.PROCEED_ONCE, answers=answers)
    say(f"Approval needed: {details.title}")
    if request.asker:
        say(f"Asked by: {request.asker_in_words}")
    for line in describe(details):
        say(line)
    if request.reason:
        say(f"Why it asks: {request.reason}")
    choices = choices_for(request)
    chosen = await _choose([choice.label for choice in choices], say, hear)
    if chosen is None:
        return request.unanswered()
    return await _carry_out(choices[chosen], details, say, hear) or request.unanswered()


@dataclass(frozen=True, slots=True)
class PlainChoice:
    """One of the numbered answers to a request."""

    label: str
    outcome: ToolConfirmationOutcome
    scope: str = ""
    asks_for: str = ""
    """What is to be typed, too: `reason`, `note`, `command`, `places` or `files`."""


def choices_for(request: ApprovalRequest) -> list[PlainChoice]:
    """Return what may be answered, in the order of the numbers."""
    outcome, details = ToolConfirmationOutcome, request.details
    found = [PlainChoice("Allow once", outcome.PROCEED_ONCE)]
    if request.grant:
        found.append(PlainChoice(f"Allow for this session: {request.grant}", outcome.PROCEED_ALWAYS))
        if isinstance(details, McpConfirmation):
            label = f"Allow every tool of {details.server_name} in this session"
            found.append(PlainChoice(label, outcome.PROCEED_ALWAYS_SERVER))
    if request.rule:
        rule = "; ".join(line for line in request.rule.splitlines() if line)
        for scope in request.scopes or ("",):
            whose = "a rule saved for this project" if scope == "project" else "a saved rule"
            label = f"Allow always, by {whose}: {rule}"
            found.append(PlainChoice(label, outcome.PROCEED_ALWAYS_AND_SAVE, scope))
    if isinstance(details, ExecConfirmation):
        found.append(PlainChoice("Change the command, then run it", outcome.MODIFY_WITH_EDITOR, asks_for="command"))
    elif isinstance(details, EditConfirmation) and len(_patch_of(details).hunks) > 1:
        found.append(PlainChoice("Allow only some of the places", outcome.MODIFY_WITH_EDITOR, asks_for="places"))
    elif isinstance(details, FileOperationsConfirmation) and len(details.files) > 1:
        found.append(PlainChoice("Allow only some of the files", outcome.MODIFY_WITH_EDITOR, asks_for="files"))
    return [
        *found,
        PlainChoice("Allow once, with a note", outcome.PROCEED_ONCE, asks_for="note"),
        PlainChoice("Refuse", outcome.CANCEL),
        PlainChoice("Refuse, with a reason", outcome.CANCEL, asks_for="reason"),
    ]


async def _carry_out(choice: PlainChoice, details: ConfirmationDetails, say: Say, hear: Hear) -> ApprovalReply | None:
    """Ask for what a choice needs besides, and return the reply; none where no line comes any more."""
    if choice.asks_for in ("reason", "note"):
        say(f"{choice.asks_for.capitalize()}:")
        return ApprovalReply(choice.outcome, await hear() or "")
    if choice.asks_for == "command":
        say("The command, as it is to be run:")
        command = await hear()
        return ApprovalReply(choice.outcome, command=command) if command and command.strip() else None
    if isinstance(details, EditConfirmation) and choice.asks_for == "places":
        return await _take_places(choice, details, say, hear)
    if isinstance(details, FileOperationsConfirmation) and choice.asks_for == "files":
        picked = await _pick([file.file_path for file in details.files], say, hear)
        if picked is None:
            return None
        left = tuple(file.file_path for index, file in enumerate(details.files) if index not in picked)
        return ApprovalReply(choice.outcome, declined=left)
    return ApprovalReply(choice.outcome, scope=choice.scope)


async def _take_places(choice: PlainChoice, details: EditConfirmation, say: Say, hear: Hear) -> ApprovalReply | None:
    patch = _patch_of(details)
    picked = await _pick([hunk.header for hunk in patch.hunks], say, hear)
    if picked is None:
        return None
    dropped = tuple(DroppedHunk(details.file_path, hunk.header) for hunk in patch.hunks if hunk.index not in picked)
    return ApprovalReply(choice.outcome, new_content=apply_hunks(patch, picked), dropped=dropped)


async def _pick(labels: list[str], say: Say, hear: Hear) -> list[int] | None:
    say("Give the numbers of those that are to be done, with blanks between.")
    return await _choose_many(labels, say, hear, True)


def describe(details: ConfirmationDetails) -> Iterator[str]:
    """Give what is to be decided on, whole: nothing is approved that was not said."""
    match details:
        case EditConfirmation():
            yield from _describe_edit(details)
        case FileOperationsConfirmation():
            yield f"Files: {len(details.files)}, all of them or none"
            for file in details.files:
                yield from _describe_edit(file)
        case ExecConfirmation():
            yield f"Command: {details.command}"
            yield f"In: {details.directory}"
            for part in details.parts if len(details.parts) > 1 else ():
                yield f"Part: {part.text}: {part.verdict}{f', {part.reason}' if part.reason else ''}"
        case McpConfirmation():
            yield f"Tool {details.tool_display_name} of the server {details.server_name}"
            yield f"Arguments: {json.dumps(dict(details.args), ensure_ascii=False)}"
        case InfoConfirmation():
            yield details.prompt
            yield from (f"Address: {url}" for url in details.urls)
        case PlanConfirmation():
            yield details.plan


def _describe_edit(details: EditConfirmation) -> Iterator[str]:
    patch = _patch_of(details)
    new = " (it is deleted)" if details.is_deleted else " (a new file)" if details.original_content is None else ""
    yield f"File: {details.file_path}{new}, {count_places(patch)}"
    yield from (f"Note: {note}" for note in details.notes)
    yield from read_out(patch)


def count_places(patch: FilePatch) -> str:
    return f"{len(patch.hunks)} place{'s' * (len(patch.hunks) != 1)}"


def read_out(patch: FilePatch) -> Iterator[str]:
    """Return what changes in a file, a line each, with its number."""
    for hunk in patch.hunks:
        yield f"Place {hunk.index + 1}{f', in {hunk.section}' if hunk.section else ''}:"
        for line in hunk.lines:
            if line.tag == "-":
                yield f"Line {line.old_number} removed: {line.text}"
            elif line.tag == "+":
                yield f"Line {line.new_number} added: {line.text}"


def _patch_of(details: EditConfirmation) -> FilePatch:
    new = None if details.is_deleted else details.new_content
    return make_patch(details.file_path, details.original_content, new)


async def _ask_all(questions: tuple[Question, ...], say: Say, hear: Hear) -> dict[str, str] | None:
    answers: dict[str, str] = {}
    for question in questions:
        say(question.question)
        if not question.choices:
            typed = await hear()
            if typed is None:
                return None
            answers[question.question] = typed
            continue
        labels = [f"{each.label}{f': {each.description}' if each.description else ''}" for each in question.choices]
        if question.multiple:
            say("Several may be chosen: give their numbers with blanks between.")
        picked = await _choose_many(labels, say, hear, question.multiple)
        if picked is None:
            return None
        answers[question.question] = ", ".join(question.choices[index].label for index in picked)
    return answers


async def _choose(labels: list[str], say: Say, hear: Hear) -> int | None:
    chosen = await _choose_many(labels, say, hear, False)
    return None if chosen is None else chosen[0]


async def _choose_many(labels: list[str], say: Say, hear: Hear, multiple: bool) -> list[int] | None:
    for number, label in enumerate(labels, 1):
        say(f"{number}. {label}")
    while True:
        say(f"Type a number from 1 to {len(labels)}.")
        typed = await hear()
        if typed is None:
            return None
        words = typed.split()
        numbers = [int(word) for word in words if word.isdecimal() and 1 <= int(word) <= len(labels)]
        if numbers and len(numbers) == len(words) and (multiple or len(numbers) == 1):
            return [number - 1 for number in numbers]
        say(f"{typed!r} is none of the choices.")

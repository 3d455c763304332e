"""`/context`, `/compact` and `/rewind`: what fills the model's window, making room in it, and going back."""

from __future__ import annotations

import asyncio

from app.commands.registry import Command, command
from app.services.context_changes import describe_context
from app.services.context_view import ContextView
from app.services.undo_review import review_undo
from app.stage import Stage
from core.agent.compaction import render
from core.contract.confirmation import Choice, Question
from core.contract.conversation import Message
from core.contract.errors import StetError
from core.contract.events import Notice
from core.contract.requests import QuestionReply, QuestionRequest
from core.contract.visible import make_visible_line
from core.diff.hunks import make_patch
from widgets.approval.ask import ask
from widgets.approval.dialog import present
from widgets.context.screen import ContextWish
from widgets.diff.review import ReviewScreen
from widgets.prompt.draft import Draft

MAX_TURNS = 20
"""Turns that `/rewind` offers."""
_RESULT_CHARS = 2_000
_CONVERSATION, _FILES, _BOTH = "conversation", "files", "both"


def _busy(stage: Stage) -> str:
    return "the agent is at work" if stage.engine.agent.is_busy else ""


@command("context", arguments="[list | drop N | restore N | pin N | diff | back]")
async def show_context(stage: Stage, arguments: str) -> None:
    """What fills the model's window, item by item; items are dropped, brought back and pinned there.

    `list` writes it into the chat. `drop N` takes a result, an answer or an image out, `restore N` brings it back;
    `pin N` keeps an item's message through every compaction, and again lets it go. `diff` shows what the last change
    of the context made of it, and `back` takes that change back, and again the one before.
    """
    verb, _, rest = arguments.partition(" ")
    view = ContextView(stage)
    match verb:
        case "":
            await _view(stage, view)
        case "list":
            await _tell(stage, await asyncio.to_thread(describe_context, stage.engine))
        case "diff":
            await _show_last_change(stage)
        case _:
            number = _number(rest) if verb in ("drop", "restore", "pin") else 0
            await _tell(stage, await view.change(verb, number))


async def _view(stage: Stage, view: ContextView) -> None:
    match await view.show():
        case ContextWish.COMPACT:
            if reason := _busy(stage):
                raise StetError(f"The context can't be compacted now: {reason}.", "esc stops it.")
            await compact.run(stage, "")
        case ContextWish.COMPARE:
            await _show_last_change(stage)


@command("compact", unavailable=_busy)
async def compact(stage: Stage, arguments: str) -> None:
    """Make room in the context: earlier messages become a summary.

    Your own words, the todo list and what is pinned stay as they are. The new context is shown beside the old one
    first; /context back takes it back later, too.
    """
    engine = stage.engine
    agent = engine.agent
    before = agent.history.messages
    await _tell(stage, "The context is being summarised …")
    proposal = await agent.compactor.propose(agent.history, agent.provider, agent.overhead)
    if proposal is None:
        await _tell(stage, "There is nothing to gain: the context is mostly your own words and the latest messages.")
        return
    title = f"Compact the context from about {proposal.before:,} to {proposal.after:,} tokens"
    if not await _accepts(stage, title, before, proposal.messages):
        await _tell(stage, "The context was left as it is.")
        return
    if agent.history.messages != before or agent.is_busy:
        raise StetError("The conversation went on in the meantime.", "Run /compact again.")
    await agent.compactor.apply(proposal, agent.history, engine.bus.channel(agent.turn))


async def _show_last_change(stage: Stage) -> None:
    history = stage.engine.agent.history
    last = history.last_replacement
    if last is None:
        raise StetError("The context was not changed.", "/compact makes room in it.")
    if history.restorable == history.messages:
        await _tell(stage, f"The last change of the context ({last.reason}) left its text as it is.")
        return
    title = f"The last change of the context ({last.reason}): y keeps it, n takes it back"
    if not await _accepts(stage, title, history.restorable, history.messages):
        await _tell(stage, await ContextView(stage).change("back", 0))


async def _accepts(stage: Stage, title: str, old: tuple[Message, ...], new: tuple[Message, ...]) -> bool:
    patch = await asyncio.to_thread(
        lambda: make_patch("context", render(old, _RESULT_CHARS), render(new, _RESULT_CHARS))
    )
    if not patch.hunks:
        return True
    outcome = await present(stage.app, ReviewScreen([patch], title=title, tool="Context", is_wanted=True))
    return outcome.is_accepted


def _number(given: str) -> int:
    if not given.strip().isdecimal():
        raise StetError(f"{given!r} is no number of an item.", "/context shows the numbers.")
    return int(given)


@command("rewind", arguments="[TURN [conversation|files|both]]", unavailable=_busy)
async def rewind(stage: Stage, arguments: str) -> None:
    """Go back to before a turn: the conversation, the files, or both.

    Files come back through the same review as with /undo. The prompt of that turn is put back into the editor.
    """
    first, _, what = arguments.partition(" ")
    if first and not first.isdecimal():
        raise StetError(f"{first!r} is no turn.", "/rewind 3 goes back to before turn 3; /rewind lists the turns.")
    turn = int(first) if first else await _choose_turn(stage)
    what = what.strip() or await _choose_what(stage, turn)
    if not turn or not what:
        return
    if what not in (_CONVERSATION, _FILES, _BOTH):
        raise StetError(f"{what!r} can't be taken back.", f"Choose {_CONVERSATION}, {_FILES} or {_BOTH}.")
    if what in (_FILES, _BOTH):
        plan = await stage.engine.undo.plan_since(turn)
        if (plan.items and not await review_undo(stage, plan)) and what == _BOTH and plan.ready:
            return
    if what in (_CONVERSATION, _BOTH):
        await _rewind_conversation(stage, turn)


async def _rewind_conversation(stage: Stage, turn: int) -> None:
    agent = stage.engine.agent
    place = agent.place_of_turn(turn)
    if place is None:
        raise StetError(f"The prompt of turn {turn} is not in the context.", "/rewind lists the turns that are.")
    prompt = agent.history.messages[place].text
    await agent.replace_history(agent.history.messages[:place], f"rewound to before turn {turn}")
    if stage.workspace.prompt.draft.is_empty:
        stage.workspace.prompt.set_draft(Draft(prompt))
    await _tell(stage, f"The conversation is back to before turn {turn}. /context back takes that back.")


async def _choose_turn(stage: Stage) -> int:
    agent = stage.engine.agent
    turns = [(turn, message) for turn, message in agent.prompts if agent.place_of_turn(turn) is not None]
    if not turns:
        raise StetError("There is no turn to go back to.", "Ask something first.")
    choices = tuple(
        Choice(f"turn {turn}", make_visible_line(message.text)[:100]) for turn, message in reversed(turns[-MAX_TURNS:])
    )
    answer = await _ask(stage, "Rewind", Question("Go back to before which turn?", "turn", choices))
    return int(answer.removeprefix("turn ")) if answer.startswith("turn ") else 0


async def _choose_what(stage: Stage, turn: int) -> str:
    if not turn:
        return ""
    choices = (
        Choice(_BOTH, "the conversation, and the files through a review"),
        Choice(_CONVERSATION, "files stay as they are now"),
        Choice(_FILES, "through a review; the conversation stays"),
    )
    return await _ask(stage, f"Rewind to before turn {turn}", Question("What goes back?", "what", choices))


async def _ask(stage: Stage, title: str, question: Question) -> str:
    reply = await ask(stage.app, QuestionRequest(title, (question,)))
    if not isinstance(reply, QuestionReply) or reply.cancelled:
        return ""
    return str(reply.answers.get(question.question, ""))


async def _tell(stage: Stage, text: str) -> None:
    await stage.engine.bus.publish(Notice(text))


COMMANDS: tuple[Command[Stage], ...] = (show_context, compact, rewind)

"""What can be done in a session in lines beside prompts: figures, the context, and going back. It knows no terminal."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from app.plain_questions import Say, count_places, read_out
from app.services.context_changes import change_context, describe_context
from app.services.figures import describe_figures
from core.contract.confirmation import Choice, Question
from core.contract.errors import StetError
from core.contract.requests import QuestionReply, QuestionRequest
from core.workspace.undo.plan import UndoPlan

if TYPE_CHECKING:
    from app.bootstrap import Engine

Ask = Callable[[QuestionRequest], Awaitable[QuestionReply]]
HELP = """/undo and /redo: take back what the last turn changed, or do it again; /undo 3 is turn 3.
/context: what fills the model's window; /context drop 3, restore 3, pin 3 or back change it.
/compact: make room in the context. /stats: what the session used and did."""
_YES, _NO = "yes", "no"


async def run_command(engine: Engine, word: str, rest: str, say: Say, ask: Ask) -> bool:
    """Run a command; false where there is none of that name.

    Raises:
        StetError: it can't be done.
    """
    match word:
        case "/stats":
            say(describe_figures(engine))
        case "/context":
            await _change_context(engine, rest, say)
        case "/compact":
            await _compact(engine, say, ask)
        case "/undo":
            await _take_back(engine, await engine.undo.plan_turn(_number(rest) if rest else None), say, ask)
        case "/redo":
            await _take_back(engine, await engine.undo.plan_redo(), say, ask)
        case _:
            return False
    return True


def _number(text: str) -> int:
    if not text.isdecimal():
        raise StetError(f"{text!r} is no number.", "For instance: /undo 3, /context drop 3.")
    return int(text)


async def _change_context(engine: Engine, rest: str, say: Say) -> None:
    verb, _, number = rest.partition(" ")
    if verb:
        say(await change_context(engine, verb, _number(number.strip()) if verb in ("drop", "restore", "pin") else 0))
    else:
        say(await asyncio.to_thread(describe_context, engine))


async def _compact(engine: Engine, say: Say, ask: Ask) -> None:
    agent = engine.agent
    say("The context is being summarised.")
    proposal = await agent.compactor.propose(agent.history, agent.provider, agent.overhead)
    if proposal is None:
        say("There is nothing to gain: the context is mostly your own words and the latest messages.")
    elif await _agrees(ask, f"Compact the context from about {proposal.before:,} to {proposal.after:,} tokens?"):
        await agent.compactor.apply(proposal, agent.history, engine.bus.channel(agent.turn))
        say("Done. /context back takes it back.")


async def _take_back(engine: Engine, plan: UndoPlan, say: Say, ask: Ask) -> None:
    """Say all that would change, and do it when that is agreed to."""
    from app.services.undo_review import patch_of  # late: it knows the screen's review, too

    for item in plan.left:
        say(f"Left as it is: {item.shown} ({item.reason}).")
    if not plan.ready:
        say("There is nothing to bring back.")
        return
    blobs = engine.undo.blobs
    patches = await asyncio.to_thread(lambda: [patch_of(item, blobs) for item in plan.ready])
    for patch in patches:
        say(f"File: {patch.path}, {count_places(patch)}")
        for line in read_out(patch):
            say(line)
    count = f"{len(plan.ready)} file{'s' if len(plan.ready) > 1 else ''}"
    if not await _agrees(ask, f"{plan.label[:1].upper()}{plan.label[1:]}, {count}?"):
        say("Nothing was changed.")
        return
    done = await engine.undo.apply(plan)
    names = ", ".join(item.shown for item in done)
    say(f"Changed: {names}." if done else "Nothing was changed: the files changed in the meantime.")
    if done:
        engine.note_for_model(f"The user has done: {plan.label}. Changed by that: {names}.")


async def _agrees(ask: Ask, question: str) -> bool:
    asked = Question(question, choices=(Choice(_YES, ""), Choice(_NO, "")))
    reply = await ask(QuestionRequest("", (asked,)))
    return not reply.cancelled and reply.answers.get(question) == _YES

"""The `offline` provider: the embedded default. A small command language that drives the same tools as a model does.

It keeps no state: what it does next follows from the conversation alone.
"""

from __future__ import annotations

import asyncio
import difflib
import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager

from core.contract.conversation import CallPart, Part, TextPart
from core.contract.ids import CallId
from core.contract.model import CallChunk, FinishChunk, FinishReason, ModelRequest, StreamItem, TextChunk
from core.contract.tool import ToolCall
from core.contract.usage import Usage
from core.model.estimate import estimate_parts, estimate_request
from core.model.offline_commands import READ_VERBS
from core.model.offline_edits import EDIT_VERBS
from core.model.offline_phrases import POLITE, code
from core.model.offline_plan import Ask, Plan, Scene, Verb, answer, play
from core.model.script import words_of

VERBS: tuple[Verb, ...] = (*READ_VERBS[:1], *EDIT_VERBS, *READ_VERBS[1:])
"""In the order in which they are tried."""

PHRASE_LIMIT = 2_000
"""Characters; longer prompts can only be of verbs that take any text to the end."""
LONG_VERBS = tuple(verb for verb in VERBS if verb.name in ("create", "run"))

CONNECT = (
    "To connect a real model, set `GEMINI_API_KEY` and start stet again: it then uses Gemini. "
    "`stet --model PROVIDER/NAME` chooses another one."
)
_ABOUT = re.compile(
    r"(?:who|what)\s+(?:are|can)\s+you\b.*|hello|hi|hey|help|commands|\?|/help", re.IGNORECASE | re.DOTALL
)
_UNDO = re.compile(r"(?:undo|revert)\b.*", re.IGNORECASE | re.DOTALL)


class OfflineProvider:
    """Understands a few commands, and says so. Needs no key and no network."""

    name = "offline"
    model = "offline"
    context_window = 0

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncIterator[AsyncIterator[StreamItem]]:
        async with aclosing(self._items(request)) as items:
            yield items

    async def close(self) -> None:
        """Do nothing: nothing is open."""

    async def _items(self, request: ModelRequest) -> AsyncGenerator[StreamItem, None]:
        scene = Scene.of(request.messages)
        step = await asyncio.to_thread(lambda: play(plan_for(scene), scene.steps))
        text = step.text if isinstance(step, Ask) else step
        parts: list[Part] = [TextPart(text)] if text else []
        for word in words_of(text):
            yield TextChunk(word)
        for number, wish in enumerate(step.calls if isinstance(step, Ask) else (), 1):
            id = CallId(f"offline-{len(request.messages)}-{number}")
            parts.append(CallPart(id, wish.name, wish.args))
            yield CallChunk(ToolCall(id, wish.name, wish.args))
        sent, said = estimate_request(request), estimate_parts(parts)
        yield FinishChunk(FinishReason.STOP, tuple(parts), Usage(sent, said, context_tokens=sent + said))


def plan_for(scene: Scene) -> Plan:
    """Return what to do about a prompt."""
    prompt = POLITE.sub("", scene.prompt).strip() or scene.prompt
    if _ABOUT.fullmatch(prompt):
        return answer(help_text())
    for verb in VERBS if len(prompt) <= PHRASE_LIMIT else LONG_VERBS:
        if found := verb.pattern.fullmatch(prompt):
            return verb.plan(found, scene)
    if _UNDO.fullmatch(prompt):
        return answer(
            "I can't undo yet. Every change was shown before it was made; in a git repository "
            "`run git diff` shows what differs from the last commit."
        )
    return answer(_unknown(prompt))


def help_text() -> str:
    """Return what the assistant is, all of its commands, and how to connect a model."""
    rows = [f"- {', '.join(code(usage) for usage in verb.usage)}: {verb.help}" for verb in VERBS if verb.usage]
    return (
        "I am stet's **offline assistant**: no language model, but a small command language that works on your "
        "project with the same tools, reviews and approvals. I understand:\n\n"
        + "\n".join(rows)
        + f"\n- `help`: this page\n\nQuote a text that has spaces or words like *with* or *in* in it.\n\n{CONNECT}"
    )


def _unknown(prompt: str) -> str:
    words = {name: verb for verb in VERBS if verb.usage for name in (verb.name, *verb.also)}
    said = re.findall(r"[a-z]+", prompt.lower())[:12]
    near = next((words[match] for word in said for match in difflib.get_close_matches(word, words, 1, 0.75)), None)
    if near is None:
        guess = "Say `help` for what I understand."
    else:
        guess = f"Did you mean {' or '.join(code(usage) for usage in near.usage)}? `help` names all commands."
    return f"No model is connected, and as the offline assistant I don't understand that. {guess}\n\n{CONNECT}"

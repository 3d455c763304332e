"""The context of a session in words, and changing it: for the screen, and for the session in lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.agent.context import ContextItem, sums_by_source
from core.agent.tokens import tokens_of_text, tokens_of_tools
from core.contract.errors import StetError
from core.contract.visible import make_visible_line

if TYPE_CHECKING:
    from app.bootstrap import Engine

MAX_SHOWN = 60
"""Items that `/context` lists; the largest ones where there are more."""


async def change_context(engine: Engine, verb: str, number: int) -> str:
    """Drop, restore or pin an item, or take the last change back; returns what was done, in a sentence.

    Raises:
        StetError: it can't be done.
    """
    agent, editor = engine.agent, engine.context_editor
    match verb:
        case "drop":
            await agent.replace_history(editor.drop(agent.history, number), f"item {number} dropped")
            return f"Item {number} is out of the context. /context restore {number} brings it back."
        case "restore":
            await agent.replace_history(editor.restore(agent.history, number), f"item {number} restored")
            return f"Item {number} is back in the context."
        case "pin":
            pinned = editor.pin(agent.history, number)
            more = len(pinned) > len(agent.history.pinned)
            done = "pinned: no compaction touches it" if more else "no longer pinned"
            await agent.replace_history(agent.history.messages, f"item {number} {done}", pinned)
            return f"The message of item {number} is {done}."
        case "back":
            if not await agent.take_history_back():
                raise StetError("The context was not changed.", "/compact makes room in it.")
            return "The context is as it was before the last change of it."
        case _:
            raise StetError(f"/context knows no {verb!r}.", "Use list, drop, restore, pin, diff or back.")


def describe_context(engine: Engine) -> str:
    """Return what fills the window, an item a line; the largest ones where there are many. Blocks."""
    agent = engine.agent
    items = engine.context_editor.items(agent.history)
    window = agent.provider.context_window
    total = agent.compactor.meter.estimate(agent.history.messages, agent.overhead)
    of = f" of {window:,} ({100 * total // window} %)" if window else ""
    sums = {
        "system prompt": tokens_of_text(engine.system_prompt()),
        "tools": tokens_of_tools(agent.tools),
        **sums_by_source(items),
    }
    lines = [f"The context holds about {total:,} tokens{of}."]
    lines.append(" · ".join(f"{source} {tokens:,}" for source, tokens in sums.items()))
    shown = sorted(sorted(items, key=lambda item: -item.tokens)[:MAX_SHOWN], key=lambda item: item.number)
    lines += [_line(item) for item in shown]
    if len(items) > len(shown):
        lines.append(f"… and {len(items) - len(shown)} smaller items.")
    return "\n".join(lines)


def _line(item: ContextItem) -> str:
    state = " [pinned]" if item.pinned else ""
    state += " [dropped]" if item.dropped else ""
    return f"{item.number:>4} {item.source:<8} {item.tokens:>8,}  {make_visible_line(item.title)[:80]}{state}"

"""`/memory`: what is remembered from session to session, to be seen, edited and forgotten."""

from __future__ import annotations

import asyncio

from app.commands.registry import command
from app.services.editor import edit_text
from app.session_services import load_memory
from app.stage import Stage
from core.contract.errors import StetError
from core.contract.events import Notice
from core.contract.visible import make_visible_line
from core.tools.memory import MemoryScope, MemoryStore


def _none(stage: Stage) -> str:
    return "" if stage.engine.context.memory is not None else "this session keeps no memory"


@command("memory", arguments="[edit [user|project] | forget NUMBER]", unavailable=_none)
async def show_memory(stage: Stage, arguments: str) -> None:
    """What is remembered from session to session.

    Alone it shows the facts with their numbers; `edit` opens the file of the user or of this project in your editor;
    `forget` removes one fact.
    """
    store = stage.engine.context.memory
    assert store is not None
    verb, _, rest = arguments.partition(" ")
    match verb:
        case "":
            await _tell(stage, await asyncio.to_thread(_listing, store))
        case "edit":
            await _edit(stage, store, rest.strip() or MemoryScope.USER)
        case "forget":
            await _forget(stage, store, rest.strip())
        case _:
            raise StetError(f"/memory knows no {verb!r}.", "Use /memory, /memory edit or /memory forget NUMBER.")


def _listing(store: MemoryStore) -> str:
    facts = store.facts()
    if not facts:
        return "Nothing is remembered. Ask the model to remember something, or write it with /memory edit."
    lines: list[str] = []
    for number, fact in enumerate(facts, 1):
        if number == 1 or fact.scope is not facts[number - 2].scope:
            lines.append(f"{fact.scope.capitalize()} ({store.path(fact.scope)}):")
        lines.append(f"{number:>3} {make_visible_line(fact.line)}")
    return "\n".join(lines)


async def _edit(stage: Stage, store: MemoryStore, name: str) -> None:
    try:
        scope = MemoryScope(name)
    except ValueError:
        raise StetError(f"There is no memory of {name!r}.", f"Choose: {', '.join(MemoryScope)}.") from None
    text = await asyncio.to_thread(store.read, scope)
    edited = await edit_text(stage.app, text, store.path(scope).name)
    if edited is None:
        await _tell(stage, "The memory was left as it is.")
        return
    await asyncio.to_thread(store.replace, scope, text, edited)
    await load_memory(stage.engine)
    await _tell(stage, f"The memory of the {scope} was changed; the model knows it from now on.")


async def _forget(stage: Stage, store: MemoryStore, given: str) -> None:
    facts = await asyncio.to_thread(store.facts)
    if not given.isdecimal() or not 1 <= int(given) <= len(facts):
        numbers = f"1 to {len(facts)}" if facts else "nothing is remembered"
        raise StetError(f"There is no fact number {given!r}.", f"/memory shows the numbers ({numbers}).")
    fact = facts[int(given) - 1]
    await asyncio.to_thread(store.forget, fact)
    await load_memory(stage.engine)
    await _tell(stage, f"Forgotten: {fact.line}")


async def _tell(stage: Stage, text: str) -> None:
    await stage.engine.bus.publish(Notice(text))

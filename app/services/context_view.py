"""The context view of a session: its rows, their texts, and what its keys do."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from app.services.context_changes import change_context
from app.stage import Stage
from core.agent.compaction import THRESHOLD
from core.agent.context import text_of_part
from core.agent.tokens import tokens_of_text, tokens_of_tools
from core.contract.tool import FunctionDeclaration
from widgets.context.screen import ContextScreen, ContextWish
from widgets.context.sheet import ContextRow, ContextSheet

_SYSTEM, _MEMORY = "the application's own page, and the facts of this session", "memory: what earlier sessions saved"


class ContextView:
    """Opens the view, and does what is asked for in it."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._standing: dict[str, str] = {}
        """Texts of what is sent with every request, by the titles of their rows."""

    async def show(self) -> ContextWish:
        """Show the view and return what the user wants after it."""
        decided: asyncio.Future[ContextWish] = asyncio.get_running_loop().create_future()

        def decide(wish: ContextWish | None) -> None:
            if not decided.done():
                decided.set_result(wish or ContextWish.NOTHING)

        screen = ContextScreen(self.load, self.read, self.change)
        self._stage.app.push_screen(screen, decide)
        try:
            return await decided
        except asyncio.CancelledError:
            if screen.is_current:
                screen.dismiss(ContextWish.NOTHING)
            raise

    async def load(self) -> ContextSheet:
        """Return what fills the window now."""
        return await asyncio.to_thread(self._sheet)

    def _sheet(self) -> ContextSheet:
        engine = self._stage.engine
        agent, history = engine.agent, engine.agent.history
        rows = self._standing_rows()
        rows += [
            ContextRow(item.number, item.source, item.title, item.tokens, item.pinned, item.dropped)
            for item in engine.context_editor.items(history)
        ]
        window = agent.provider.context_window
        last = history.last_replacement
        return ContextSheet(
            tuple(rows),
            agent.compactor.meter.estimate(history.messages, agent.overhead),
            window,
            int(window * THRESHOLD),
            last.reason if last is not None else "",
        )

    def _standing_rows(self) -> list[ContextRow]:
        engine = self._stage.engine
        given, memory = engine.instructions.for_model, engine.memory.strip()
        whole = engine.system_prompt()
        self._standing = {_SYSTEM: whole.replace(given, "").replace(memory, "") if given or memory else whole}
        for section in engine.instructions.sections:
            self._standing[f"instructions: {section.strip().partition(chr(10))[0].lstrip('# ')}"] = section
        if memory:
            self._standing[_MEMORY] = memory
        rows = [ContextRow(0, "system", title, tokens_of_text(text)) for title, text in self._standing.items()]
        return [*rows, *self._tool_rows(engine.agent.tools)]

    def _tool_rows(self, tools: Iterable[FunctionDeclaration]) -> list[ContextRow]:
        """Return a row for the tools of this application and of each server from outside."""
        groups: dict[str, list[FunctionDeclaration]] = {}
        for tool in tools:
            server, mark, _ = tool.name.partition("__")
            groups.setdefault(f"from {server}" if mark else "of this application", []).append(tool)
        rows = []
        for origin, group in groups.items():
            sizes = sorted(((tokens_of_tools([tool]), tool) for tool in group), key=lambda pair: -pair[0])
            title = f"{len(group)} tool{'s' * (len(group) > 1)} {origin}: {', '.join(tool.name for _, tool in sizes)}"
            self._standing[title] = "\n\n".join(
                f"{tool.name}, {size:,} tokens\n{tool.description.strip()}" for size, tool in sizes
            )
            rows.append(ContextRow(0, "tools", title, sum(size for size, _ in sizes)))
        return rows

    def read(self, row: ContextRow) -> str:
        """Return an item's whole text."""
        if not row.number:
            return self._standing.get(row.title, "")
        engine = self._stage.engine
        return text_of_part(engine.context_editor.part(engine.agent.history, row.number))

    async def change(self, verb: str, number: int) -> str:
        """Drop, restore or pin an item, or take the last change back; `StetError` where it can't be done."""
        return await change_context(self._stage.engine, verb, number)

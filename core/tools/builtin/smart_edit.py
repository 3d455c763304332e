"""smart_edit: replace, with a last rung that finds the place by likeness; what it finds so is always shown first."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from core.contract.errors import ToolFailure
from core.fileops.matching.ladder import LIKENESS
from core.tools.builtin.replace import ReplaceInvocation, ReplaceParams, ReplaceTool


class SmartEditInvocation(ReplaceInvocation):
    by_likeness = True

    async def reason_to_ask(self) -> str:
        reasons = [await super().reason_to_ask()]
        if await asyncio.to_thread(self._is_by_likeness):
            reasons.append("the place was found by likeness: some lines that were quoted read otherwise in the file")
        return "; ".join(filter(None, reasons))

    def _is_by_likeness(self) -> bool:
        try:
            return any(LIKENESS in note for note in self._propose(approved=True).change.notes)
        except ToolFailure:
            return False  # the run refuses it, with the reason


class SmartEditTool(ReplaceTool):
    name = "smart_edit"
    aliases: ClassVar[tuple[str, ...]] = ("smart-edit",)
    display_name = "SmartEdit"

    @property
    def rule_name(self) -> str:
        return ReplaceTool.name

    @property
    def is_offered(self) -> bool:
        return False  # accepted, for models that know it; one way to edit is enough to declare

    def create_invocation(self, params: ReplaceParams) -> SmartEditInvocation:
        return SmartEditInvocation(params, self.context)

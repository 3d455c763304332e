"""save_memory: a fact for later sessions, which the user sees before it is kept."""

from __future__ import annotations

import asyncio
import json
from datetime import datetime
from typing import Literal

from pydantic import Field

from core.contract.confirmation import ConfirmationDetails, InfoConfirmation
from core.contract.errors import StetError, ToolErrorType, ToolFailure
from core.contract.tool import Kind, ToolResult
from core.contract.visible import make_visible_line
from core.tools.abort import AbortSignal
from core.tools.declarative import BaseDeclarativeTool, BaseToolInvocation, ShellConfig, UpdateOutput
from core.tools.memory import MAX_FACT, MemoryScope, MemoryStore, line_of, plain_fact
from core.tools.parameters import ToolParams
from core.tools.path_invocation import as_code


class SaveMemoryParams(ToolParams):
    fact: str = Field(max_length=MAX_FACT, description="The fact, in one sentence.")
    scope: Literal["user", "project", "global"] = Field(
        "user", description="Whether it counts everywhere (user) or in this project alone (project)."
    )

    @property
    def memory_scope(self) -> MemoryScope:
        return MemoryScope.PROJECT if self.scope == "project" else MemoryScope.USER


class SaveMemoryInvocation(BaseToolInvocation[SaveMemoryParams]):
    def get_description(self) -> str:
        return as_code(plain_fact(self.params.fact))

    @property
    def _store(self) -> MemoryStore:
        store = self.context.memory
        if store is None:
            raise ToolFailure(ToolErrorType.MEMORY_TOOL_EXECUTION_ERROR, "This session keeps no memory.")
        return store

    async def get_confirmation_details(self, abort: AbortSignal) -> ConfirmationDetails | None:
        path = make_visible_line(str(self._store.path(self.params.memory_scope)))
        where = "this project" if self.params.memory_scope is MemoryScope.PROJECT else "you, in all projects"
        line = line_of(self.params.fact, datetime.now())
        return InfoConfirmation("Remember this?", f"{line}\n\nAbout {where}; kept in {path}")

    async def execute(
        self, abort: AbortSignal, update_output: UpdateOutput | None = None, shell_config: ShellConfig | None = None
    ) -> ToolResult:
        params = self.params
        try:
            await asyncio.to_thread(self._store.add, params.fact, params.memory_scope, datetime.now())
        except StetError as error:
            if isinstance(error, ToolFailure):
                raise
            raise ToolFailure(ToolErrorType.MEMORY_TOOL_EXECUTION_ERROR, error.message, error.hint) from error
        message = f'Okay, I\'ve remembered that: "{plain_fact(params.fact)}"'
        answer = json.dumps({"success": True, "message": message}, ensure_ascii=False, separators=(",", ":"))
        return ToolResult(answer, message, data={"summary": f"saved for the {params.memory_scope}"})


class SaveMemoryTool(BaseDeclarativeTool):
    name = "save_memory"
    display_name = "SaveMemory"
    kind = Kind.OTHER
    Params = SaveMemoryParams

    def validate_tool_param_values(self, params: SaveMemoryParams) -> str | None:
        return None if plain_fact(params.fact).strip() else "Parameter 'fact' must be a non-empty string."

    def create_invocation(self, params: SaveMemoryParams) -> SaveMemoryInvocation:
        return SaveMemoryInvocation(params, self.context)

"""enter_plan_mode: from now on nothing is changed, until a plan was agreed on."""

from __future__ import annotations

from pydantic import Field

from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.state import ApprovalMode
from core.contract.tool import Kind, ToolResult
from core.contract.visible import make_visible_line
from core.tools.abort import AbortSignal
from core.tools.declarative import BaseDeclarativeTool, BaseToolInvocation, ShellConfig, UpdateOutput
from core.tools.parameters import ToolParams

ENTERED = """Switching to Plan mode. Look and think: read, search, ask. Changes are refused.
When you know what is to be done, call exit_plan_mode with the plan: what will be changed, where and why, in which
order, and how it will be checked."""


class EnterPlanModeParams(ToolParams):
    reason: str = Field("", description="Why a plan is needed, in a few words.")


class EnterPlanModeInvocation(BaseToolInvocation[EnterPlanModeParams]):
    def get_description(self) -> str:
        return make_visible_line(self.params.reason) or "plan before changing anything"

    async def execute(
        self, abort: AbortSignal, update_output: UpdateOutput | None = None, shell_config: ShellConfig | None = None
    ) -> ToolResult:
        mode = self.context.mode
        if mode is None:
            raise ToolFailure(ToolErrorType.EXECUTION_FAILED, "This session has no approval mode to switch.")
        if mode.current is ApprovalMode.PLAN:
            return ToolResult("Plan mode is on already.", data={"summary": "on already"})
        await mode.switch(ApprovalMode.PLAN)
        return ToolResult(ENTERED, "Plan mode: nothing is changed until a plan is agreed on.", data={"summary": "on"})


class EnterPlanModeTool(BaseDeclarativeTool):
    name = "enter_plan_mode"
    display_name = "EnterPlanMode"
    kind = Kind.PLAN
    Params = EnterPlanModeParams

    @property
    def is_offered(self) -> bool:
        context = self.context
        if context is None:
            return True
        return context.interactive and context.mode is not None and context.mode.current is not ApprovalMode.PLAN

    def create_invocation(self, params: EnterPlanModeParams) -> EnterPlanModeInvocation:
        return EnterPlanModeInvocation(params, self.context)

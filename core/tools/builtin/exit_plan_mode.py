"""exit_plan_mode: the user reviews the plan; agreed on, it is kept in a file and may be carried out."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from core.contract.confirmation import ConfirmationDetails, PlanConfirmation, ToolConfirmationOutcome
from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.requests import ApprovalReply
from core.contract.state import ApprovalMode
from core.contract.tool import Kind, ToolResult
from core.contract.visible import make_visible
from core.tools.abort import AbortSignal
from core.tools.context import ModeSwitch
from core.tools.declarative import BaseDeclarativeTool, BaseToolInvocation, ShellConfig, UpdateOutput
from core.tools.parameters import ToolParams, named
from core.tools.path_invocation import as_code
from core.workspace.encoding import decode

MAX_PLAN = 100_000
"""Characters."""
_FOLDER = "plans"


class ExitPlanModeParams(ToolParams):
    plan: str | None = Field(None, max_length=MAX_PLAN, description="The whole plan, as Markdown.")
    plan_filename: SkipJsonSchema[str | None] = named("plan_filename", "plan_path", default=None)


@dataclass(frozen=True, slots=True)
class Plan:
    text: str
    path: str
    """Where it is kept once it is agreed on, or was read from; empty where no place is for it."""
    is_kept: bool


class ExitPlanModeInvocation(BaseToolInvocation[ExitPlanModeParams]):
    plan: Plan | None = None
    outcome: ToolConfirmationOutcome | None = None
    """What the user said to the plan."""

    def get_description(self) -> str:
        first = next((line for line in (self.params.plan or "").splitlines() if line.strip()), "")
        return as_code(first.lstrip("# ") or self.params.plan_filename or "plan")

    async def reason_to_ask(self) -> str:
        self._check_mode()
        self.plan = await asyncio.to_thread(self._find)
        return "the plan is to be agreed on"

    async def get_confirmation_details(self, abort: AbortSignal) -> ConfirmationDetails | None:
        plan = self.plan
        if plan is None:
            plan = await asyncio.to_thread(self._find)
        return PlanConfirmation("Carry out this plan?", plan.path, make_visible(plan.text))

    def amended(self, reply: ApprovalReply) -> ExitPlanModeInvocation:
        invocation = ExitPlanModeInvocation(self.params, self.context)
        invocation.plan, invocation.outcome = self.plan, reply.outcome
        return invocation

    async def execute(
        self, abort: AbortSignal, update_output: UpdateOutput | None = None, shell_config: ShellConfig | None = None
    ) -> ToolResult:
        mode = self._check_mode()
        if self.outcome is None or self.plan is None:
            raise ToolFailure(ToolErrorType.POLICY_VIOLATION, "The plan was not shown to the user.")
        where = await asyncio.to_thread(self._keep, self.plan)
        edits = self.outcome is ToolConfirmationOutcome.PROCEED_ALWAYS
        following = ApprovalMode.AUTO_EDIT if edits else mode.before_plan
        await mode.switch(following)
        text = f"The user agreed to the plan: follow it. Plan mode is off; the approval mode is now {following}.{where}"
        return ToolResult(text, make_visible(self.plan.text), data={"summary": f"agreed, mode {following}"})

    def _check_mode(self) -> ModeSwitch:
        mode = self.context.mode
        if mode is None or mode.current is not ApprovalMode.PLAN:
            raise ToolFailure(ToolErrorType.EXECUTION_FAILED, "Plan mode is not on.", "enter_plan_mode switches it on.")
        return mode

    def _find(self) -> Plan:
        workspace = self.context.workspace
        if self.params.plan is not None:
            folder = os.path.join(workspace.scratch, _FOLDER) if workspace.scratch else ""
            return Plan(self.params.plan, _free_name(folder) if folder else "", False)
        place = workspace.resolve(self.params.plan_filename or "")
        text = decode(workspace.read(place).data).text
        if not text.strip() or len(text) > MAX_PLAN:
            raise ToolFailure(
                ToolErrorType.INVALID_TOOL_PARAMS, f"The plan in {place.shown} is empty or longer than {MAX_PLAN:,}."
            )
        return Plan(text, place.path, True)

    def _keep(self, plan: Plan) -> str:
        """Write the plan to its file; return where it is, as a sentence."""
        if not plan.is_kept and plan.path:
            try:
                self.context.workspace.write(plan.path, plan.text.encode("utf-8", "replace"), create=True)
            except ToolFailure:
                return ""  # it stands in the conversation
        return f" The plan is kept in {plan.path}." if plan.path else ""


def _free_name(folder: str) -> str:
    number = 1
    while os.path.lexists(path := os.path.join(folder, f"plan-{number}.md")):
        number += 1
    return path


class ExitPlanModeTool(BaseDeclarativeTool):
    name = "exit_plan_mode"
    display_name = "ExitPlanMode"
    kind = Kind.SWITCH_MODE
    Params = ExitPlanModeParams

    @property
    def is_offered(self) -> bool:
        context = self.context
        if context is None:
            return True
        return context.interactive and context.mode is not None and context.mode.current is ApprovalMode.PLAN

    def validate_tool_param_values(self, params: ExitPlanModeParams) -> str | None:
        if not (params.plan or "").strip() and not (params.plan_filename or "").strip():
            return "missing required argument 'plan'"
        return "Give 'plan' or 'plan_filename', not both." if params.plan and params.plan_filename else None

    def create_invocation(self, params: ExitPlanModeParams) -> ExitPlanModeInvocation:
        return ExitPlanModeInvocation(params, self.context)

"""The approval mode as tools may switch it: into plan mode at will, and out of it when the user has agreed."""

from __future__ import annotations

from core.contract.events import ModeChanged
from core.contract.state import ApprovalMode
from core.policy.engine import PolicyEngine
from core.tools.context import Publish


class PolicyModeSwitch:
    """Switches a policy's mode and says so."""

    def __init__(self, policy: PolicyEngine, publish: Publish) -> None:
        self._policy = policy
        self._publish = publish
        self.before_plan = ApprovalMode.DEFAULT
        """The mode that plan mode was entered from."""

    @property
    def current(self) -> ApprovalMode:
        return self._policy.mode

    async def switch(self, mode: ApprovalMode) -> None:
        """Set the mode."""
        if mode is ApprovalMode.PLAN and self.current is not ApprovalMode.PLAN:
            self.before_plan = self.current
        self._policy.mode = mode
        await self._publish(ModeChanged(mode))

"""What the calls that work on one path of the workspace share: its place, its look, and the question about its name."""

from __future__ import annotations

import asyncio
import copy
import os
import re
from typing import Self, TypeVar

from core.contract.errors import ToolFailure
from core.contract.requests import ApprovalReply
from core.contract.tool import ToolLocation
from core.contract.visible import make_visible_line
from core.tools.declarative import BaseToolInvocation
from core.workspace.paths import WorkspacePath
from core.workspace.sensitive import Verdict

P = TypeVar("P")


class PathInvocation(BaseToolInvocation[P]):
    """A call on one path. Subclasses say which, and whether they write."""

    writes = False
    approved = False
    """The user has seen this very call and agreed, so a name that asks is answered for."""

    @property
    def raw_path(self) -> str:
        """The path as given."""
        raise NotImplementedError

    def resolve(self) -> WorkspacePath:
        """Return the path if it may be touched. Blocks; raises `ToolFailure`."""
        return self.context.workspace.resolve(self.raw_path, for_write=self.writes, approved=self.approved)

    @property
    def shown_path(self) -> str:
        """The path as Markdown code, relative to the workspace, before anything is looked up on the disk."""
        path = os.path.normpath(os.path.join(self.context.workspace.root, self.raw_path.replace("\0", "\u2400")))
        return as_code(self.context.workspace.shown(path))

    def tool_locations(self) -> list[ToolLocation]:
        return [ToolLocation(os.path.normpath(os.path.join(self.context.workspace.root, self.raw_path)))]

    async def reason_to_ask(self) -> str:
        try:
            judgement = await asyncio.to_thread(self.context.workspace.judge, self.raw_path)
        except ToolFailure:
            return ""  # the run refuses it, with the reason
        if judgement.verdict is not Verdict.ASK:
            return ""
        return f"the name of {make_visible_line(self.raw_path)} matches the sensitive pattern {judgement.pattern}"

    def amended(self, reply: ApprovalReply) -> Self:
        invocation = copy.copy(self)
        invocation.approved = True
        return invocation


def as_code(text: str) -> str:
    """Return foreign text as a Markdown code span of one line, whatever backticks it holds (CommonMark 6.1)."""
    line = make_visible_line(text)
    fence = "`" * (max(map(len, re.findall("`+", line)), default=0) + 1)
    padding = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{padding}{line}{padding}{fence}"

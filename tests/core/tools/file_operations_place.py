"""A small project with the tool file_operations, for its tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.contract.events import Event
from core.contract.tool import ToolResult
from core.tools.builtin.file_operations import FileOperationsInvocation, FileOperationsTool
from core.tools.context import ToolContext
from core.workspace.workspace import Workspace


class Place:
    """A small project and the tool."""

    def __init__(self, base: Path) -> None:
        self.root = base / "ws"
        self.root.mkdir()
        self.journals = base / "journals"
        for name in ("a", "b", "c"):
            (self.root / f"{name}.py").write_text(f"def {name}():\n    return 1\n")
        (self.root / "docs").mkdir()
        (self.root / "docs" / "x.md").write_text("# x\n")
        self.events: list[Event] = []
        self.workspace = Workspace([self.root])
        self.context = ToolContext(self.workspace, publish=self._note, transactions=self.journals)
        self.tool = FileOperationsTool(self.context)

    async def _note(self, event: Event) -> None:
        self.events.append(event)

    def invocation(self, *operations: dict[str, Any], **options: Any) -> FileOperationsInvocation:
        built = self.tool.build({"operations": list(operations), **options})
        assert isinstance(built, FileOperationsInvocation)
        return built

    async def run(self, *operations: dict[str, Any], **options: Any) -> ToolResult:
        return await self.tool.build_and_execute({"operations": list(operations), **options})

    def text(self, name: str) -> str:
        return (self.root / name).read_text()


def edit(name: str, old: str, new: str, **more: Any) -> dict[str, Any]:
    return {"type": "edit", "file_path": name, "old_string": old, "new_string": new, **more}

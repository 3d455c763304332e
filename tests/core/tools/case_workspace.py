"""Builds the workspace of a case of `tools.json`, and runs its call."""

from __future__ import annotations

import base64
import importlib
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any, Literal

from core.contract.tool import ToolResult
from core.settings.models import FileOperationsSettings, ReadFileSettings, Settings, ToolSettings
from core.tools.builtin import BUILTIN
from core.tools.context import ToolContext
from core.tools.declarative import DeclarativeTool
from core.workspace.workspace import Workspace


def load_cases(folder: Path, *tools: str) -> list[dict[str, Any]]:
    """Return the cases of these tools."""
    cases = json.loads((folder / "tools.json").read_text(encoding="utf-8"))
    return [case for case in cases if case["tool"] in tools]


def make_tool(name: str, context: ToolContext) -> DeclarativeTool:
    """Return a built-in tool by its name or alias."""
    declared = {"grep_search": "search_file_content"}.get(name, name)
    (place,) = (place for place in BUILTIN if place.startswith(f"core.tools.builtin.{declared}:"))
    module_name, class_name = place.split(":")
    tool: DeclarativeTool = getattr(importlib.import_module(module_name), class_name)(context)
    assert name == tool.name or name in tool.aliases
    return tool


class CaseWorkspace:
    """The directories of one case: `${ROOT}`, `${BASE}` (its parent), `${OUTSIDE}`."""

    def __init__(self, base: Path, case: dict[str, Any]) -> None:
        self.base = base
        self.root = base / "ws"
        self.outside = base / "ws-outside"
        self.root.mkdir(parents=True)
        self.outside.mkdir()
        (self.outside / "secret.txt").write_text("secret\n")
        setup = case.get("setup", {})
        extra = [base / name for name in setup.get("extra_dirs", ())]
        for directory in extra:
            directory.mkdir(parents=True)
        for path, text in setup.get("extra_files", {}).items():
            self._place(base / path, text)
        for path, content in case["files"].items():
            self._place(self.root / path, content)
        if setup.get("git"):
            self._make_repository()
        self.workspace = Workspace([self.root, *extra])
        self._journals = base / "journals"

    def fill(self, value: Any) -> Any:
        """Return `value` with the placeholders replaced, also inside lists and objects."""
        if isinstance(value, str):
            for name, path in (("ROOT", self.root), ("BASE", self.base), ("OUTSIDE", self.outside)):
                value = value.replace(f"${{{name}}}", str(path))
            return value
        if isinstance(value, list):
            return [self.fill(item) for item in value]
        if isinstance(value, dict):
            return {key: self.fill(item) for key, item in value.items()}
        return value

    def context(self, engine: Literal["off", "adapters"] = "off") -> ToolContext:
        """Return services with the settings that the cases assume (no line numbers)."""
        settings = Settings(
            tools=ToolSettings(read_file=ReadFileSettings(line_numbers=False)),
            file_operations=FileOperationsSettings(enabled=engine),
        )
        return ToolContext(self.workspace, settings, transactions=self._journals)

    async def run(self, tool: str, args: dict[str, Any], context: ToolContext | None = None) -> ToolResult:
        """Run a call without asking anyone."""
        return await make_tool(tool, context or self.context()).build_and_execute(self.fill(args))

    def _place(self, path: Path, content: Any) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            path.write_bytes(content.encode())
            return
        if "symlink" in content:
            path.symlink_to(self.fill(content["symlink"]))
        elif "dir" in content:
            path.mkdir(exist_ok=True)
        elif "base64" in content:
            path.write_bytes(base64.b64decode(content["base64"]))
        elif "lines" in content:
            lines = [content["format"].replace("{n}", str(number + 1)) for number in range(content["lines"])]
            path.write_bytes(("\n".join(lines) + content.get("end", "")).encode())
        elif "repeat" in content:
            path.write_bytes((content["repeat"] * content["n"] + content.get("end", "")).encode())
        else:
            path.write_bytes(content["content"].encode())
        if "age_s" in content:
            moment = time.time() - content["age_s"]
            os.utime(path, (moment, moment))
        if "mode" in content:
            path.chmod(int(str(content["mode"]), 8))

    def _make_repository(self) -> None:
        git = shutil.which("git")
        assert git is not None
        who = ["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"]
        for arguments in (["init", "-q"], ["add", "-A"], [*who, "commit", "-q", "--allow-empty", "-m", "start"]):
            subprocess.run([git, *arguments], cwd=self.root, check=True, capture_output=True)

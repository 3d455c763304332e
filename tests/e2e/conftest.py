"""Fixtures of the whole program's tests: a project and a home of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.e2e.terminal import LIMIT, Terminal, environment, open_terminal


@dataclass(slots=True)
class Place:
    """Where a program runs: its project, and a home that nobody else uses."""

    project: Path
    home: Path
    more: dict[str, str] = field(default_factory=dict)
    """Further variables of the environment."""

    @property
    def env(self) -> dict[str, str]:
        return environment(self.home, **self.more)

    def write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            path = self.project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def read(self, name: str) -> str:
        return (self.project / name).read_text(encoding="utf-8")

    def script(self, text: str) -> str:
        """Write a script and return the model's name."""
        path = self.home / "model.script"
        path.write_text(text, encoding="utf-8")
        return f"script/{path}"

    @property
    def records(self) -> list[Path]:
        """The sessions' records, the oldest first."""
        return sorted((self.home / "state" / "sessions").glob("*/*.jsonl"), key=os.path.getmtime)

    @asynccontextmanager
    async def open(self, *arguments: str, columns: int = 120, lines: int = 40) -> AsyncIterator[Terminal]:
        """Run the full-screen application."""
        async with open_terminal(
            arguments, directory=self.project, env=self.env, columns=columns, lines=lines
        ) as terminal:
            yield terminal

    def run(self, *arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """Run a command without a terminal."""
        return subprocess.run(
            [sys.executable, "-m", "stet", *arguments],
            input=given,
            capture_output=True,
            cwd=self.project,
            env=self.env,
            timeout=LIMIT,
        )


@pytest.fixture
def place(tmp_path: Path) -> Place:
    found = Place(tmp_path / "project", tmp_path / "home")
    found.project.mkdir()
    found.home.mkdir()
    return found

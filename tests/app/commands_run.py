"""Commands run as people's scripts run them: a process, its output and its exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 60
"""Seconds after which something hangs."""


def environment(home: Path, **more: str) -> dict[str, str]:
    """Return an environment without keys, with folders of its own."""
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
    folders = {f"STET_{kind}_DIR": str(home / kind.lower()) for kind in ("CONFIG", "STATE", "CACHE")}
    return {
        "LANG": "C.UTF-8",
        "HOME": str(home),
        "PYTHONPATH": str(ROOT),
        "SHELL": "/bin/sh",
        **kept,
        **folders,
        **more,
    }


def stet(project: Path, *arguments: str, given: str | None = "", **more: str) -> subprocess.CompletedProcess[str]:
    """Run `stet ARGUMENTS` in `project`; its folders lie beside it.

    Args:
        given: standard input; none closes it.
        more: further variables of the environment.
    """
    return subprocess.run(
        [sys.executable, "-m", "stet", *arguments],
        input=given,
        stdin=subprocess.DEVNULL if given is None else None,
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=project,
        env=environment(project.parent, **more),
        timeout=LIMIT,
    )

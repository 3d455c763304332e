"""The system prompt: a page of text beside this file, and the facts of this session."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from datetime import date
from pathlib import Path

from core.contract.events import ApprovalMode

_MODES = {
    ApprovalMode.DEFAULT: "Edits and commands are shown to the user, who accepts, changes or rejects them.",
    ApprovalMode.AUTO_EDIT: "Edits are applied without asking; commands are shown to the user first.",
    ApprovalMode.PLAN: "Plan mode: look and think, change nothing. Every change is refused until the user leaves it.",
    ApprovalMode.YOLO: "Edits and commands run without asking, but for those that a rule denies.",
}


_MEMORY = """# What you remember

These facts were saved in earlier sessions, with the user's agreement. The user's word in this session goes first.

"""


def system_prompt(
    roots: Iterable[Path],
    mode: ApprovalMode,
    memory: str = "",
    *,
    instructions: str = "",
    today: date | None = None,
) -> str:
    """Return the system prompt for a session in these folders.

    Args:
        memory: the facts of earlier sessions, as Markdown; may be empty.
        instructions: from the user's and the project's files, as Markdown; may be empty.
    """
    page = Path(__file__).with_suffix(".md").read_text(encoding="utf-8").strip()
    remembered = f"{_MEMORY}{memory.strip()}\n\n" if memory.strip() else ""
    return f"{page}\n\n{instructions}{remembered}{session_facts(roots, mode, today=today)}"


def session_facts(roots: Iterable[Path], mode: ApprovalMode, *, today: date | None = None) -> str:
    """Return the part of the prompt that tells of this session."""
    folders = [str(root) for root in roots]
    facts = [
        f"- Workspace: {folders[0]}" if folders else "",
        *(f"- Also in the workspace: {folder}" for folder in folders[1:]),
        f"- System: {platform.system()} {platform.machine()}",
        f"- Date: {(today or date.today()).isoformat()}",
        f"- Mode: {_MODES[mode]}",
    ]
    return "# This session\n\n" + "\n".join(filter(None, facts)) + "\n"

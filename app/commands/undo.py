"""`/undo` and `/redo`: what came of a turn is taken back, or done again, after it was shown."""

from __future__ import annotations

import os

from app.commands.registry import Command, command
from app.services.undo_review import review_undo
from app.stage import Stage
from core.contract.errors import StetError


def _busy(stage: Stage) -> str:
    return "the agent is at work" if stage.engine.agent.is_busy else ""


def _absolute(root: str, path: str) -> str:
    return os.path.normpath(os.path.join(root, path))


@command("undo", arguments="[TURN] [PATH]", unavailable=_busy)
async def undo_turn(stage: Stage, arguments: str) -> None:
    """Take back what the last turn changed on disk, by tools and by commands.

    Shows first what would come back: by file and by hunk it can be left out. A number means that turn, a path only
    that file. What you have changed since stays as it is. /redo does it again.
    """
    first, _, rest = arguments.partition(" ")
    turn = int(first) if first.isdecimal() else None
    path = rest.strip() if turn is not None else arguments
    only = None
    if path:
        root = stage.engine.workspace.root
        only = [_absolute(root, path)]
    plan = await stage.engine.undo.plan_turn(turn, only=only)
    if only and not plan.items:
        raise StetError(f"Turn {plan.turn} did not change {path}.", "The changes pane (f5) shows what it did.")
    await review_undo(stage, plan)


@command("redo", unavailable=_busy)
async def redo(stage: Stage, arguments: str) -> None:
    """Do again what the last undo took back."""
    await review_undo(stage, await stage.engine.undo.plan_redo())


@command("changes")
async def show_changes(stage: Stage, arguments: str) -> None:
    """Show the changes pane: what each turn changed on disk."""
    await stage.app.dispatch.perform("pane.changes")


COMMANDS: tuple[Command[Stage], ...] = (undo_turn, redo, show_changes)

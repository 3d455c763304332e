"""Leaving the application: commands that still run are named first, and end with it only if that is wanted."""

from __future__ import annotations

from app.services.choosing import choose
from app.stage import Stage
from core.contract.visible import make_visible_line
from core.terminal.jobs import Remaining
from widgets.choice.screen import ChoiceScreen
from widgets.prompt.candidates import Candidate

_MOST_NAMED = 6


async def leave(stage: Stage) -> None:
    """Leave; where commands still run, ask whether they are ended or kept, or whether to stay."""
    if await settle_commands(stage):
        stage.app.on_exit_requested()


async def settle_commands(stage: Stage) -> bool:
    """Ask what becomes of commands that still run when the session ends; return whether it may end."""
    jobs = stage.engine.jobs
    running = await jobs.remaining()
    if not running:
        return True
    if any(isinstance(screen, ChoiceScreen) for screen in stage.app.screen_stack):
        return False
    many = len(running) > 1
    choices = (
        Candidate("end", f"end {'them' if many else 'it'} and all that {'they' if many else 'it'} started"),
        Candidate("keep", f"keep running, output goes to {_output_of(stage, 'PID')}"),
        Candidate("stay", "do not leave"),
    )
    title = f"{len(running)} commands still run" if many else "A command still runs"
    chosen = await choose(stage.app, ChoiceScreen(title, choices, current="end", help=_named(running)))
    if chosen == "keep":
        for each in running:
            jobs.keep(each.job.id, _output_of(stage, str(each.job.pid)))
    return chosen in ("end", "keep")


def _named(running: list[Remaining]) -> str:
    named = [f"{each.pid}  {make_visible_line(' '.join(each.command.split()))[:70]}" for each in running[:_MOST_NAMED]]
    if len(running) > _MOST_NAMED:
        named.append(f"and {len(running) - _MOST_NAMED} more")
    return "\n".join(named)


def _output_of(stage: Stage, pid: str) -> str:
    return str(stage.engine.folders.state / f"command-{pid}.log")

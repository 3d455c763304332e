"""Leaving the application: commands that still run are named first, and end with it only if that is wanted."""

from __future__ import annotations

from app.services.choosing import choose
from app.stage import Stage
from core.contract.visible import make_visible_line
from core.terminal.job import Job
from widgets.choice.screen import ChoiceScreen
from widgets.prompt.candidates import Candidate

_MOST_NAMED = 6


async def leave(stage: Stage) -> None:
    """Leave; where commands still run, ask whether they are ended or kept, or whether to stay."""
    jobs = stage.engine.jobs
    running = [job for job in jobs if job.running and not job.is_shell]
    if not running:
        stage.app.on_exit_requested()
        return
    if any(isinstance(screen, ChoiceScreen) for screen in stage.app.screen_stack):
        return
    many = len(running) > 1
    choices = (
        Candidate("end", f"end {'them' if many else 'it'} and all that {'they' if many else 'it'} started"),
        Candidate("keep", f"keep running, output goes to {_output_of(stage, 'PID')}"),
        Candidate("stay", "do not leave"),
    )
    title = f"{len(running)} commands still run" if many else "A command still runs"
    chosen = await choose(stage.app, ChoiceScreen(title, choices, current="end", help=_named(running)))
    if chosen == "keep":
        for job in running:
            jobs.keep(job.id, _output_of(stage, str(job.pid)))
    if chosen in ("end", "keep"):
        stage.app.on_exit_requested()


def _named(running: list[Job]) -> str:
    named = [f"{job.pid}  {make_visible_line(' '.join(job.command.split()))[:70]}" for job in running[:_MOST_NAMED]]
    if len(running) > _MOST_NAMED:
        named.append(f"and {len(running) - _MOST_NAMED} more")
    return "\n".join(named)


def _output_of(stage: Stage, pid: str) -> str:
    return str(stage.engine.folders.state / f"command-{pid}.log")

"""`/instructions`: the files that tell the model how to work here."""

from __future__ import annotations

from app.commands.registry import Command, command
from app.session_services import load_project_instructions
from app.stage import Stage
from core.agent.instructions import describe_instructions
from core.contract.errors import StetError
from core.contract.events import Notice


@command("instructions", arguments="[reload]")
async def show_instructions(stage: Stage, arguments: str) -> None:
    """The files with instructions (AGENTS.md, GEMINI.md) that the model was given; `reload` reads them again."""
    if arguments not in ("", "reload"):
        raise StetError(f"/instructions knows no {arguments!r}.", "Use /instructions or /instructions reload.")
    if arguments:
        await load_project_instructions(stage.engine)
    await stage.engine.bus.publish(Notice(describe_instructions(stage.engine.instructions)))


COMMANDS: tuple[Command[Stage], ...] = (show_instructions,)

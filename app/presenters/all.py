"""All presenters and commands, made for one session. Imported after the first paint."""

from __future__ import annotations

from app.commands.builtin import COMMANDS
from app.commands.context import COMMANDS as CONTEXT_COMMANDS
from app.commands.instructions import COMMANDS as INSTRUCTIONS_COMMANDS
from app.commands.mcp import COMMANDS as MCP_COMMANDS
from app.commands.registry import CommandRegistry
from app.commands.sessions import COMMANDS as SESSION_COMMANDS
from app.commands.undo import COMMANDS as UNDO_COMMANDS
from app.presenters.approvals import ApprovalsPresenter
from app.presenters.attention import AttentionPresenter
from app.presenters.collection import CollectionPresenter
from app.presenters.custom_commands import CustomCommandsPresenter
from app.presenters.drafts import DraftsPresenter
from app.presenters.guide import GuidePresenter
from app.presenters.mcp import McpPresenter
from app.presenters.prompt import PromptPresenter
from app.presenters.search import SearchPresenter
from app.presenters.session import SessionPresenter
from app.presenters.shell import ShellPresenter
from app.presenters.status import StatusPresenter
from app.presenters.todos import TodosPresenter
from app.presenters.transcript import TranscriptPresenter
from app.presenters.undo import UndoPresenter
from app.presenters.welcome import WelcomePresenter
from app.stage import Presenter, Stage


def all_commands() -> CommandRegistry[Stage]:
    """Return the slash commands."""
    of_the_session = (*UNDO_COMMANDS, *CONTEXT_COMMANDS, *INSTRUCTIONS_COMMANDS, *SESSION_COMMANDS)
    return CommandRegistry((*COMMANDS, *MCP_COMMANDS, *of_the_session))


def all_presenters(stage: Stage, commands: CommandRegistry[Stage]) -> tuple[Presenter, ...]:
    """Return the presenters, connected to one another."""
    transcript = TranscriptPresenter(stage)
    status = StatusPresenter(stage)
    todos = TodosPresenter(stage)
    approvals = ApprovalsPresenter(stage)
    shell = ShellPresenter(stage)
    prompt = PromptPresenter(stage, commands, shell.run_line)
    session = SessionPresenter(stage, prompt)
    servers = McpPresenter(stage, commands, prompt.submit_text)
    undo = UndoPresenter(stage)
    own = CustomCommandsPresenter(stage, commands, prompt.submit_text)
    prompt.stop_other = own.stop
    todos.on_summary = status.show_todo
    approvals.on_waiting = status.show_waiting
    servers.on_states = status.show_servers
    status.on_servers = servers.show_all
    search = SearchPresenter(stage)
    prompt.on_leaving = search.close
    guide = GuidePresenter(stage, prompt.pane, stage.app.options.guide)
    talking = (transcript, status, todos, undo, approvals, shell, prompt, session, search)
    return (*talking, servers, guide, own, *_upkeep(stage))


def _upkeep(stage: Stage) -> tuple[Presenter, ...]:
    """Return the presenters that stand for themselves."""
    return (
        DraftsPresenter(stage),
        AttentionPresenter(stage),
        WelcomePresenter(stage),
        CollectionPresenter(stage),
    )

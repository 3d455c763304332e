"""Passwords that are typed into the prompt by mistake: they must not go to the agent, nor into the prompt's history."""

from __future__ import annotations

from app.stage import Stage
from core.contract.ids import JobId
from widgets.prompt.draft import Draft, PromptMode


class PasswordGuard:
    """Holds back what is sent while a program reads a password; sent once more it goes."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._told: set[JobId] = set()

    def may_send(self, draft: Draft) -> bool:
        """Return whether a draft may go, and say so if it may not."""
        jobs = self._stage.engine.jobs
        asking = {job.id for job in jobs if job.hides_input}
        unknown = asking - self._told
        self._told = asking
        to_shell = draft.mode is PromptMode.SHELL and jobs.shell is not None and jobs.shell.hides_input
        if draft.mode is PromptMode.COMMAND or not (unknown or to_shell):
            return True
        again = "" if to_shell else "\nEnter again sends this to the agent."
        self._stage.app.notify(f"A program asks for a password: ctrl+t types into it.{again}", markup=False)
        return False

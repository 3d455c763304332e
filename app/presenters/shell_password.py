"""Passwords that are typed into the prompt by mistake: they must not go to the agent, nor onto the disk."""

from __future__ import annotations

from collections.abc import Callable

from app.stage import Stage
from core.contract.ids import JobId
from widgets.prompt.draft import Draft, DraftGuard, PromptMode


class PasswordGuard(DraftGuard):
    """Holds back what is typed while a program reads a password; sent once more it goes, cleared it is forgotten.

    Args:
        hold: tells of a draft whether it waits until it is known if a program asks.
    """

    def __init__(self, stage: Stage, hold: Callable[[Draft], bool]) -> None:
        self._stage = stage
        self._hold = hold
        self._told: set[JobId] = set()
        """Those of which the user knows that they ask."""
        self._asked: set[JobId] = set()
        """Those that asked while what stands in the prompt was typed; they may have ended since."""
        self._harmless = ""
        """What stood there last when nothing of it could be a password."""

    def note_change(self, draft: Draft) -> None:
        asking = self._asking()
        self._told &= asking
        if draft.is_empty:
            self._asked.clear()
        elif draft.text != self._harmless:
            self._asked |= asking
        if not self._asked:
            self._harmless = draft.text

    def may_keep(self, draft: Draft) -> bool:
        return draft.text == self._harmless or not (self._asked or self._asking())

    def may_send(self, draft: Draft) -> bool:
        if self._hold(draft):
            return False
        shell = self._stage.engine.jobs.shell
        asking = self._asking()
        suspect = asking if draft.text == self._harmless else asking | self._asked
        unknown = suspect - self._told
        self._told = suspect
        to_shell = draft.mode is PromptMode.SHELL and shell is not None and shell.hides_input
        if draft.mode is PromptMode.COMMAND or not (unknown or to_shell):
            return True
        again = "" if to_shell else "\nEnter again sends this to the agent."
        if unknown and not asking:
            self._stage.app.notify(f"This was typed while a program asked for a password.{again}", markup=False)
        else:
            self._stage.app.notify(f"A program asks for a password: ctrl+t types into it.{again}", markup=False)
        return False

    def _asking(self) -> set[JobId]:
        return {job.id for job in self._stage.engine.jobs if job.hides_input}

"""The title of the shell's tab: what a program has set goes with the program, as few of them take it back."""

from __future__ import annotations

from dataclasses import replace

from core.contract.frame import TerminalFrame
from core.terminal.job import Job


class ShellTitle:
    """Knows who has set the title of the user's own shell."""

    def __init__(self) -> None:
        self._job = ""
        self._title = ""
        self._by_program = False

    def settle(self, job: Job, frame: TerminalFrame) -> TerminalFrame:
        """Return the shell's frame without the title of a program that has ended."""
        leads = bool(frame.title) and job.leads
        if (job.id, frame.title) != (self._job, self._title):
            self._job, self._title, self._by_program = job.id, frame.title, not leads
        return replace(frame, title="") if leads and self._by_program else frame

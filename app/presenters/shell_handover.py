"""Who has the keyboard after `!command`: the program gets it once it wants keys, the prompt gets it back at its end."""

from __future__ import annotations

from collections.abc import Callable

from app.stage import Stage
from core.contract.state import JobState
from core.terminal.job import Job
from widgets.shell.pane import ShellPane


class Handover:
    """Follows the user's own shell from a line of the prompt to the end of what that line started.

    Nothing is taken from someone who types: the keys go over only while the prompt is empty and has the focus.

    Args:
        leave: gives the keyboard back to the prompt.
    """

    def __init__(self, stage: Stage, leave: Callable[[], None]) -> None:
        self._stage = stage
        self._leave = leave
        self._expected = False
        self._given = False

    def expect(self) -> None:
        """Note that a line of the prompt goes to the shell."""
        self._expected = True

    def forget(self) -> None:
        """Note that the user chose where to type."""
        self._expected = self._given = False

    def follow(self, job: Job, pane: ShellPane) -> None:
        """Look at the shell after its picture or its state changed."""
        if not (self._expected or self._given) or not job.is_shell:
            return
        if job.leads:
            if self._given:
                self._leave()
        elif self._expected and self._wants_keys(job, pane) and self._prompt_is_idle():
            self._expected, self._given = False, True
            pane.focus()

    @staticmethod
    def _wants_keys(job: Job, pane: ShellPane) -> bool:
        frame = pane.view.frame
        at_once = frame is not None and (frame.alternate or frame.hides_input)
        return pane.active == job.id and (at_once or job.state is JobState.WAITING)

    def _prompt_is_idle(self) -> bool:
        editor = self._stage.workspace.prompt.editor
        return self._stage.app.screen is self._stage.workspace and editor.has_focus and editor.draft.is_empty

"""Who has the keyboard after `!command`: the program gets it once it wants keys, the prompt gets it back at its end."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable

from app.stage import Stage
from core.contract.state import JobState
from core.terminal.job import Job
from widgets.prompt.draft import Draft, PromptMode
from widgets.shell.pane import ShellPane

_HOLD_SECONDS = 0.7
"""So long after a line has gone to the shell, what is sent may still be meant for the program that it starts."""
_AHEAD_SECONDS = 2.0
"""So long after it, what stands in the prompt was typed ahead for a program that now asks for a password."""


class Handover:
    """Follows the user's own shell from a line of the prompt to the end of what that line started.

    Nothing is taken from someone who types: the keys go over only while the prompt is empty and has the focus. But a
    password that was typed ahead goes where a terminal would have sent it, not to the agent.

    Args:
        leave: gives the keyboard back to the prompt.
        type_ahead: types a text into a job.
    """

    def __init__(self, stage: Stage, leave: Callable[[], None], type_ahead: Callable[[Job, str], None]) -> None:
        self._stage = stage
        self._leave = leave
        self._type_ahead = type_ahead
        self._expected = False
        self._given = False
        self._typed = -math.inf
        """When the line was typed into the shell."""
        self._reached = asyncio.Event()
        self._held: Draft | None = None
        """What was sent to the agent and waits whether a program asks for a password."""

    def expect(self) -> None:
        """Note that a line of the prompt goes to the shell."""
        self._expected = True
        self._typed = math.inf
        self._reached.clear()

    def note_typed(self) -> None:
        """Note that the line has reached the shell, or never will."""
        self._typed = time.monotonic()
        self._reached.set()

    def forget(self) -> None:
        """Note that the user chose where to type."""
        self._expected = self._given = False

    def hold(self, draft: Draft) -> bool:
        """Hold back what is sent to the agent right after a line for the shell; return whether it is."""
        if not self._expected or draft.mode is not PromptMode.AGENT or self._seconds > _HOLD_SECONDS:
            return False
        if self._held is None:
            self._stage.spawn(self._send_later())
        self._held = draft
        return True

    async def _send_later(self) -> None:
        await self._reached.wait()
        await asyncio.sleep(_HOLD_SECONDS)
        held, self._held = self._held, None
        editor = self._stage.workspace.prompt.editor
        if held is not None and editor.draft == held:
            editor.action_send()

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self._typed

    def follow(self, job: Job, pane: ShellPane) -> None:
        """Look at the shell after its picture or its state changed."""
        if not (self._expected or self._given) or not job.is_shell:
            return
        if job.leads and not self._asks_password(pane):  # a shell's own `read -s` leads, too
            if self._given:
                self._leave()
        elif self._expected and self._wants_keys(job, pane):
            if self._asks_password(pane) and self._seconds <= _AHEAD_SECONDS:
                self._hand_over_typed(job)
            if self._prompt_is_idle():
                self._expected, self._given = False, True
                pane.focus()

    def _hand_over_typed(self, job: Job) -> None:
        prompt = self._stage.workspace.prompt
        draft, entered = prompt.draft, self._held is not None
        if draft.is_empty or draft.mode is not PromptMode.AGENT or "\n" in draft.text:
            return
        self._held = None
        prompt.set_draft(Draft())
        self._type_ahead(job, draft.expanded + "\r" * entered)

    @staticmethod
    def _asks_password(pane: ShellPane) -> bool:
        frame = pane.view.frame
        return frame is not None and frame.hides_input

    def _wants_keys(self, job: Job, pane: ShellPane) -> bool:
        frame = pane.view.frame
        at_once = frame is not None and (frame.alternate or frame.hides_input)
        return pane.active == job.id and (at_once or job.state is JobState.WAITING)

    def _prompt_is_idle(self) -> bool:
        editor = self._stage.workspace.prompt.editor
        return self._stage.app.screen is self._stage.workspace and editor.has_focus and editor.draft.is_empty

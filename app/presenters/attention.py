"""Calls the user back to a terminal that they don't look at: bell, a notification of the terminal, and its title."""

from __future__ import annotations

import os
from collections.abc import Mapping

from app.bridge import Routes
from app.services.terminal_writing import passed_through, write_to_terminal
from app.stage import Presenter, Stage
from core.contract.envelope import Envelope
from core.contract.events import RequestWithdrawn, TurnFinished
from core.contract.requests import ApprovalRequest, QuestionRequest
from core.contract.visible import make_visible_line

_LONGEST = 200
"""Characters of a notification."""
_BELL = "\x07"
_PUSH_TITLE, _POP_TITLE = "\x1b[22;2t", "\x1b[23;2t"
_OSC_777 = ("rxvt", "foot", "ghostty", "wezterm")
"""Terminals that know rxvt's OSC 777 (with a title); the others get iTerm's OSC 9."""


def notification(text: str, environment: Mapping[str, str], way: str = "auto") -> str:
    """Return the bell, the terminal's own notification, or both for a text, without any control character of it.

    Args:
        way: as in the setting `ui.notifications`.
    """
    if way == "bell":
        return _BELL
    shown = make_visible_line(text)[:_LONGEST]
    program = f"{environment.get('TERM_PROGRAM', '')} {environment.get('TERM', '')}".lower()
    if way == "osc777" or (way == "auto" and any(name in program for name in _OSC_777)):
        sequence = f"\x1b]777;notify;stet;{shown.replace(';', ',')}\x1b\\"
    else:
        sequence = f"\x1b]9;{shown}\x07"
    return (_BELL if way == "auto" else "") + passed_through(sequence, environment)


class AttentionPresenter(Presenter):
    """Speaks up only while the terminal has not the focus; it says nothing that was not said on the screen."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self._has_title = False

    def routes(self) -> Routes:
        return {
            ApprovalRequest: self._call_for_approval,
            QuestionRequest: self._call_for_answer,
            TurnFinished: self._tell_end,
            RequestWithdrawn: lambda envelope: self._forget(),
        }

    def register(self) -> None:
        self.stage.workspace.watch(self.stage.app, "app_focus", self._note_focus, init=False)

    def _call_for_approval(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, ApprovalRequest)
        self._call(f"Approval needed: {envelope.payload.details.title}")

    def _call_for_answer(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, QuestionRequest)
        self._call(f"A question: {envelope.payload.title}")

    def _tell_end(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, TurnFinished)
        self._call(f"The turn is over: {envelope.payload.reason.replace('_', ' ')}")

    def _call(self, text: str) -> None:
        app, way = self.stage.app, self.stage.engine.settings.ui.notifications
        if app.app_focus or way == "off":
            return
        shown = make_visible_line(text)[:_LONGEST]
        start = "" if self._has_title else _PUSH_TITLE
        self._has_title = True
        write_to_terminal(app, f"{notification(text, os.environ, way)}{start}\x1b]2;stet: {shown}\x07")

    def _note_focus(self, focused: bool) -> None:
        if focused:
            self._forget()

    def _forget(self) -> None:
        """Give the terminal its title back."""
        if self._has_title:
            self._has_title = False
            write_to_terminal(self.stage.app, _POP_TITLE)

"""The guide of a guided session: says what comes next, and puts the next prompt into the editor. It never sends one."""

from __future__ import annotations

from collections.abc import Sequence

from app.bridge import Routes
from app.options import GuideStep
from app.stage import Presenter, Stage
from core.contract.envelope import Envelope
from core.contract.events import PromptSubmitted, TurnEnd, TurnFinished
from widgets.prompt.draft import Draft
from widgets.prompt.prompt import PromptPane
from widgets.transcript.view import TranscriptView


class GuidePresenter(Presenter):
    """Leads through its steps; without any it does nothing."""

    def __init__(self, stage: Stage, prompt: PromptPane, steps: Sequence[GuideStep]) -> None:
        super().__init__(stage)
        self._prompt = prompt
        self._steps = steps
        self._at = 0
        self._sent = ""

    def routes(self) -> Routes:
        return {PromptSubmitted: self._note_prompt, TurnFinished: self._go_on}

    def register(self) -> None:
        self._show_step()

    def _note_prompt(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, PromptSubmitted)
        self._sent = envelope.payload.text

    def _go_on(self, envelope: Envelope) -> None:
        """Go to the next step after the turn of this one's prompt; after any other turn offer that prompt again."""
        assert isinstance(envelope.payload, TurnFinished)
        if self._at >= len(self._steps):
            return
        step = self._steps[self._at]
        if envelope.payload.reason is TurnEnd.DONE and step.prompt and self._sent == step.prompt:
            self._at += 1
            self._show_step()
        else:
            self._offer(step.prompt)

    def _show_step(self) -> None:
        if self._at >= len(self._steps):
            return
        chat = self.stage.workspace.query_one("#chat", TranscriptView)
        block = chat.start_answer()
        chat.append_answer(block, self._steps[self._at].text)
        chat.finish_answer(block)
        self._offer(self._steps[self._at].prompt)

    def _offer(self, prompt: str) -> None:
        if prompt and self._prompt.draft.is_empty:
            self._prompt.set_draft(Draft(prompt))

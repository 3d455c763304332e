"""Asks questions one after the other: of the application's own, or of the model's (`ask_user`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from core.contract.confirmation import Question
from core.contract.requests import QuestionReply
from widgets.approval.approval_dialog import title_line
from widgets.approval.dialog import DecisionScreen, heading_row, status_rows
from widgets.approval.entry_line import EntryLine
from widgets.approval.guard import TypeAheadGuard
from widgets.approval.text_view import Passage, TextView


class QuestionDialog(DecisionScreen[QuestionReply]):
    """Ends with all answers, or cancelled.

    Args:
        title: what the questions are about.
        questions: at least one; without choices the answer is typed.
        is_open: something else than the choices may be answered.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "take", "answer", id="question.take"),
        Binding("space", "toggle_choice", "on/off", id="question.toggle"),
        Binding("j,down", "move(1)", "next", key_display="\u2193", id="question.next"),
        Binding("k,up", "move(-1)", "previous", show=False, id="question.previous"),
        Binding("o", "other", "other answer", id="question.other"),
        Binding("backspace", "back", "question before", id="question.back"),
        Binding("escape", "cancel", "cancel", id="question.cancel"),
        *(Binding(str(digit), f"choose({digit})", f"choice {digit}", show=False) for digit in range(1, 10)),
    ]

    def __init__(
        self,
        title: str,
        questions: Sequence[Question],
        *,
        is_open: bool = False,
        guard: TypeAheadGuard | None = None,
        place: tuple[int, int] = (1, 1),
    ) -> None:
        super().__init__(guard=guard, place=place)
        self._title = title
        self.questions = tuple(questions)
        self._is_open = is_open
        self.index = 0
        self.cursor = 0
        self._chosen: set[int] = set()
        self._answers: dict[str, str] = {}

    @property
    def question(self) -> Question:
        return self.questions[self.index]

    @property
    def heading(self) -> str:
        part = f"question {self.index + 1} of {len(self.questions)}" if len(self.questions) > 1 else ""
        return title_line(self._title, part)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield heading_row()
            yield TextView()
            yield from status_rows(self)

    def on_mount(self) -> None:
        if self.is_composed:
            self.show_question(0)

    def on_resize(self) -> None:
        self._show_choices()

    def focus_body(self) -> None:
        self.query_one(TextView).focus()

    def show_question(self, index: int) -> None:
        """Ask question `index`."""
        self.index = index
        self.cursor = 0
        self._chosen = set()
        self.show_heading()
        self._show_choices()
        if self.question.choices:
            self.focus_body()
        else:
            self.ask_entry("answer", "answer (enter gives it, esc cancels):")
        self.refresh_bindings()

    def _show_choices(self) -> None:
        question = self.question
        shown = [Passage(question.header, "heading")] if question.header else []
        shown.append(Passage(question.question))
        first = len(shown)
        for index, choice in enumerate(question.choices):
            box = ("[x] " if index in self._chosen else "[ ] ") if question.multiple else ""
            lead = ("\u25b8" if index == self.cursor else " ") + f" {index + 1}  {box}"
            text = f"{choice.label}  \u2014 {choice.description}" if choice.description else choice.label
            shown.append(Passage(text, "heading" if index == self.cursor else "plain", lead))
        body = self.query_one(TextView)
        body.show(shown, first + self.cursor if question.choices else 0)
        body.fit()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        has_choices = bool(self.question.choices)
        if action == "toggle_choice":
            return has_choices and self.question.multiple and bool(super().check_action(action, parameters))
        if action in ("take", "move", "choose", "other") and not has_choices:
            return False
        if action == "other" and not self._is_open:
            return False
        if action == "back" and not self.index:
            return False
        return super().check_action(action, parameters)

    # --- answering --------------------------------------------------------------------------------

    def action_move(self, step: int) -> None:
        self.cursor = (self.cursor + step) % len(self.question.choices)
        self._show_choices()

    def action_choose(self, digit: int) -> None:
        if digit > len(self.question.choices):
            return
        self.cursor = digit - 1
        if self.question.multiple:
            self.action_toggle_choice()
        else:
            self.action_take()

    def action_toggle_choice(self) -> None:
        self._chosen ^= {self.cursor}
        self._show_choices()

    def action_take(self) -> None:
        choices = self.question.choices
        if not self.question.multiple:
            self._answer(choices[self.cursor].label)
        elif self._chosen:
            self._answer(", ".join(choices[index].label for index in sorted(self._chosen)))
        else:
            self.say("Nothing is on: space or a digit takes a choice, esc cancels.")

    def action_other(self) -> None:
        self.ask_entry("answer", "other answer (enter gives it, esc back):")

    def action_back(self) -> None:
        self.show_question(self.index - 1)

    def action_cancel(self) -> None:
        self.decide(QuestionReply(cancelled=True))

    def on_entry(self, purpose: str, text: str) -> None:
        if text and self.guard.admits():
            self._answer(text)
        elif not self.question.choices:
            self.ask_entry(purpose, "answer (enter gives it, esc cancels):", text)

    def on_entry_line_edited(self, event: EntryLine.Edited) -> None:
        # What is typed before the question could be read must not be sent by an enter that follows at once.
        self.guard.admits()

    def on_entry_line_left(self, event: EntryLine.Left) -> None:
        if not self.question.choices:
            event.prevent_default()
            if self.guard.admits():
                self.action_cancel()

    def _answer(self, text: str) -> None:
        self._answers[self.question.question] = text
        if self.index + 1 < len(self.questions):
            self.show_question(self.index + 1)
            if self.question.choices:
                self.guard.shut()  # the second press of a double one must not answer what was not read
        else:
            self.decide(QuestionReply(dict(self._answers)))

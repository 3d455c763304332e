"""The dialog that asks questions."""

from __future__ import annotations

import pytest
from textual.widgets import Input

from core.contract.confirmation import AskUserConfirmation, Choice, Question
from core.contract.requests import QuestionReply, QuestionRequest
from tests.widgets.approval.test_dialogs import request, show
from tests.widgets.diff.host import Clock, Host, answer, drawn, press, settle
from widgets.approval.guard import TypeAheadGuard
from widgets.approval.question_dialog import QuestionDialog

pytestmark = pytest.mark.anyio

QUESTIONS = (
    Question("Go on?", "Limit", (Choice("yes", "100 more steps"), Choice("no"))),
    Question("Which parts?", choices=(Choice("a"), Choice("b"), Choice("c")), multiple=True),
    Question("Why?"),
)


async def test_questions_are_answered_by_digits_arrows_marks_and_text() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        dialog = await show(pilot, QuestionRequest("Limit reached", QUESTIONS))
        assert isinstance(dialog, QuestionDialog)
        await press(pilot, "down", "enter")
        await press(pilot, "enter")
        assert dialog.index == 1, "several choices need at least one"
        await press(pilot, "1", "3", "enter")
        await answer(pilot, dialog, "because")
        assert dialog.outcome == QuestionReply({"Go on?": "no", "Which parts?": "a, c", "Why?": "because"})


async def test_another_answer_going_back_and_cancelling() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        dialog = await show(pilot, request(AskUserConfirmation("The model asks", QUESTIONS[:2])))
        assert isinstance(dialog, QuestionDialog)
        await press(pilot, "o")
        await answer(pilot, dialog, "maybe")
        await press(pilot, "backspace", "1", "2", "enter")
        assert dialog.outcome == QuestionReply({"Go on?": "yes", "Which parts?": "b"})
        dialog = await show(pilot, QuestionRequest("x", QUESTIONS[2:]))
        await press(pilot, "escape")
        assert dialog.outcome == QuestionReply(cancelled=True)


async def test_a_question_of_our_own_takes_its_choices_alone() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        dialog = await show(pilot, QuestionRequest("Limit reached", QUESTIONS[:1]))
        await press(pilot, "o")
        assert not dialog.is_typing and not any("other answer" in line for line in drawn(pilot.app))


async def test_typing_ahead_answers_no_question() -> None:
    clock = Clock()
    for questions in (QUESTIONS[:1], QUESTIONS[2:]):
        async with Host().run_test(size=(80, 24)) as pilot:
            dialog = await show(pilot, QuestionRequest("x", questions), guard=TypeAheadGuard(0.4, clock))
            for key in [*"yes1 2", "enter", "escape", "enter"]:
                clock.now += 0.2
                await press(pilot, key)
            await settle(pilot)
            assert dialog.outcome is None
            clock.now += 1.0
            await press(pilot, "escape")
            assert dialog.outcome == QuestionReply(cancelled=True)


async def test_a_double_press_answers_one_question() -> None:
    clock = Clock()
    questions = (QUESTIONS[0], Question("Really?", choices=(Choice("yes"), Choice("no"))))
    async with Host().run_test(size=(80, 24)) as pilot:
        dialog = await show(pilot, QuestionRequest("x", questions), guard=TypeAheadGuard(0.4, clock))
        clock.now += 1.0
        await press(pilot, "enter", "enter")
        assert isinstance(dialog, QuestionDialog) and dialog.index == 1 and dialog.outcome is None
        clock.now += 1.0
        await press(pilot, "2")
        assert dialog.outcome == QuestionReply({"Go on?": "yes", "Really?": "no"})


async def test_what_is_typed_ahead_of_a_text_question_stays_in_its_line() -> None:
    clock = Clock()
    async with Host().run_test(size=(80, 24)) as pilot:
        dialog = await show(pilot, QuestionRequest("x", QUESTIONS[2:]), guard=TypeAheadGuard(0.4, clock))
        await press(pilot, "a", "enter")
        assert dialog.outcome is None
        assert dialog.entry.query_one(Input).value == "a"
        clock.now += 1.0
        await press(pilot, "enter")
        assert dialog.outcome == QuestionReply({"Why?": "a"})

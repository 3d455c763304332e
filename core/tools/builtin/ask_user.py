"""ask_user: questions that only the user can answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from core.contract.confirmation import AskUserConfirmation, Choice, ConfirmationDetails, Question
from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.requests import ApprovalReply
from core.contract.tool import Kind, ToolResult
from core.contract.visible import make_visible, make_visible_line
from core.tools.abort import AbortSignal
from core.tools.declarative import BaseDeclarativeTool, BaseToolInvocation, ShellConfig, UpdateOutput
from core.tools.parameters import ToolParams
from core.tools.path_invocation import as_code

MAX_QUESTIONS = 4
OPTIONS = range(2, 5)


class AskedOption(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    label: str = Field(min_length=1, description="The answer, in a few words.")
    description: str = Field("", description="What it means, or what comes of it.")


class AskedQuestion(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    question: str = Field(min_length=1, description="The question, as a whole sentence.")
    header: str = Field("", description="What it is about, in a word or two.")
    type: Literal["choice", "text", "yesno"] | None = Field(
        None, description="Choose from `options`, answer freely, or yes or no; by default a choice if there are any."
    )
    options: tuple[AskedOption, ...] | None = Field(
        None,
        validation_alias=AliasChoices("options", "choices"),
        description="Two to four answers to choose from; the user may always give another one.",
    )
    multiSelect: bool = Field(
        False,
        validation_alias=AliasChoices("multiSelect", "multi_select", "multiple"),
        description="Whether several options may be chosen.",
    )
    placeholder: str = Field("", description="An example of an answer to a text question.")

    @property
    def is_choice(self) -> bool:
        return self.type == "choice" or (self.type is None and bool(self.options))


class AskUserParams(ToolParams):
    questions: tuple[AskedQuestion, ...] = Field(
        min_length=1, max_length=MAX_QUESTIONS, description="One to four questions."
    )


class AskUserInvocation(BaseToolInvocation[AskUserParams]):
    answers: Mapping[str, str] | None = None
    """By the question as it was shown; none until the user has answered."""

    def get_description(self) -> str:
        first = as_code(self.params.questions[0].question)
        more = len(self.params.questions) - 1
        return first + (f" and {more} more" if more else "")

    async def reason_to_ask(self) -> str:
        return "the model asks you"

    async def get_confirmation_details(self, abort: AbortSignal) -> ConfirmationDetails | None:
        return AskUserConfirmation("The model asks", tuple(_shown(asked) for asked in self.params.questions))

    def amended(self, reply: ApprovalReply) -> AskUserInvocation:
        invocation = AskUserInvocation(self.params, self.context)
        invocation.answers = reply.answers
        return invocation

    async def execute(
        self, abort: AbortSignal, update_output: UpdateOutput | None = None, shell_config: ShellConfig | None = None
    ) -> ToolResult:
        given = self.answers or {}
        shown = [_shown(asked) for asked in self.params.questions]
        answers = {str(index): given[one.question] for index, one in enumerate(shown) if one.question in given}
        if not answers:
            raise ToolFailure(ToolErrorType.EXECUTION_FAILED, "The user gave no answer.", "Go on as you think best.")
        lines = [f"- {as_code(one.question)}: {make_visible_line(given.get(one.question, '—'))}" for one in shown]
        text = json.dumps({"answers": answers}, ensure_ascii=False)
        return ToolResult(text, "\n".join(lines), data={"summary": f"{len(answers)} answered"})


def _shown(asked: AskedQuestion) -> Question:
    question, header = make_visible(asked.question), make_visible_line(asked.header)
    if asked.type == "yesno":
        return Question(question, header, (Choice("Yes"), Choice("No")))
    if not asked.is_choice:
        example = f" (for example: {make_visible_line(asked.placeholder)})" if asked.placeholder else ""
        return Question(question + example, header)
    choices = tuple(
        Choice(make_visible_line(option.label), make_visible_line(option.description)) for option in asked.options or ()
    )
    return Question(question, header, choices, asked.multiSelect)


class AskUserTool(BaseDeclarativeTool):
    name = "ask_user"
    display_name = "AskUser"
    kind = Kind.COMMUNICATE
    Params = AskUserParams

    @property
    def is_offered(self) -> bool:
        return self.context is None or self.context.interactive

    def validate_tool_param_values(self, params: AskUserParams) -> str | None:
        for number, asked in enumerate(params.questions, 1):
            if not asked.is_choice:
                continue
            if len(asked.options or ()) not in OPTIONS:
                return f"Question {number}: type='choice' requires 'options' array with 2-4 items."
            labels = [option.label for option in asked.options or ()]
            if len(set(labels)) < len(labels):
                return f"Question {number}: two options have the same label."
        texts = [asked.question for asked in params.questions]
        return "Two questions are the same." if len(set(texts)) < len(texts) else None

    def create_invocation(self, params: AskUserParams) -> AskUserInvocation:
        return AskUserInvocation(params, self.context)

"""The framework: a tool validates arguments and builds an invocation; the invocation explains itself and runs.

Validation, consent and execution stay apart: nothing is touched before `execute`.
"""

from __future__ import annotations

import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

from core.contract.confirmation import ConfirmationDetails, ToolConfirmationOutcome
from core.contract.display import Display
from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.ids import CallId
from core.contract.requests import ApprovalReply
from core.contract.tool import FunctionDeclaration, Kind, ToolLocation, ToolResult
from core.tools.abort import AbortSignal
from core.tools.context import ToolContext
from core.tools.parameters import InvalidToolParams, ToolParams, json_schema

_BUNDLED = frozenset(
    "read_file read_many_files list_directory glob search_file_content replace smart_edit write_file".split()
)
"""The single tools that file_operations can stand for."""
UpdateOutput = Callable[[Display], None]
P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class ShellConfig:
    """The terminal that a command gets."""

    columns: int = 80
    lines: int = 24
    call_id: CallId | None = None
    """The call that it is for, so that the terminal can be shown with it."""


class SingleCall(NamedTuple):
    """A call of another tool, as far as rules look at it."""

    tool: str
    kind: Kind
    args: Mapping[str, Any]
    paths: tuple[str, ...]
    """Absolute."""


class CallSort(NamedTuple):
    """What a call is, as people see it listed."""

    kind: Kind
    verb: str = ""
    """A word for what it does, where the kind has none that fits."""


@runtime_checkable
class ToolInvocation(Protocol):
    """One validated call, ready to be explained, confirmed and run."""

    @property
    def params(self) -> Any: ...

    def get_description(self) -> str:
        """Return what the call will do, as one line of Markdown."""
        ...

    def tool_locations(self) -> list[ToolLocation]: ...

    async def should_confirm_execute(self, abort: AbortSignal) -> ConfirmationDetails | None:
        """Return what to show for approval, or none if there is nothing to ask."""
        ...

    async def execute(
        self, abort: AbortSignal, update_output: UpdateOutput | None = None, shell_config: ShellConfig | None = None
    ) -> ToolResult: ...


@runtime_checkable
class ToolBuilder(Protocol):
    """A tool as the registry, the policy and the scheduler see it."""

    @property
    def name(self) -> str: ...
    @property
    def display_name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def kind(self) -> Kind: ...
    @property
    def is_output_markdown(self) -> bool: ...
    @property
    def can_update_output(self) -> bool: ...
    @property
    def is_read_only(self) -> bool: ...

    def get_schema(self, model_id: str | None = None) -> FunctionDeclaration: ...

    def build(self, params: Mapping[str, Any]) -> ToolInvocation:
        """Return the invocation.

        Raises:
            InvalidToolParams: the arguments are refused; nothing was touched.
        """
        ...


class BaseToolInvocation(ABC, Generic[P]):
    """What most invocations share. Override `describe`, `run`, and what differs."""

    def __init__(self, params: P, context: ToolContext | None = None) -> None:
        self._params = params
        self._context = context

    @property
    def params(self) -> P:
        return self._params

    @property
    def context(self) -> ToolContext:
        """The session's services."""
        if self._context is None:
            raise ToolFailure(ToolErrorType.EXECUTION_FAILED, "This tool was made without a session's services.")
        return self._context

    @property
    def kind(self) -> Kind | None:
        """What this very call does, where it is not what its tool does in general."""
        return None

    @property
    def is_read_only(self) -> bool | None:
        """Whether this very call only looks, where its tool alone does not say so."""
        return self.kind.is_read_only if self.kind is not None else None

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that it sends something to, in lower case."""
        return ()

    @property
    def origin(self) -> str:
        """Whom its result comes from and its arguments go to, in words, where that is a server: `the MCP server x`."""
        return ""

    @property
    def names_all_paths(self) -> bool:
        """Whether `tool_locations` names everything that a call which edits, deletes or moves will change."""
        return True

    def stands_for(self) -> Sequence[SingleCall]:
        """Return the calls of other tools that this one does the work of: what a rule says of those holds, too."""
        return ()

    @abstractmethod
    def get_description(self) -> str: ...

    def tool_locations(self) -> list[ToolLocation]:
        return []

    async def should_confirm_execute(self, abort: AbortSignal) -> ConfirmationDetails | None:
        return await self.get_confirmation_details(abort)

    async def get_confirmation_details(self, abort: AbortSignal) -> ConfirmationDetails | None:
        """Return what to show when policy asks; none lets the scheduler show the call's arguments."""
        return None

    async def reason_to_ask(self) -> str:
        """Return why this call must be shown even where a rule allows it (a stale file, a fuzzy match), or nothing."""
        return ""

    def is_outdated(self) -> bool:
        """Return whether what was shown for confirmation is no longer what would be done. Looks at the disk."""
        return False

    def get_policy_update_options(self, outcome: ToolConfirmationOutcome) -> Mapping[str, Any]:
        """Return the fields that narrow the rule which `outcome` creates (`command_prefix`, `path`, `args_pattern`)."""
        return {}

    def amended(self, reply: ApprovalReply) -> BaseToolInvocation[P]:
        """Return the invocation that does exactly what the reply approves (edited content, dropped hunks)."""
        return self

    @abstractmethod
    async def execute(
        self, abort: AbortSignal, update_output: UpdateOutput | None = None, shell_config: ShellConfig | None = None
    ) -> ToolResult:
        """Do it. A refusal may be raised as `ToolFailure`; cancellation passes through."""


class DeclarativeTool(ABC):
    """A tool: its declaration, and the making of invocations.

    Subclasses set the class attributes, or pass them to the constructor.
    """

    name: str = ""
    aliases: ClassVar[tuple[str, ...]] = ()
    """Other names under which the tool is called."""
    display_name: str = ""
    kind: Kind = Kind.OTHER
    is_output_markdown: bool = True
    can_update_output: bool = False
    parameters_schema: Mapping[str, Any] = {}
    """JSON schema of the arguments, for tools without a parameter model."""

    def __init__(self, context: ToolContext | None = None, **declaration: Any) -> None:
        """Args: the session's services; any class attribute by name, to override it for this instance."""
        self.context = context
        for attribute, value in declaration.items():
            if not hasattr(type(self), attribute):
                raise TypeError(f"{type(self).__name__} has no attribute {attribute!r}")
            setattr(self, attribute, value)
        if not self.name:
            raise TypeError(f"{type(self).__name__} has no name")
        self.display_name = self.display_name or self.name

    @cached_property
    def description(self) -> str:
        """What the model is told: the class attribute, or the `.md` file beside the tool's module."""
        module = sys.modules[type(self).__module__]
        page = Path(module.__file__ or "").with_suffix(".md")
        return page.read_text(encoding="utf-8").strip() if page.is_file() else (type(self).__doc__ or self.name)

    @property
    def is_read_only(self) -> bool:
        return self.kind.is_read_only

    @property
    def rule_name(self) -> str:
        """The name that policy rules know the tool by; a variant of another tool goes by the name of that."""
        return self.name

    @property
    def is_offered(self) -> bool:
        """Whether the model is told of the tool now; one that is not can still be called."""
        return self.is_enabled

    @property
    def is_enabled(self) -> bool:
        """Whether the settings have the model told of it, at least at times."""
        return self.name not in _BUNDLED or self.context is None or not self.context.settings.file_operations.is_full

    def sort_of(self, args: Mapping[str, Any]) -> CallSort:
        """Return what a call is, as far as its arguments show it before they are validated."""
        return CallSort(self.kind)

    def get_schema(self, model_id: str | None = None) -> FunctionDeclaration:
        """Return the declaration for a model; `model_id` lets a tool differ between model families."""
        return FunctionDeclaration(self.name, self.description, dict(self.parameters_schema))

    def validate_tool_params(self, raw: Mapping[str, Any]) -> str | None:
        """Return why the arguments are refused, or none."""
        return None

    @abstractmethod
    def build(self, params: Mapping[str, Any]) -> ToolInvocation: ...

    async def build_and_execute(
        self,
        params: Mapping[str, Any],
        abort: AbortSignal | None = None,
        update_output: UpdateOutput | None = None,
        shell_config: ShellConfig | None = None,
    ) -> ToolResult:
        """Validate and run in one go, without asking anyone; every refusal comes back as a result."""
        try:
            invocation = self.build(params)
            return await invocation.execute(abort or AbortSignal(), update_output, shell_config)
        except InvalidToolParams as error:
            return ToolResult.failure(error.type, error.message)
        except ToolFailure as error:
            return ToolResult.failure(error.type, str(error), error.display)


class BaseDeclarativeTool(DeclarativeTool):
    """Adds validation: the schema first, then `validate_tool_param_values`, then `create_invocation`."""

    Params: ClassVar[type[ToolParams] | None] = None
    """The parameter model; without one, `parameters_schema` is checked."""

    def get_schema(self, model_id: str | None = None) -> FunctionDeclaration:
        parameters = json_schema(self.Params) if self.Params else dict(self.parameters_schema)
        return FunctionDeclaration(self.name, self.description, parameters)

    def validate_tool_params(self, raw: Mapping[str, Any]) -> str | None:
        try:
            self._validated(raw)
        except InvalidToolParams as error:
            return error.message
        return None

    def validate_tool_param_values(self, params: Any) -> str | None:
        """Return why values that fit the schema are refused all the same, or none."""
        return None

    def build(self, params: Mapping[str, Any]) -> ToolInvocation:
        return self.create_invocation(self._validated(params))

    @abstractmethod
    def create_invocation(self, params: Any) -> ToolInvocation:
        """Return the invocation for valid parameters: a `Params` instance, or a dict where there is no model."""

    def _validated(self, raw: Mapping[str, Any]) -> Any:
        params: Any
        if self.Params is not None:
            params = self.Params.parse(raw)
        else:
            params = dict(raw)
            check_schema(params, self.parameters_schema)
        problem = self.validate_tool_param_values(params)
        if problem:
            raise InvalidToolParams(problem)
        return params


def check_schema(value: Any, schema: Mapping[str, Any]) -> None:
    """Check arguments against a JSON schema (draft 2020-12 unless it names another); no reference is ever fetched.

    Raises:
        InvalidToolParams: naming the place and the rule, or what is wrong with the schema.
    """
    if not schema:
        return
    import jsonschema  # late: only tools from outside need it
    import referencing
    import referencing.exceptions

    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        problem = next(iter(kind(schema, registry=referencing.Registry()).iter_errors(value)), None)
    except (jsonschema.exceptions.UnknownType, referencing.exceptions.Unresolvable, RecursionError, re.error) as error:
        raise InvalidToolParams(f"the arguments can't be checked, the tool's schema is not sound: {error}") from None
    if problem is not None:
        where = "/".join(str(step) for step in problem.absolute_path)
        message = problem.message if len(problem.message) <= 500 else problem.message[:499] + "…"
        raise InvalidToolParams(f"argument '{where}': {message}" if where else message)

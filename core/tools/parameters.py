"""Tool parameters: one pydantic model is the schema, the validator and the documentation.

Arguments come from a model as JSON; they are checked strictly (no text for a number), only an integral float
counts as an integer, as some providers send every number as a float.
"""

from __future__ import annotations

import difflib
import functools
import json
import math
from collections.abc import Mapping
from typing import Any, Self

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from core.contract.errors import StetError, ToolErrorType

MAX_DEPTH = 64
"""Deepest nesting of arguments that is looked at."""


class InvalidToolParams(StetError):
    """Arguments that a tool refuses before it is built."""

    def __init__(self, message: str, type: ToolErrorType = ToolErrorType.INVALID_TOOL_PARAMS) -> None:
        super().__init__(message)
        self.type = type


def named(*names: str, **kwargs: Any) -> Any:
    """Return a field declared under the first name and accepted under all; `kwargs` as for pydantic's `Field`."""
    return Field(validation_alias=AliasChoices(*names), **kwargs)


class ToolParams(BaseModel):
    """Base of built-in parameters. Unknown keys are refused with the nearest known name."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    @classmethod
    def parse(cls, args: Mapping[str, Any]) -> Self:
        """Return the parameters.

        Raises:
            InvalidToolParams: naming each bad argument, what was expected and what was given.
        """
        try:
            text = json.dumps(_integral(args, 0), allow_nan=False)
        except (ValueError, TypeError, RecursionError) as error:
            raise InvalidToolParams(f"The arguments can't be read: {error}") from None
        try:
            return cls.model_validate_json(text, strict=True)
        except ValidationError as error:
            problems = error.errors(include_url=False, include_context=True)
            raise InvalidToolParams("; ".join(describe_problem(cls, problem) for problem in problems)) from None


def _integral(value: Any, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, str):
        return value
    if isinstance(value, float) and math.isfinite(value) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, (dict, Mapping)):  # asking for a dict first is faster
        return {str(key): _integral(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_integral(item, depth + 1) for item in value]
    return value


def known_names(model: type[BaseModel]) -> list[str]:
    """Return every name under which the model takes an argument, declared names first."""
    names: list[str] = []
    for field_name, info in model.model_fields.items():
        alias = info.validation_alias
        if isinstance(alias, AliasChoices):
            names.extend(str(choice) for choice in alias.choices)
        else:
            names.append(str(alias or field_name))
    return list(dict.fromkeys(names))


def describe_problem(model: type[BaseModel], problem: ErrorDetails) -> str:
    """Return one validation error as a sentence: the argument, what is wrong, what was given."""
    where = ".".join(str(step) for step in problem["loc"]) or "arguments"
    if problem["type"] == "missing":
        return f"missing required argument '{where}'"
    if problem["type"] == "extra_forbidden" and problem["loc"][-1] in known_names(model):
        return f"argument '{where}' is another name of one that is given, too"
    if problem["type"] == "extra_forbidden":
        near = difflib.get_close_matches(str(problem["loc"][-1]), known_names(model), n=1, cutoff=0.5)
        hint = f"; did you mean '{near[0]}'?" if near else f"; known: {', '.join(known_names(model))}"
        return f"unknown argument '{where}'{hint}"
    given = repr(problem["input"])
    if len(given) > 80:
        given = given[:77] + "..."
    return f"argument '{where}': {problem['msg']} (given: {given})"


def json_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema as providers take it: no titles, no `$ref`, no `anyOf` with null."""
    schema: dict[str, Any] = json.loads(_schema_text(model))
    return schema


@functools.cache
def _schema_text(model: type[BaseModel]) -> str:
    """Return the schema as JSON: it is asked for at every step of a turn, and takes a millisecond to make."""
    schema = model.model_json_schema(by_alias=True)
    definitions = schema.pop("$defs", {})
    simplified = _simplify(schema, definitions)
    assert isinstance(simplified, dict)
    return json.dumps(simplified)


def _simplify(node: Any, definitions: Mapping[str, Any], *, is_properties: bool = False) -> Any:
    if isinstance(node, list):
        return [_simplify(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if is_properties:
        return {name: _simplify(value, definitions) for name, value in node.items()}
    if "$ref" in node:
        target = definitions[str(node["$ref"]).rsplit("/", 1)[-1]]
        node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
    options = [option for option in node.get("anyOf", ()) if option.get("type") != "null"]
    if len(options) == 1:
        node = {**options[0], **{key: value for key, value in node.items() if key != "anyOf"}}
        return _simplify(node, definitions)
    result = {}
    for key, value in node.items():
        if key == "title" or (key == "default" and value is None):
            continue
        result[key] = _simplify(value, definitions, is_properties=key == "properties")
    return result

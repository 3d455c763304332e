"""Foreign schemas: taken as data, bounded, never fetched from anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from core.contract.errors import StetError
from core.tools.declarative import ToolInvocation
from core.tools.foreign import ForeignTool, sound_schema
from core.tools.parameters import InvalidToolParams


class Foreign(ForeignTool):
    def create_invocation(self, params: Any) -> ToolInvocation:
        raise NotImplementedError


def make(schema: object, description: str = "does it") -> Foreign:
    return Foreign(None, "t", description, schema)


def test_local_references_are_put_in_place() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {"a": {"$ref": "#/$defs/A~1b", "description": "mine"}, "$ref": {"type": "string"}},
        "$defs": {"A/b": {"type": "integer", "description": "theirs"}},
    }
    assert sound_schema(schema) == {
        "type": "object",
        "properties": {"a": {"type": "integer", "description": "mine"}, "$ref": {"type": "string"}},
    }


def test_recursion_is_cut() -> None:
    schema = {"properties": {"child": {"$ref": "#"}}}
    assert sound_schema(schema)["properties"]["child"]["properties"] == {"child": {}}


@pytest.mark.parametrize(
    ("schema", "what"),
    [
        ([], "list, not an object"),
        ({"type": "string"}, "of type 'string', not object"),
        ({"properties": {"a": {"type": "intger"}}}, "not sound at 'properties/a/type'"),
        ({"properties": []}, "not sound at 'properties'"),
        ({"properties": {"a": {"$ref": "http://127.0.0.1:1/x"}}}, "refers to http://127.0.0.1:1/x"),
        ({"properties": {"a": {"$ref": "file:///etc/passwd"}}}, "refers to file:///etc/passwd"),
        ({"properties": {"a": {"$ref": "#/nowhere"}}}, "which it does not hold"),
        ({"properties": {"a": {"$ref": "#name"}}}, "not followed"),
        ({"description": "x" * 300_000}, "300,019 characters"),
        ({"a": {1, 2}}, "no JSON"),
    ],
)
def test_what_is_no_sound_schema_is_named(schema: object, what: str) -> None:
    with pytest.raises(StetError, match=what):
        make(schema)


def test_references_that_multiply_are_bounded() -> None:
    definitions: dict[str, Any] = {"d0": {"type": "string"}}
    for level in range(1, 30):
        branch = {"$ref": f"#/$defs/d{level - 1}"}
        definitions[f"d{level}"] = {"properties": {"a": branch, "b": branch, "c": branch}}
    with pytest.raises(StetError, match="too large or too deep"):
        sound_schema({"properties": {"x": {"$ref": "#/$defs/d29"}}, "$defs": definitions})
    nested: dict[str, Any] = {}
    for _ in range(200):
        nested = {"properties": {"a": nested}}
    with pytest.raises(StetError, match="too large or too deep"):
        sound_schema(nested)


def test_older_drafts_are_understood() -> None:
    schema = {"properties": {"a": {"items": [{"type": "string"}], "additionalItems": False, "exclusiveMinimum": True}}}
    assert sound_schema(schema)["properties"]["a"] == {"prefixItems": [{"type": "string"}], "items": False}


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        ({"n": 1}, None),
        ({"n": "1"}, "argument 'n': '1' is not of type 'integer'"),
        ({}, "'n' is a required property"),
        ({"n": 1, "list": [1, "x"]}, "argument 'list/1'"),
        ({"n": 1, "x": 2}, "Additional properties are not allowed"),
    ],
)
def test_arguments_are_checked(args: Mapping[str, Any], problem: str | None) -> None:
    tool = make(
        {
            "properties": {"n": {"type": "integer"}, "list": {"type": "array", "items": {"type": "integer"}}},
            "required": ["n"],
            "additionalProperties": False,
        }
    )
    message = tool.validate_tool_params(args)
    assert (message is None) if problem is None else message is not None and problem in message


def test_a_foreign_regular_expression_is_never_run() -> None:
    bait = "(a+)+$"
    tool = make(
        {"properties": {"p": {"pattern": bait}, "pattern": {"type": "string"}}, "patternProperties": {bait: {}}}
    )
    assert tool.validate_tool_params({"p": "a" * 60 + "!", "a" * 60 + "!": 1, "pattern": "x"}) is None
    with pytest.raises(InvalidToolParams, match="argument 'pattern'"):
        tool.build({"pattern": 3})
    assert tool.get_schema().parameters["properties"]["p"] == {"pattern": bait}


def test_a_long_description_is_cut() -> None:
    assert len(make({}, "x" * 50_000).get_schema().description) == 10_000
    assert make(None, "").get_schema().description == "t"

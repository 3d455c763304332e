"""Tools that others declare by a JSON schema: what of it we take, and how their arguments are checked.

A foreign schema is data: nothing that it refers to is fetched, no regular expression of it is run, its size is bounded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from core.contract.errors import StetError
from core.contract.tool import Kind
from core.tools.context import ToolContext
from core.tools.declarative import BaseDeclarativeTool, check_schema

MAX_SCHEMA = 200_000
"""Characters of a schema's JSON."""
MAX_NODES = 20_000
"""Objects and lists of a schema after its references were replaced."""
MAX_DEPTH = 64
MAX_DESCRIPTION = 10_000
"""Characters of a tool's description."""

_EXPRESSIONS = ("pattern", "patternProperties", "format")
"""Keywords that are left to the tool itself: a foreign regular expression may take for ever."""


_DROPPED = ("$schema", "$id", "$anchor", "$comment", "$defs", "definitions", "$dynamicRef", "$recursiveRef")
_DATA = ("enum", "const", "default", "examples")
"""Keywords whose values are no schemas."""


class ForeignTool(BaseDeclarativeTool):
    """A tool that was declared by name, description and schema. Subclasses make the invocation.

    Raises:
        StetError: the schema is no schema, too large, or refers to something outside of itself.
    """

    kind = Kind.OTHER

    def __init__(
        self, context: ToolContext | None, name: str, description: str, schema: object, display_name: str = ""
    ) -> None:
        shown = description if len(description) <= MAX_DESCRIPTION else description[: MAX_DESCRIPTION - 1] + "…"
        super().__init__(
            context,
            name=name,
            display_name=display_name or name,
            description=shown or name,
            parameters_schema=sound_schema(schema),
        )
        self._checked = without_expressions(self.parameters_schema)

    def _validated(self, raw: Mapping[str, Any]) -> Any:
        check_schema(dict(raw), self._checked)
        return dict(raw)


def sound_schema(raw: object) -> dict[str, Any]:
    """Return a schema of an object's properties without any `$ref`; recursion is cut where it begins.

    Raises:
        StetError: saying what is wrong with it.
    """
    import jsonschema
    import jsonschema.exceptions

    if raw is None:
        raw = {}
    if not isinstance(raw, Mapping):
        raise StetError(f"its schema is {type(raw).__name__}, not an object")
    try:
        size = len(json.dumps(raw))
    except (TypeError, ValueError, RecursionError) as error:
        raise StetError(f"its schema is no JSON: {error}") from None
    if size > MAX_SCHEMA:
        raise StetError(f"its schema has {size:,} characters, more than {MAX_SCHEMA:,}")
    if raw.get("type", "object") != "object":
        raise StetError(f"its schema is of type {raw['type']!r}, not object")
    schema = _Inliner(raw).inline(raw, ())
    schema = {**schema, "type": "object", "properties": schema.get("properties", {})}
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.exceptions.SchemaError as error:
        where = "/".join(str(step) for step in error.absolute_path)
        raise StetError(f"its schema is not sound at '{where}': {error.message[:300]}") from None
    except RecursionError:
        raise StetError("its schema is nested too deeply") from None
    return schema


def _modern(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema's node with what older drafts wrote otherwise in the words of draft 2020-12."""
    changed = {
        key: value for key, value in node.items() if not (key.startswith("exclusive") and value in (True, False))
    }
    if isinstance(node.get("items"), list):
        changed["prefixItems"] = changed.pop("items")
        if "additionalItems" in changed:
            changed["items"] = changed.pop("additionalItems")
    return changed


class _Inliner:
    """Puts what local references (RFC 6901 pointers) name in their place."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._nodes = 0

    def inline(self, node: Any, open_refs: tuple[str, ...], depth: int = 0, *, is_properties: bool = False) -> Any:
        self._nodes += 1
        if self._nodes > MAX_NODES or depth > MAX_DEPTH:
            raise StetError("its schema is too large or too deep once its references are replaced")
        if isinstance(node, list):
            return [self.inline(item, open_refs, depth + 1) for item in node]
        if not isinstance(node, Mapping):
            return node
        reference = node.get("$ref")
        if isinstance(reference, str) and not is_properties:
            if reference in open_refs:
                return {}
            others = {key: value for key, value in node.items() if key != "$ref"}
            return self.inline({**self._find(reference), **others}, (*open_refs, reference), depth + 1)
        result: dict[str, Any] = {}
        for key, value in (node if is_properties else _modern(node)).items():
            if not is_properties and key in _DROPPED:
                continue
            is_data = key in _DATA and not is_properties
            inside = key == "properties" and not is_properties
            result[str(key)] = value if is_data else self.inline(value, open_refs, depth + 1, is_properties=inside)
        return result

    def _find(self, reference: str) -> Mapping[str, Any]:
        if reference != "#" and not reference.startswith("#/"):
            raise StetError(f"its schema refers to {reference[:200]}, and references outside of it are not followed")
        node: Any = self._root
        for step in reference[1:].split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(node, list) and name.isdigit() and int(name) < len(node):
                node = node[int(name)]
            elif isinstance(node, Mapping) and name in node:
                node = node[name]
            else:
                raise StetError(f"its schema refers to {reference[:200]}, which it does not hold")
        if not isinstance(node, Mapping):
            raise StetError(f"its schema refers to {reference[:200]}, which is no schema")
        return node


def without_expressions(node: Any, *, is_properties: bool = False) -> Any:
    """Return a schema without the keywords that run regular expressions."""
    if isinstance(node, list):
        return [without_expressions(item) for item in node]
    if not isinstance(node, Mapping):
        return node
    return {
        key: without_expressions(value, is_properties=key == "properties" and not is_properties)
        for key, value in node.items()
        if is_properties or key not in _EXPRESSIONS
    }


def fenced(text: str) -> str:
    """Return foreign text as a Markdown code block, whatever fences it holds (CommonMark 4.5)."""
    fence = "`" * max(3, max(map(len, re.findall("`+", text)), default=0) + 1)
    return f"{fence}\n{text}\n{fence}"

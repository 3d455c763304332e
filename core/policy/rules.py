"""Rules: what they match and what they decide."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

from core.contract.errors import StetError
from core.contract.events import ApprovalMode
from core.contract.tool import Kind

SHELL_TOOL = "run_shell_command"


class Verdict(StrEnum):
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"

    @property
    def strictness(self) -> int:
        return ("allow", "ask", "deny").index(self)


@dataclass(frozen=True)
class Rule:
    """One rule. Every field that is given must match; those left out match everything."""

    tool: str | tuple[str, ...] = "*"
    """A tool's name, several, `*`, or a pattern such as `server__*`."""
    decision: str = "ask"
    """`allow`, `ask` or `deny`."""
    command_prefix: str = ""
    """Words that a simple command begins with (run_shell_command only)."""
    args_pattern: str = ""
    """Regular expression searched in the arguments' JSON (keys sorted)."""
    path: str = ""
    """Glob on a path that the call touches, relative to the workspace; `**` crosses folders."""
    kind: str | tuple[str, ...] = ""
    mcp_server: str = ""
    priority: int = 100
    """Higher wins; on a tie deny beats ask beats allow."""
    modes: tuple[str, ...] = ()
    """Approval modes in which the rule holds; empty: in all."""
    message: str = ""
    """Shown when the rule denies or asks."""
    source: str = ""
    """`file:line`, or where else it came from."""

    def __post_init__(self) -> None:
        try:
            Verdict(self.decision)
        except ValueError:
            raise StetError(f"Rule decision {self.decision!r} is not known.", "Use allow, ask or deny.") from None
        for mode in self.modes:
            if mode not in tuple(ApprovalMode):
                raise StetError(f"Rule mode {mode!r} is not known.", f"Use {', '.join(ApprovalMode)}.")
        for kind in self.kinds:
            if kind not in tuple(Kind):
                raise StetError(f"Rule kind {kind!r} is not known.", f"Use {', '.join(Kind)}.")
        if self.args_pattern:
            try:
                re.compile(self.args_pattern)
            except re.error as error:
                raise StetError(f"Rule args_pattern {self.args_pattern!r} is no regular expression: {error}") from None

    @property
    def verdict(self) -> Verdict:
        return Verdict(self.decision)

    @cached_property
    def tools(self) -> tuple[str, ...]:
        return (self.tool,) if isinstance(self.tool, str) else tuple(self.tool)

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        if not self.kind:
            return ()
        return (self.kind,) if isinstance(self.kind, str) else tuple(self.kind)

    @cached_property
    def prefix_words(self) -> tuple[str, ...]:
        return tuple(self.command_prefix.split())

    @property
    def rank(self) -> tuple[int, int]:
        """What decides between two rules that match: the greater one wins."""
        return (self.priority, self.verdict.strictness)

    def matches_tool(self, name: str, kind: Kind, mode: ApprovalMode) -> bool:
        """Return whether the rule speaks of this tool in this mode."""
        if self.modes and mode not in self.modes:
            return False
        if self.kinds and kind not in self.kinds:
            return False
        if self.mcp_server and not name.startswith(f"{self.mcp_server}__"):
            return False
        return any(pattern in ("*", name) or fnmatchcase(name, pattern) for pattern in self.tools)

    def matches_call(self, arguments: str, paths: tuple[str, ...]) -> bool:
        """Return whether the rule speaks of these arguments (JSON) and paths; shell prefixes are matched elsewhere."""
        if self.args_pattern and not re.search(self.args_pattern, arguments):
            return False
        return not self.path or any(matches_path(path, self.path) for path in paths)

    def as_toml(self) -> str:
        """Return the rule as it would stand in a policy file."""
        import tomli_w

        fields: dict[str, Any] = {"tool": self.tool if isinstance(self.tool, str) else list(self.tool)}
        for name in ("command_prefix", "args_pattern", "path", "kind", "mcp_server", "message"):
            if value := getattr(self, name):
                fields[name] = list(value) if isinstance(value, tuple) else value
        fields["decision"] = self.decision
        fields["priority"] = self.priority
        if self.modes:
            fields["modes"] = list(self.modes)
        return "[[rule]]\n" + tomli_w.dumps(fields)


def matches_path(path: str, pattern: str) -> bool:
    """Return whether a `/`-separated path matches a glob in which `*` stays within a folder and `**` does not."""
    regex = ""
    for piece in re.split(r"(\*\*/|\*\*|\*|\?)", pattern):
        regex += {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(piece) or re.escape(piece)
    return re.fullmatch(regex, path) is not None


def _is_of_sort(key: str, value: object, annotation: str) -> bool:
    if key == "priority":
        return isinstance(value, int) and not isinstance(value, bool)
    if isinstance(value, tuple):
        return "tuple" in annotation and all(isinstance(item, str) for item in value)
    return isinstance(value, str) and key != "modes"


def rule_from_table(table: Mapping[str, Any], source: str) -> Rule:
    """Return the rule of one TOML table.

    Raises:
        StetError: an unknown key or a value of the wrong sort; the message names both.
    """
    known = {name: field.type for name, field in Rule.__dataclass_fields__.items() if name != "source"}
    fields: dict[str, Any] = {}
    for key, value in table.items():
        if key not in known:
            raise StetError(f"unknown key {key!r} in a rule", f"Known keys: {', '.join(known)}.")
        if isinstance(value, list):
            value = tuple(value)
        if not _is_of_sort(key, value, str(known[key])):
            raise StetError(f"{key} = {value!r} in a rule is of the wrong sort", "See the policy page of the docs.")
        fields[key] = value
    return Rule(**fields, source=source)

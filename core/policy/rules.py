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
_NARROWING = ("tool", "command_prefix", "args_pattern", "path", "kind", "mcp_server")
"""Fields of a rule that an empty value would make match everything, as if they were not there."""


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
    command_prefix: str | None = None
    """Words that a simple command begins with (run_shell_command only); no words match nothing."""
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
                assert self._args_regex is not None
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
        return tuple((self.command_prefix or "").split())

    @cached_property
    def rank(self) -> tuple[int, int]:
        """What decides between two rules that match: the greater one wins."""
        return (self.priority, self.verdict.strictness)

    @cached_property
    def _args_regex(self) -> re.Pattern[str] | None:
        return re.compile(self.args_pattern) if self.args_pattern else None

    @cached_property
    def _path_regex(self) -> re.Pattern[str]:
        return compile_path_glob(self.path)

    @cached_property
    def _path_head(self) -> str:
        """What every path that the glob matches begins with."""
        return re.split(r"[*?]", self.path, maxsplit=1)[0]

    def _matches_path(self, path: str) -> bool:
        return path.startswith(self._path_head) and self._path_regex.fullmatch(path) is not None

    def speaks_of(self, name: str) -> bool:
        """Return whether the rule speaks of a tool, whatever the mode and the kind."""
        if self.mcp_server and not name.startswith(f"{self.mcp_server}__"):
            return False
        return any(pattern in ("*", name) or fnmatchcase(name, pattern) for pattern in self.tools)

    def holds(self, kind: Kind, mode: ApprovalMode) -> bool:
        """Return whether the rule holds in this mode for tools of this kind."""
        return (not self.modes or mode in self.modes) and (not self.kinds or kind in self.kinds)

    def matches_tool(self, name: str, kind: Kind, mode: ApprovalMode) -> bool:
        """Return whether the rule speaks of this tool in this mode."""
        return self.holds(kind, mode) and self.speaks_of(name)

    def matches_call(self, arguments: str, paths: tuple[str, ...]) -> bool:
        """Return whether the rule speaks of these arguments (JSON) and paths; shell prefixes are matched elsewhere.

        A path glob of a rule that allows must match all paths that the call touches, else one of them.
        """
        if self._args_regex is not None and not self._args_regex.search(arguments):
            return False
        if not self.path:
            return True
        hits = map(self._matches_path, paths)
        return bool(paths) and (all(hits) if self.decision == "allow" else any(hits))

    def as_toml(self) -> str:
        """Return the rule as it would stand in a policy file."""
        import tomli_w

        fields: dict[str, Any] = {"tool": self.tool if isinstance(self.tool, str) else list(self.tool)}
        for name in ("command_prefix", "args_pattern", "path", "kind", "mcp_server", "message"):
            value = getattr(self, name)
            if value or (name == "command_prefix" and value is not None):
                fields[name] = list(value) if isinstance(value, tuple) else value
        fields["decision"] = self.decision
        fields["priority"] = self.priority
        if self.modes:
            fields["modes"] = list(self.modes)
        return "[[rule]]\n" + tomli_w.dumps(fields)


def compile_path_glob(pattern: str) -> re.Pattern[str]:
    """Return the expression for a glob on `/`-separated paths: `*` stays within a folder, `**` does not."""
    regex = ""
    for piece in re.split(r"(\*\*/|\*\*|\*|\?)", pattern):
        regex += {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(piece) or re.escape(piece)
    return re.compile(regex, re.DOTALL)


def matches_path(path: str, pattern: str) -> bool:
    """Return whether a path matches a glob (see `compile_path_glob`)."""
    return compile_path_glob(pattern).fullmatch(path) is not None


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
            raise StetError(f"{key} = {value!r} in a rule is of the wrong sort", "docs/policy.md lists the keys.")
        if key in _NARROWING and (not value or (isinstance(value, str) and not value.strip())):
            raise StetError(f"{key} is empty in a rule", "A rule without the key matches everything: leave it out.")
        fields[key] = value
    return Rule(**fields, source=source)

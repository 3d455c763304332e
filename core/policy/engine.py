"""The engine: one decision for one call, with the rule that made it and, for commands, the verdict on each part."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from core.contract.events import ApprovalMode
from core.contract.tool import Kind
from core.policy.read_only import is_read_only
from core.policy.rules import SHELL_TOOL, Rule, Verdict
from core.policy.shell_tree import SHELLS, WRAPPERS, find_commands
from core.policy.shell_words import SimpleCommand, UnclearCommand, read_plain

MayRead = Callable[[str], bool]

DEFAULT_ALLOWED = (Kind.READ, Kind.SEARCH, Kind.THINK, Kind.COMMUNICATE, Kind.PLAN, Kind.SWITCH_MODE, Kind.AGENT)
"""Kinds that run without a question where no rule speaks of them. A sub-agent's own calls are decided one by one."""

READ_ONLY_COMMAND = Rule(SHELL_TOOL, "allow", priority=0, source="built-in: commands that only look")
MODE_YOLO = Rule("*", "allow", priority=50, source="built-in: mode yolo")
MODE_AUTO_EDIT = Rule("*", "allow", kind=("edit",), priority=10, source="built-in: mode auto_edit")


@dataclass(frozen=True, slots=True)
class PartDecision:
    """The verdict on one simple command."""

    text: str
    verdict: Verdict
    reason: str
    rule: Rule | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    verdict: Verdict
    reason: str
    """In words: the rule and where it stands, or the default."""
    rule: Rule | None = None
    parts: tuple[PartDecision, ...] = ()
    grants: tuple[Rule, ...] = ()
    """Rules that would have allowed this call: what "always" offers. Empty where "always" is not offered."""


class PolicyEngine:
    """Decides by rules, mode and kind.

    Args:
        rules: from files and from the user.
        root: the workspace's first folder: relative operands of commands are looked up there.
        may_read: tells of a path whether reading it needs no question; by default, whether it lies under `root`.
        looking_allowed: commands that are known only to look run without a question (the application's default).
    """

    def __init__(
        self,
        rules: Iterable[Rule] = (),
        *,
        root: str | os.PathLike[str] = ".",
        mode: ApprovalMode | str = ApprovalMode.DEFAULT,
        may_read: MayRead | None = None,
        looking_allowed: bool = False,
    ) -> None:
        self._rules = sorted(rules, key=lambda rule: rule.rank, reverse=True)
        self.root = os.path.realpath(root)
        self.mode = ApprovalMode(mode)
        self._may_read = may_read or self._lies_inside
        self._looking_allowed = looking_allowed

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All rules, the strongest first."""
        return tuple(self._rules)

    def add(self, rule: Rule) -> None:
        """Add a rule, for this session."""
        self._rules.append(rule)
        self._rules.sort(key=lambda rule: rule.rank, reverse=True)

    def check(
        self, tool: str, args: Mapping[str, Any] | None = None, kind: Kind | str = Kind.OTHER, paths: Iterable[str] = ()
    ) -> Decision:
        """Decide on a call of a tool with these arguments that touches these paths (absolute, or below the root)."""
        kind = Kind(kind)
        arguments = args or {}
        if tool == SHELL_TOOL and isinstance(arguments.get("command"), str):
            return self.check_command(arguments["command"], arguments)
        touched = tuple(self._relative(path) for path in paths)
        rule = self._best(tool, kind, _as_json(arguments), touched)
        if self.mode is ApprovalMode.PLAN and kind.is_mutator and (rule is None or rule.verdict is not Verdict.DENY):
            return Decision(Verdict.DENY, "plan mode changes nothing; leave it to make changes")
        if rule is not None:
            return Decision(rule.verdict, _because(rule), rule, grants=self._grants(tool, kind, rule.verdict))
        if kind in DEFAULT_ALLOWED:
            return Decision(Verdict.ALLOW, f"{kind} tools run without asking")
        return Decision(Verdict.ASK, f"{kind} tools ask first", grants=self._grants(tool, kind, Verdict.ASK))

    def check_command(self, command: str, args: Mapping[str, Any] | None = None) -> Decision:
        """Decide on a command line: the strictest of its parts; whatever is not fully understood asks."""
        arguments = _as_json({**(args or {}), "command": command})
        denied = self._find_denied(command, arguments)
        if denied is not None:
            return denied
        try:
            commands = read_plain(command)
        except UnclearCommand as error:
            return self._decide_unclear(command, str(error), arguments)
        parts = tuple(self._decide_part(part, arguments) for part in commands)
        strictest = max(parts, key=lambda part: part.verdict.strictness)
        verdict, reason = strictest.verdict, strictest.reason
        if len(parts) > 1 and verdict is not Verdict.ALLOW:
            reason = f"`{strictest.text}`: {reason}"
        if self.mode is ApprovalMode.PLAN and not all(self._only_looks(part) for part in commands):
            return Decision(Verdict.DENY, "plan mode runs only commands that look", parts=parts)
        grants = _command_grants(commands, parts) if verdict is Verdict.ASK else ()
        return Decision(verdict, reason, strictest.rule, parts, grants)

    def _find_denied(self, command: str, arguments: str) -> Decision | None:
        if not any(rule.verdict is Verdict.DENY for rule in self._rules):
            return None
        for words in find_commands(command):
            rule = self._best_for_words(words, (True,) * len(words), arguments)
            if rule is not None and rule.verdict is Verdict.DENY:
                text = " ".join(words)
                part = PartDecision(text, Verdict.DENY, _because(rule), rule)
                return Decision(Verdict.DENY, f"`{text[:200]}`: {_because(rule)}", rule, (part,))
        return None

    def _decide_unclear(self, command: str, why: str, arguments: str) -> Decision:
        if self.mode is ApprovalMode.PLAN:
            return Decision(Verdict.DENY, f"plan mode runs only commands that look, and this one is unclear: {why}")
        rule = self._best_for_words((), (), arguments)  # rules without a prefix speak of any command
        parts = tuple(
            PartDecision(" ".join(words), Verdict.ASK, "it is part of a text that is not fully understood")
            for words in find_commands(command)[:50]
        )
        if rule is not None and rule.verdict is Verdict.ALLOW and command.strip():
            return Decision(Verdict.ALLOW, _because(rule), rule, parts)
        return Decision(Verdict.ASK, f"the command is not fully understood: {why}", rule, parts)

    def _decide_part(self, part: SimpleCommand, arguments: str) -> PartDecision:
        rule = self._best_for_words(part.words, part.literal, arguments)
        if rule is None and self._looking_allowed and self._only_looks(part):
            rule = READ_ONLY_COMMAND
        if rule is None:
            return PartDecision(part.text, Verdict.ASK, "no rule allows it")
        return PartDecision(part.text, rule.verdict, _because(rule), rule)

    def _only_looks(self, part: SimpleCommand) -> bool:
        return is_read_only(part, self._may_read)

    def _best_for_words(self, words: tuple[str, ...], literal: tuple[bool, ...], arguments: str) -> Rule | None:
        command = SimpleCommand(words, literal, "")
        for rule in self._effective():
            if not rule.matches_tool(SHELL_TOOL, Kind.EXECUTE, self.mode) or not rule.matches_call(arguments, ()):
                continue
            if not rule.command_prefix or command.starts_with(rule.prefix_words):
                return rule
        return None

    def _best(self, tool: str, kind: Kind, arguments: str, paths: tuple[str, ...]) -> Rule | None:
        for rule in self._effective():
            if (
                not rule.command_prefix
                and rule.matches_tool(tool, kind, self.mode)
                and rule.matches_call(arguments, paths)
            ):
                return rule
        return None

    def _effective(self) -> list[Rule]:
        """Return all rules with the mode's own among them, the strongest first."""
        extra = {ApprovalMode.YOLO: MODE_YOLO, ApprovalMode.AUTO_EDIT: MODE_AUTO_EDIT}.get(self.mode)
        if extra is None:
            return self._rules
        return sorted([*self._rules, extra], key=lambda rule: rule.rank, reverse=True)

    def _grants(self, tool: str, kind: Kind, verdict: Verdict) -> tuple[Rule, ...]:
        if verdict is not Verdict.ASK:
            return ()
        if kind is Kind.EDIT:
            return (Rule("*", "allow", kind="edit", source="this session"),)
        return (Rule(tool, "allow", source="this session"),)

    def _relative(self, path: str) -> str:
        full = os.path.join(self.root, path)
        relative = os.path.relpath(full, self.root)
        return full if relative.startswith("..") else relative

    def _lies_inside(self, path: str) -> bool:
        real = os.path.realpath(os.path.join(self.root, os.path.expanduser(path)))
        return real == self.root or real.startswith(self.root.rstrip("/") + "/")


def _command_grants(commands: list[SimpleCommand], parts: tuple[PartDecision, ...]) -> tuple[Rule, ...]:
    """Return the narrowest rules that would have allowed the parts that ask; none where one can't be granted."""
    grants: dict[str, Rule] = {}
    for command, part in zip(commands, parts, strict=True):
        if part.verdict is Verdict.ALLOW:
            continue
        prefix = grant_prefix(command)
        if not prefix:
            return ()
        grants[prefix] = Rule(SHELL_TOOL, "allow", prefix, source="this session")
    return tuple(grants.values())


def grant_prefix(command: SimpleCommand) -> str:
    """Return the words that "always" would allow for a command; empty for programs that run anything they are given."""
    program = command.words[0].rsplit("/", 1)[-1]
    interpreters = ("python", "perl", "ruby", "node", "php", "lua", "awk", "sed", "deno", "bun", "make", "tclsh", "R")
    if program in WRAPPERS or program in SHELLS or program.rstrip("0123456789.") in interpreters:
        return ""
    count = (
        2 if len(command.words) > 1 and command.literal[1] and not command.words[1].startswith(("-", "/", ".")) else 1
    )
    words = command.words[:count]
    return "" if _has_blank(words) else " ".join(words)


def _has_blank(words: tuple[str, ...]) -> bool:
    return any(not word or any(char.isspace() for char in word) for word in words)


def _because(rule: Rule) -> str:
    words = rule.message or f"{rule.decision}: {rule.command_prefix or ', '.join(rule.tools)}"
    return f"{words} ({rule.source})" if rule.source else words


def _as_json(args: Mapping[str, Any]) -> str:
    return json.dumps(args, sort_keys=True, ensure_ascii=False, default=str)

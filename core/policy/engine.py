"""The engine: one decision for one call, with the rule that made it and, for commands, the verdict on each part."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from core.contract.events import ApprovalMode
from core.contract.tool import Kind
from core.policy.commands import CommandJudge
from core.policy.decision import Decision, PartDecision, because, with_yolo
from core.policy.places import PathJudge
from core.policy.rule_index import RuleIndex
from core.policy.rules import SHELL_TOOL, Rule, Verdict
from core.workspace.sensitive import Verdict as NameVerdict

__all__ = ["Decision", "PartDecision", "PolicyEngine"]

DEFAULT_ALLOWED = (Kind.READ, Kind.SEARCH, Kind.THINK, Kind.COMMUNICATE, Kind.PLAN, Kind.SWITCH_MODE, Kind.AGENT)
"""Kinds that run without a question where no rule speaks of them. A sub-agent's own calls are decided one by one."""

MODE_AUTO_EDIT = Rule("*", "allow", kind=("edit",), source="built-in: mode auto_edit")


class PolicyEngine:
    """Decides by rules, mode, kind and the names of paths. It looks at names on the disk: call it in a thread.

    Args:
        rules: from files and from the user.
        root: the workspace's first folder: relative paths are looked up there.
        include_directories: the workspace's other folders.
        allowed_sensitive: glob patterns of sensitive names that may be touched (`tools.ignore_path_filter`).
        scratch: the session's own directory.
        looking_allowed: commands that are known only to look run without a question (the application's default).
    """

    def __init__(
        self,
        rules: Iterable[Rule] = (),
        *,
        root: str | os.PathLike[str] = ".",
        mode: ApprovalMode | str = ApprovalMode.DEFAULT,
        include_directories: Iterable[str | os.PathLike[str]] = (),
        allowed_sensitive: Iterable[str] = (),
        scratch: str | None = None,
        looking_allowed: bool = False,
    ) -> None:
        self.mode = ApprovalMode(mode)
        self._index = RuleIndex(rules)
        self._judge = PathJudge([root, *include_directories], allowed_sensitive, scratch)
        self._looking_allowed = looking_allowed

    @property
    def root(self) -> str:
        """The workspace's first folder, real and absolute."""
        return self._judge.root

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All rules, the strongest first."""
        return self._index.rules

    def add(self, rule: Rule) -> None:
        """Add a rule, for this session."""
        self._index = RuleIndex([*self._index.rules, rule])

    def replace_rules(self, rules: Iterable[Rule]) -> None:
        """Use other rules from now on."""
        self._index = RuleIndex(rules)

    def check(
        self, tool: str, args: Mapping[str, Any] | None = None, kind: Kind | str = Kind.OTHER, paths: Iterable[str] = ()
    ) -> Decision:
        """Decide on a call of a tool with these arguments that touches these paths (absolute, or below the root)."""
        kind = Kind(kind)
        arguments = args or {}
        if tool == SHELL_TOOL and isinstance(arguments.get("command"), str):
            return self.check_command(arguments["command"], arguments)
        touched = tuple(paths)
        decision = self._check_tool(self._index, tool, kind, arguments, touched)
        if decision.verdict is not Verdict.DENY:
            decision = self._guard_names(decision, touched)
        if decision.verdict is not Verdict.ASK or decision.sensitive:
            return decision
        return self.with_grants(decision, (_grant(tool, kind),), tool, arguments, kind, touched)

    def narrowed(
        self, decision: Decision, singles: Iterable[tuple[str, Kind, Mapping[str, Any], tuple[str, ...]]]
    ) -> Decision:
        """Return the decision on a call that does the work of others: no more is allowed than rules allow those.

        Args:
            singles: tool, kind, arguments and paths of each.
        """
        for tool, kind, args, paths in singles:
            single = self._check_tool(self._index, tool, kind, args, paths)
            if single.verdict is Verdict.DENY:
                return single
            is_meant = single.rule is not None and (single.rule.path or "*" not in single.rule.tools)
            if single.verdict is Verdict.ASK and is_meant and decision.verdict is Verdict.ALLOW:
                decision = single
        return decision

    def check_command(self, command: str, args: Mapping[str, Any] | None = None) -> Decision:
        """Decide on a command line: the strictest of its parts; whatever is not fully understood asks."""
        arguments = {**(args or {}), "command": command}
        decision = self._judge_command(self._index, command, arguments)
        if not decision.grants:
            return decision
        return self.with_grants(decision, decision.grants, SHELL_TOOL, arguments, Kind.EXECUTE)

    def with_grants(
        self,
        decision: Decision,
        grants: tuple[Rule, ...],
        tool: str,
        args: Mapping[str, Any],
        kind: Kind,
        paths: Iterable[str] = (),
    ) -> Decision:
        """Return the decision with what "always" offers: these rules if they do allow the call, else nothing."""
        if not self.would_allow(grants, tool, args, kind, paths):
            grants = ()
        return Decision(
            decision.verdict, decision.reason, decision.rule, decision.parts, grants, sensitive=decision.sensitive
        )

    def would_allow(
        self, grants: Iterable[Rule], tool: str, args: Mapping[str, Any], kind: Kind, paths: Iterable[str] = ()
    ) -> bool:
        """Return whether a call would run without a question if these rules were added."""
        index = self._index.extended(grants)
        if tool == SHELL_TOOL and isinstance(args.get("command"), str):
            return self._judge_command(index, args["command"], args).verdict is Verdict.ALLOW
        touched = tuple(paths)
        decision = self._check_tool(index, tool, kind, args, touched)
        return self._guard_names(decision, touched).verdict is Verdict.ALLOW

    def path_refusal(self, tool: str, paths: Iterable[str], named: bool = False) -> str:
        """Return why a rule keeps a call from reading a file that it came upon; empty where none does.

        Args:
            paths: the file as it was found, and where it really is.
            named: the call itself names it, so that a rule that asks was heard.
        """
        if not self._index.restricts_paths:
            return ""
        for path in dict.fromkeys(map(self._relative, paths)):
            for name in dict.fromkeys((tool, "read_file")):
                rule = with_yolo(self._index.find(name, Kind.READ, self.mode, "{}", (path,)), self.mode)
                if rule is not None and rule.path and rule.verdict is not Verdict.ALLOW:
                    if rule.verdict is Verdict.DENY or not named:
                        return because(rule)
        return ""

    def _judge_command(self, index: RuleIndex, command: str, args: Mapping[str, Any]) -> Decision:
        judge = CommandJudge(index, self._judge, self.mode, self._looking_allowed, _as_json(args), _base(args))
        return judge.decide(command)

    def _check_tool(
        self, index: RuleIndex, tool: str, kind: Kind, args: Mapping[str, Any], paths: tuple[str, ...]
    ) -> Decision:
        relative = self._named_and_real(paths)
        rule = index.find(tool, kind, self.mode, _as_json(args), relative)
        if self.mode is ApprovalMode.PLAN and kind.is_mutator and (rule is None or rule.verdict is not Verdict.DENY):
            return Decision(Verdict.DENY, "plan mode changes nothing; leave it to make changes")
        rule = with_yolo(rule, self.mode)
        if rule is not None:
            return Decision(rule.verdict, because(rule), rule)
        if self.mode is ApprovalMode.AUTO_EDIT and kind is Kind.EDIT:
            return Decision(Verdict.ALLOW, because(MODE_AUTO_EDIT), MODE_AUTO_EDIT)
        if kind in DEFAULT_ALLOWED:
            return Decision(Verdict.ALLOW, f"{kind} tools run without asking")
        return Decision(Verdict.ASK, f"{kind} tools ask first")

    def _guard_names(self, decision: Decision, paths: tuple[str, ...]) -> Decision:
        """Return what the names of the paths make of a decision: the same in every mode."""
        for path in paths:
            judgement = self._judge.judge(path)
            if judgement.verdict is NameVerdict.REFUSE:
                return Decision(
                    Verdict.DENY,
                    f"the name of {path} matches the sensitive pattern '{judgement.pattern}'; "
                    "the setting tools.ignore_path_filter can allow it",
                    sensitive=True,
                )
            if judgement.verdict is NameVerdict.ASK and decision.verdict is Verdict.ALLOW:
                reason = f"the name of {path} matches the sensitive pattern '{judgement.pattern}'"
                decision = Decision(Verdict.ASK, reason, sensitive=True)
        return decision

    def _named_and_real(self, paths: tuple[str, ...]) -> tuple[str, ...]:
        """Return the paths as rules see them: as they are named, and, where links lead elsewhere, as they are, too."""
        found: dict[str, None] = {}
        for path in paths:
            named = self._relative(path)
            try:
                real = self._relative(os.path.realpath(os.path.join(self.root, path)))
            except ValueError:  # a NUL: the tool refuses it
                real = named
            if not os.path.isabs(named) or os.path.isabs(real):
                found[named] = None
            found[real] = None
        return tuple(found)

    def _relative(self, path: str) -> str:
        full = os.path.normpath(os.path.join(self.root, path))
        relative = os.path.relpath(full, self.root)
        return full if relative.startswith("..") else relative


def _grant(tool: str, kind: Kind) -> Rule:
    if kind is Kind.EDIT:
        return Rule("*", "allow", kind="edit", source="this session")
    return Rule(tool, "allow", source="this session")


def _base(args: Mapping[str, Any]) -> str:
    """Return the directory in which a command runs, as the call names it."""
    given = args.get("directory") or args.get("dir_path") or ""
    return given if isinstance(given, str) else ""


def _as_json(args: Mapping[str, Any]) -> str:
    return json.dumps(args, sort_keys=True, ensure_ascii=False, default=str)

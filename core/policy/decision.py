"""What policy says of a call: a verdict, why, and by which rule."""

from __future__ import annotations

from dataclasses import dataclass

from core.contract.events import ApprovalMode
from core.policy.rules import Rule, Verdict

MODE_YOLO = Rule("*", "allow", source="built-in: mode yolo")


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
    sensitive: bool = False
    """The name of a path decided it: no rule but one that names the path, or `tools.ignore_path_filter`, allows it."""


def because(rule: Rule) -> str:
    """Return a rule in words, with where it stands."""
    words = rule.message or f"{rule.decision}: {rule.command_prefix or ', '.join(rule.tools)}"
    return f"{words} ({rule.source})" if rule.source else words


def with_yolo(rule: Rule | None, mode: ApprovalMode) -> Rule | None:
    """Return the rule that counts: in mode yolo its own, unless a rule denies or asks in that very mode."""
    if mode is not ApprovalMode.YOLO:
        return rule
    holds = rule is not None and (rule.verdict is not Verdict.ASK or mode in rule.modes)
    return rule if holds else MODE_YOLO

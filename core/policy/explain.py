"""A decision in words: for people who ask why, on the command line and in the screen."""

from __future__ import annotations

from typing import Any

from core.contract.events import ApprovalMode
from core.contract.visible import make_visible_line
from core.policy.decision import Decision
from core.policy.rules import Rule


def explain(decision: Decision, mode: ApprovalMode) -> list[str]:
    """Return the lines that explain a decision: verdict, mode, rule, each part of a command, what "always" adds."""
    lines = [f"{decision.verdict}: {decision.reason}", f"mode: {mode}"]
    if decision.rule is not None:
        lines.append(f"rule: {describe(decision.rule)}")
    for part in decision.parts:
        lines.append(f"  {part.verdict:5}  {make_visible_line(part.text)}  ({part.reason})")
    lines += [f'"always" would add: {describe(grant)}' for grant in decision.grants]
    return lines


def document(decision: Decision, mode: ApprovalMode) -> dict[str, Any]:
    """Return the same as JSON values."""
    return {
        "decision": str(decision.verdict),
        "reason": decision.reason,
        "mode": str(mode),
        "rule": decision.rule.source or None if decision.rule else None,
        "rule_text": decision.rule.as_toml() if decision.rule else None,
        "parts": [
            {
                "text": part.text,
                "decision": str(part.verdict),
                "reason": part.reason,
                "rule": part.rule.source or None if part.rule else None,
            }
            for part in decision.parts
        ],
        "always": [grant.as_toml() for grant in decision.grants],
    }


def describe(rule: Rule) -> str:
    """Return a rule in one line, with where it stands."""
    words = [rule.decision, ", ".join(rule.tools)]
    for name in ("command_prefix", "args_pattern", "path", "mcp_server"):
        if value := getattr(rule, name):
            words.append(f"{name} {value!r}")
    if rule.kinds:
        words.append(f"of kind {', '.join(rule.kinds)}")
    if rule.modes:
        words.append(f"in mode {', '.join(rule.modes)}")
    return f"{' '.join(words)}, priority {rule.priority} ({rule.source or 'given by the program'})"

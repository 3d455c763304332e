"""/permissions: the rules in force, why something may run or not, and taking a rule or the trust in a project back."""

from __future__ import annotations

import asyncio
import re

from app.call_check import check_call, read_arguments
from app.commands.registry import command
from app.stage import Stage
from core.contract.errors import StetError
from core.contract.events import Notice
from core.policy.engine import PolicyEngine
from core.policy.explain import describe, explain
from core.policy.rule_files import RuleFiles
from core.policy.rules import Rule
from core.policy.trust import ProjectTrust, TrustState
from core.tools.registry import ToolRegistry

_CALL = re.compile(r"(?P<tool>[\w.-]+)\s+(?P<args>\{.*\})", re.DOTALL)
_TRUST = {
    TrustState.NOTHING: "This project brings no settings, rules or tools.",
    TrustState.UNKNOWN: "This project is not trusted; the next start asks again.",
    TrustState.REFUSED: "This project is not trusted.",
    TrustState.TRUSTED: "This project is trusted. /permissions untrust takes that back.",
}


@command("permissions", aliases=("rules",), arguments="[check COMMAND | check TOOL JSON | forget N | untrust]")
async def list_rules(stage: Stage, arguments: str) -> None:
    """The rules in force, or why a command or a call may run or not.

    `/permissions` lists the rules, the strongest first, each with where it came from.
    `/permissions check COMMAND` explains the decision on a command.
    `/permissions check TOOL JSON` explains the decision on a call of a tool with these arguments.
    `/permissions forget N` takes a rule back, also from its file.
    `/permissions untrust` forgets that this project is trusted.
    """
    engine = stage.engine
    text = await answer(engine.policy, engine.files, engine.trust, arguments, engine.registry)
    await engine.bus.publish(Notice(text))


async def answer(
    policy: PolicyEngine, files: RuleFiles, trust: ProjectTrust, arguments: str, registry: ToolRegistry
) -> str:
    """Do what the arguments of `/permissions` say, and return what to tell."""
    word, _, rest = arguments.partition(" ")
    rest = rest.strip()
    if not word:
        return _list(policy, trust)
    if word == "check" and (call := _CALL.fullmatch(rest)):
        args = read_arguments(call["args"])
        checked = await asyncio.to_thread(check_call, policy, registry, {}, call["tool"], args)
        return "\n".join([*explain(checked.decision, policy.mode), f"tool: {checked.about}"])
    if word == "check" and rest:
        decision = await asyncio.to_thread(policy.check_command, rest)
        return "\n".join(explain(decision, policy.mode))
    if word == "forget" and rest.isdigit():
        return await asyncio.to_thread(_forget, policy, files, int(rest))
    if word == "untrust" and not rest:
        await asyncio.to_thread(trust.withdraw)
        return "Forgotten: the next start asks whether to trust this project. Until then this session goes on as it is."
    raise StetError(
        f"/permissions does not know {arguments!r}.", "Use check COMMAND, check TOOL JSON, forget N or untrust."
    )


def _list(policy: PolicyEngine, trust: ProjectTrust) -> str:
    rules = [f"{number:>3}. {describe(rule)}" for number, rule in enumerate(policy.rules, 1)]
    lines = [f"Mode {policy.mode}. {_TRUST[trust.state]}", *(rules or ["No rules but the built-in defaults."])]
    if rules:
        lines.append("/permissions forget N takes one back.")
    return "\n".join(lines)


def _forget(policy: PolicyEngine, files: RuleFiles, number: int) -> str:
    if not 1 <= number <= len(policy.rules):
        raise StetError(f"There is no rule {number}.", f"There are {len(policy.rules)}; /permissions lists them.")
    rule = policy.rules[number - 1]
    granted = [each for each in policy.rules if not _stands_in_file(each)]
    if _stands_in_file(rule):
        files.forget(rule)
        policy.replace_rules([*files.load()[0], *granted])  # the lines of other rules may have moved
    else:
        granted.remove(rule)
        policy.replace_rules([*(each for each in policy.rules if _stands_in_file(each)), *granted])
    return f"Taken back: {describe(rule)}"


def _stands_in_file(rule: Rule) -> bool:
    return rule.source.rpartition(":")[2].isdigit()

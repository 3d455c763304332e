"""Text of strangers in the conversation, and what it takes back: "always" answers of before it, for what sends.

A page or a server's answer may be written to make the model send something away. So a wide answer that was given before
such text came in no longer holds for fetching from new hosts, for network commands and for servers' tools: it asks
again, once for each source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from core.contract.envelope import Envelope
from core.contract.events import PromptSubmitted, SteerSubmitted
from core.contract.tool import ToolCall, ToolResult
from core.policy.decision import Decision
from core.policy.network import fetches, sends
from core.policy.rules import SHELL_TOOL, Rule, Verdict
from core.policy.shell_words import UnclearCommand, read_plain
from core.tools.declarative import BaseToolInvocation, ToolInvocation

if TYPE_CHECKING:
    from core.scheduler.scheduler import CompletedCall

SESSION = "this session"
"""The source of rules that are answers of the user's."""
WEB = "the web"
_HOST = re.compile(r"https?://(?:[^\s/@]*@)?([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])", re.IGNORECASE)


class Taint:
    """Knows the sources of such text, the grants that were given knowing them, and the hosts that the user named."""

    def __init__(self) -> None:
        self.sources: frozenset[str] = frozenset()
        self._known: dict[Rule, frozenset[str]] = {}
        self._hosts: set[str] = set()

    def note(self, envelope: Envelope) -> None:
        """Learn the hosts that the user names; a sink of the session's bus."""
        if isinstance(envelope.payload, PromptSubmitted | SteerSubmitted):
            self.name_hosts(match.strip("[]") for match in _HOST.findall(envelope.payload.text))

    def name_hosts(self, hosts: Iterable[str]) -> None:
        """Take note of hosts that the user named, or approved."""
        self._hosts.update(host.lower() for host in hosts)

    def came_from(self, source: str) -> None:
        """Take note that text of this source goes to the model."""
        self.sources |= {source}

    def note_results(self, calls: Iterable[CompletedCall]) -> None:
        """Take note of what the results hold that go to the model."""
        self.sources |= {source for done in calls if (source := source_of(done.call, done.result))}

    def grant(self, rules: Iterable[Rule]) -> None:
        """Take note that the user gave these rules, knowing what came in so far."""
        self._known.update(dict.fromkeys(rules, self.sources))

    def doubts(self, decision: Decision, invocation: ToolInvocation) -> tuple[Rule, ...]:
        """Return the answers of the user's that would let this call send something, given before text came in."""
        if not self.sources or decision.verdict is not Verdict.ALLOW:
            return ()
        rules = dict.fromkeys(rule for rule in (decision.rule, *(part.rule for part in decision.parts)) if rule)
        own = invocation if isinstance(invocation, BaseToolInvocation) else None
        hosts, server = (own.hosts, own.origin) if own is not None else ((), "")
        if hosts and self._hosts.issuperset(hosts):
            return ()
        return tuple(
            rule
            for rule in rules
            if rule.source == SESSION
            and (sends(rule.prefix_words) if rule.prefix_words else bool(hosts or server))
            and self.sources - self._known.get(rule, frozenset()) - {server}
        )

    def in_words(self, rules: Iterable[Rule], invocation: ToolInvocation) -> str:
        """Return why such a call asks."""
        new = frozenset[str]().union(*(self.sources - self._known.get(rule, frozenset()) for rule in rules))
        new -= {invocation.origin if isinstance(invocation, BaseToolInvocation) else ""}
        return f"since you allowed this, text from {', '.join(sorted(new))} came in, and it could ask for this"


def source_of(call: ToolCall, result: ToolResult) -> str:
    """Return where the text of a result comes from, if strangers wrote it: `the web`; else nothing."""
    if source := result.data.get("untrusted"):
        return str(source)
    command = call.args.get("command")
    if call.name != SHELL_TOOL or not isinstance(command, str):
        return ""
    try:
        return WEB if any(fetches(part.words) for part in read_plain(command)) else ""
    except UnclearCommand:
        return WEB if any(fetches((word,)) for word in re.split(r"[\s;|&()`$]+", command) if word) else ""

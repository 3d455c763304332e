"""Decides on one command line: allowing by the strict reader alone, denying by the lenient one, else asking."""

from __future__ import annotations

from core.contract.events import ApprovalMode
from core.contract.tool import Kind
from core.policy.decision import Decision, PartDecision, because, with_yolo
from core.policy.named_paths import NamedPaths
from core.policy.places import PathJudge
from core.policy.read_only import is_read_only
from core.policy.rule_index import RuleIndex
from core.policy.rules import SHELL_TOOL, Rule, Verdict
from core.policy.shell_nested import runs_anything
from core.policy.shell_reader import Reading, find_commands
from core.policy.shell_syntax import FoundCommand
from core.policy.shell_words import SimpleCommand, UnclearCommand, read_plain
from core.policy.side_effects import find_side_effect

READ_ONLY_COMMAND = Rule(SHELL_TOOL, "allow", source="built-in: commands that only look")
_SHOWN_PARTS = 50
_SHOWN_LENGTH = 10_000


class CommandJudge:
    """Judges one command line.

    Args:
        looking_allowed: commands that are known only to look need no rule.
        arguments: the call's arguments as JSON, for rules with an `args_pattern`.
        base: the directory in which it runs.
    """

    def __init__(
        self,
        index: RuleIndex,
        places: PathJudge,
        mode: ApprovalMode,
        looking_allowed: bool,
        arguments: str,
        base: str,
    ) -> None:
        self._index = index
        self._places = places
        self._mode = mode
        self._looking_allowed = looking_allowed
        self._arguments = arguments
        self._base = base
        self._general = index.find(SHELL_TOOL, Kind.EXECUTE, mode, arguments)
        """The strongest rule that speaks of any command."""

    def decide(self, command: str) -> Decision:
        """Return the decision, with the rules that would have allowed what is asked about (not yet verified)."""
        try:
            parts = read_plain(command)
        except UnclearCommand as error:
            return self._decide_unclear(command, str(error))
        known = [_found(part) for part in parts]
        reading = find_commands(command, known)
        denied = self._find_denied(reading)
        if denied is not None:
            return denied
        decisions = tuple(self._decide_part(part) for part in parts)
        if self._mode is ApprovalMode.PLAN and not all(self._only_looks(part) for part in parts):
            return Decision(Verdict.DENY, "plan mode runs only commands that look", parts=decisions)
        strictest = max(decisions, key=lambda part: part.verdict.strictness)
        reason = strictest.reason
        if len(decisions) > 1 and strictest.verdict is not Verdict.ALLOW:
            reason = f"`{strictest.text}`: {reason}"
        granted = frozenset(word for part in decisions if part.rule is not None for word in part.rule.prefix_words)
        if doubt := self._find_doubt(reading, granted):
            return Decision(Verdict.ASK, doubt, parts=decisions, sensitive=True)
        grants = _grants(parts, decisions) if strictest.verdict is Verdict.ASK else ()
        return Decision(strictest.verdict, reason, strictest.rule, decisions, grants)

    def _decide_unclear(self, command: str, why: str) -> Decision:
        rule = with_yolo(self._general, self._mode)
        allowed = rule is not None and rule.verdict is Verdict.ALLOW and bool(command.strip())
        if not allowed and not self._index.denies_commands and len(command) > _SHOWN_LENGTH:
            reading = Reading()  # nothing depends on it, and so many parts are not shown
        else:
            reading = find_commands(command)
        denied = self._find_denied(reading)
        if denied is not None:
            return denied
        if self._mode is ApprovalMode.PLAN:
            return Decision(Verdict.DENY, f"plan mode runs only commands that look, and this one is unclear: {why}")
        note = "it is part of a text that is not fully understood"
        parts = tuple(PartDecision(each.text, Verdict.ASK, note) for each in reading.commands[:_SHOWN_PARTS])
        if rule is not None and allowed:
            if doubt := self._find_doubt(reading):
                return Decision(Verdict.ASK, doubt, parts=parts, sensitive=True)
            return Decision(Verdict.ALLOW, because(rule), rule, parts)
        return Decision(Verdict.ASK, f"the command is not fully understood: {why}", rule, parts)

    def _find_denied(self, reading: Reading) -> Decision | None:
        if not self._index.denies_commands:
            return None
        for command in reading.commands:
            rule = self._find_rule(command)
            if rule is not None and rule.verdict is Verdict.DENY:
                text = command.text
                part = PartDecision(text, Verdict.DENY, because(rule), rule)
                return Decision(Verdict.DENY, f"`{text[:200]}`: {because(rule)}", rule, (part,))
        if not reading.commands and self._general is not None and self._general.verdict is Verdict.DENY:
            return Decision(Verdict.DENY, because(self._general), self._general)
        return None

    def _find_doubt(self, reading: Reading, granted: frozenset[str] = frozenset()) -> str:
        """Return why to ask although rules or the mode allow it: hidden commands, sensitive names."""
        if self._index.restricts_commands:
            if not reading.is_complete:
                return "it is too large or too deeply nested to be read whole, and there are rules that deny or ask"
            for command in reading.commands:
                if self._index.may_be_restricted(command.words, command.open):
                    return f"`{command.text[:200]}` may become a command that a rule denies or asks about"
        found = NamedPaths(self._places, self._base, granted).find(reading.commands, reading.targets)
        return f"it names the sensitive path {found}" if found else ""

    def _find_rule(self, command: FoundCommand) -> Rule | None:
        return self._index.find_for_words(command.words, command.open, self._mode, self._arguments, self._general)

    def _decide_part(self, part: SimpleCommand) -> PartDecision:
        rule = with_yolo(self._find_rule(_found(part)), self._mode)
        if rule is None and self._looking_allowed and self._only_looks(part):
            rule = READ_ONLY_COMMAND
        if rule is None:
            return PartDecision(part.text, Verdict.ASK, "no rule allows it")
        if rule.verdict is Verdict.ALLOW and rule.command_prefix:
            if effect := find_side_effect(_found(part), len(rule.prefix_words)):
                return PartDecision(part.text, Verdict.ASK, effect, rule)
        return PartDecision(part.text, rule.verdict, because(rule), rule)

    def _only_looks(self, part: SimpleCommand) -> bool:
        return is_read_only(part, lambda path: self._places.may_read(path, self._base))


def _found(part: SimpleCommand) -> FoundCommand:
    return FoundCommand(part.words, tuple(not literal for literal in part.literal))


def _grants(commands: list[SimpleCommand], parts: tuple[PartDecision, ...]) -> tuple[Rule, ...]:
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
    if runs_anything(program):
        return ""
    count = (
        2 if len(command.words) > 1 and command.literal[1] and not command.words[1].startswith(("-", "/", ".")) else 1
    )
    words = command.words[:count]
    return "" if any(not word or any(char.isspace() for char in word) for word in words) else " ".join(words)

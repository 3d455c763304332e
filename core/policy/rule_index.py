"""Finds the rule that decides, among ten thousand: by tool, and for commands by the words that they begin with.

It knows no syntax and no defaults: it is given words and says which rule wins.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from core.contract.events import ApprovalMode
from core.contract.tool import Kind
from core.policy.rules import SHELL_TOOL, Rule, Verdict


class RuleIndex:
    """Rules, the strongest first. It does not change: a new set of rules is a new index."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = tuple(sorted(rules, key=lambda rule: rule.rank, reverse=True))
        self._exact: dict[str, list[Rule]] = {}
        self._patterns: list[Rule] = []
        self._by_prefix: dict[tuple[str, ...], list[Rule]] = {}
        self._general: dict[str, tuple[Rule, ...]] = {}
        stems: set[tuple[str, ...]] = set()
        for rule in self.rules:
            if rule.command_prefix is not None:
                self._add_prefix(rule, stems)
            elif any(char in name for name in rule.tools for char in "*?["):
                self._patterns.append(rule)
            else:
                for name in rule.tools:
                    self._exact.setdefault(name, []).append(rule)
        self._stems = frozenset(stems)
        self._longest = max(map(len, self._by_prefix), default=0)
        self.denies_commands = any(rule.verdict is Verdict.DENY for rule in self.rules)
        self.restricts_commands = any(rule.verdict is not Verdict.ALLOW for rule in self.rules)
        self.restricts_paths = any(rule.path and rule.verdict is not Verdict.ALLOW for rule in self.rules)

    def _add_prefix(self, rule: Rule, stems: set[tuple[str, ...]]) -> None:
        words = rule.prefix_words
        if not words or not rule.speaks_of(SHELL_TOOL):
            return
        self._by_prefix.setdefault(words, []).append(rule)
        if rule.verdict is not Verdict.ALLOW:
            stems.update(words[:end] for end in range(len(words)))

    def general(self, tool: str) -> tuple[Rule, ...]:
        """Return the rules without a command prefix that speak of a tool, the strongest first."""
        if tool not in self._general:
            found = [rule for rule in self._exact.get(tool, ()) if rule.speaks_of(tool)]
            found += [rule for rule in self._patterns if rule.speaks_of(tool)]
            self._general[tool] = tuple(sorted(found, key=lambda rule: rule.rank, reverse=True))
        return self._general[tool]

    def find(
        self, tool: str, kind: Kind, mode: ApprovalMode, arguments: str, paths: tuple[str, ...] = ()
    ) -> Rule | None:
        """Return the strongest rule that speaks of a call; rules with a command prefix are left out."""
        for rule in self.general(tool):
            if rule.holds(kind, mode) and rule.matches_call(arguments, paths):
                return rule
        return None

    def find_for_words(
        self,
        words: tuple[str, ...],
        is_open: tuple[bool, ...],
        mode: ApprovalMode,
        arguments: str,
        best: Rule | None,
    ) -> Rule | None:
        """Return the strongest rule that speaks of a simple command.

        Args:
            best: the strongest rule without a prefix that speaks of the whole call.

        A rule that allows matches the words as they stand, none of them computed. One that asks or denies also
        matches another path to the program, and with options between the program and what follows.
        """
        if not self._by_prefix or not words:
            return best
        words = words[: _first_open(is_open)]
        for key in self._keys(words):
            for rule in self._by_prefix.get(key, ()):
                if best is not None and rule.rank <= best.rank:
                    break
                if rule.verdict is Verdict.ALLOW and words[: len(key)] != key:
                    continue
                if rule.holds(Kind.EXECUTE, mode) and rule.matches_call(arguments, ()):
                    best = rule
                    break
        return best

    def _keys(self, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        """Yield the beginnings under which rules may speak of a command, each once."""
        seen: set[tuple[str, ...]] = set()
        for start in _readings(words, self._longest):
            for end in range(1, len(start) + 1):
                key = start[:end]
                if key not in seen:
                    seen.add(key)
                    yield key

    def extended(self, allowing: Iterable[Rule]) -> LayeredIndex:
        """Return an index with more rules, all of which allow; it costs little, however many rules there are."""
        return LayeredIndex(self, RuleIndex(allowing))

    def may_be_restricted(self, words: tuple[str, ...], is_open: tuple[bool, ...]) -> bool:
        """Return whether a word that is only known at run time could make this a command that a rule asks or denies."""
        at = _first_open(is_open)
        if at >= len(words) or not self._stems:
            return False
        return any(reading in self._stems for reading in _readings(words[:at], self._longest))


class LayeredIndex(RuleIndex):
    """An index with a few allowing rules on top."""

    def __init__(self, base: RuleIndex, top: RuleIndex) -> None:
        self._base = base
        self._top = top
        self.denies_commands = base.denies_commands
        self.restricts_commands = base.restricts_commands
        self.restricts_paths = base.restricts_paths

    def find(
        self, tool: str, kind: Kind, mode: ApprovalMode, arguments: str, paths: tuple[str, ...] = ()
    ) -> Rule | None:
        return _stronger(*(index.find(tool, kind, mode, arguments, paths) for index in (self._base, self._top)))

    def find_for_words(
        self,
        words: tuple[str, ...],
        is_open: tuple[bool, ...],
        mode: ApprovalMode,
        arguments: str,
        best: Rule | None,
    ) -> Rule | None:
        found = self._base.find_for_words(words, is_open, mode, arguments, best)
        return _stronger(found, self._top.find_for_words(words, is_open, mode, arguments, None))

    def may_be_restricted(self, words: tuple[str, ...], is_open: tuple[bool, ...]) -> bool:
        return self._base.may_be_restricted(words, is_open)


def _stronger(one: Rule | None, other: Rule | None) -> Rule | None:
    if one is None or other is None:
        return one or other
    return one if one.rank >= other.rank else other


def _first_open(is_open: tuple[bool, ...]) -> int:
    """Return the place of the first word that is computed, or how many words there are."""
    return next((at for at, computed in enumerate(is_open) if computed), len(is_open))


def _readings(words: tuple[str, ...], longest: int) -> Iterator[tuple[str, ...]]:
    """Yield the first words as they stand, then by the program's bare name, then without its leading options."""
    yield words[:longest]
    if not words:
        return
    bare = (words[0].rsplit("/", 1)[-1],)
    yield (bare + words[1:longest])[:longest]
    places, furthest = {1}, 1
    for at in range(1, len(words)):
        if at in places and words[at].startswith("-"):
            furthest = at + 2
            places |= {at + 1, furthest}  # the next word may be the option's value
            yield (bare + words[at + 1 : at + longest])[:longest]
            yield (bare + words[at + 2 : at + 1 + longest])[:longest]
        elif at > furthest:
            break

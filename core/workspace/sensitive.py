"""Names that hold secrets or what no model should touch: the rule is one, for every tool and every way to a file.

It judges names only. Who asks the user is the caller's part; files tracked by git are told to it.
"""

from __future__ import annotations

import fnmatch
import functools
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath

PATTERNS = (".env*", "*credentials*", "*secret*", "*.key", "*.pem", ".git", "node_modules")
"""Matched against each component of a path, in any case."""
LITERALS = tuple(pattern.strip("*") for pattern in PATTERNS)
"""Every ASCII name that matches a pattern holds one of these, in any case."""
SOFT_PATTERNS = ("*credentials*", "*secret*")
"""On a tracked source file these ask: `secretary.py` is no secret."""
SAMPLE_SUFFIXES = (".example", ".sample", ".template", ".dist")
"""A `.env` file that ends so is meant to be shared: it asks."""
SOURCE_SUFFIXES = frozenset(
    ".py .pyi .js .mjs .cjs .jsx .ts .mts .cts .tsx .go .rs .java .kt .kts .scala .c .h .cc .cpp .cxx .hpp .cs .fs"
    " .rb .php .swift .m .mm .lua .pl .pm .r .jl .ex .exs .erl .hs .ml .mli .clj .dart .vue .svelte .sh .bash .zsh"
    " .sql .proto .graphql .html .css .scss .md .rst .txt .tf .zig .nim".split()
)


class Verdict(StrEnum):
    ALLOW = "allow"
    ASK = "ask"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class Judgement:
    verdict: Verdict
    pattern: str = ""
    """The pattern that decided; empty where the name is harmless."""


HARMLESS = Judgement(Verdict.ALLOW)


def fold(name: str) -> str:
    """Return a name as the most lenient file systems compare it (composed, without case)."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKD", name).casefold())


_ANY = re.compile("|".join(fnmatch.translate(pattern) for pattern in PATTERNS))


@functools.lru_cache(maxsize=65_536)
def matching_pattern(name: str) -> str:
    """Return the sensitive pattern that one component matches, or an empty string."""
    folded = fold(name)
    if _ANY.match(folded) is None:
        return ""
    return next((pattern for pattern in PATTERNS if fnmatch.fnmatchcase(folded, pattern)), "")


class SensitiveRules:
    """The patterns, and what the user has allowed.

    Args:
        allowed: glob patterns (the `ignore_path_filter` setting) against a component's name or the path up to it.
    """

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        self._allowed = tuple(fold(pattern.rstrip("/")) for pattern in allowed)

    def judge(self, inside: str, is_tracked: Callable[[], bool]) -> Judgement:
        """Judge a path relative to its root, links resolved; `is_tracked` is called only if it matters."""
        components = [part for part in inside.split("/") if part not in ("", ".")]
        worst = HARMLESS
        for index, name in enumerate(components):
            pattern = matching_pattern(name)
            if not pattern or self._is_allowed(components, index):
                continue
            if not self._may_ask(name, pattern, components[-1], is_tracked):
                return Judgement(Verdict.REFUSE, pattern)
            worst = Judgement(Verdict.ASK, pattern)
        return worst

    @staticmethod
    def _may_ask(name: str, pattern: str, file_name: str, is_tracked: Callable[[], bool]) -> bool:
        if pattern == ".env*":
            return fold(name).endswith(SAMPLE_SUFFIXES)
        is_source = PurePosixPath(fold(file_name)).suffix in SOURCE_SUFFIXES
        return pattern in SOFT_PATTERNS and is_source and is_tracked()

    def _is_allowed(self, components: list[str], index: int) -> bool:
        whole = fold("/".join(components))
        prefix = fold("/".join(components[: index + 1]))
        names = (fold(components[index]), prefix, whole)
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in self._allowed for name in names)

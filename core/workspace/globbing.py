"""Glob patterns as tools take them: `*`, `?`, `[x]`, `{a,b}` and `**`, against paths with `/`; dot files included."""

from __future__ import annotations

import functools
import re

from core.contract.errors import ToolErrorType, ToolFailure

_MAX_ALTERNATIVES = 1000
_MAX_LITERALS = 20


def expand_braces(pattern: str) -> list[str]:
    """Return the patterns that `{a,b}` groups, nested ones too, stand for; unbalanced braces are literal.

    Raises:
        ToolFailure: invalid_pattern, for more than a thousand of them.
    """
    group = _first_group(pattern)
    if group is None:
        return [pattern]
    start, stop, options = group
    results: list[str] = []
    for option in options:
        results += expand_braces(pattern[:start] + option + pattern[stop:])
        if len(results) > _MAX_ALTERNATIVES:
            raise ToolFailure(
                ToolErrorType.INVALID_PATTERN, f"The glob stands for more than {_MAX_ALTERNATIVES} patterns."
            )
    return results


def _first_group(pattern: str) -> tuple[int, int, list[str]] | None:
    """Return the first balanced group with a comma: its place and its options."""
    for start in (index for index, letter in enumerate(pattern) if letter == "{"):
        depth, cuts = 0, [start]
        for index in range(start, len(pattern)):
            letter = pattern[index]
            depth += (letter == "{") - (letter == "}")
            if letter == "," and depth == 1:
                cuts.append(index)
            if depth == 0:
                if len(cuts) > 1:
                    cuts.append(index)
                    options = [pattern[cuts[n] + 1 : cuts[n + 1]] for n in range(len(cuts) - 1)]
                    return start, index + 1, options
                break
    return None


def _translate(pattern: str) -> str:
    steps = [step for step in pattern.split("/") if step not in ("", ".")]
    regex = ""
    for index, step in enumerate(steps):
        is_last = index == len(steps) - 1
        if step == "**":
            regex += ".*" if is_last else "(?:[^/]+/)*"
        else:
            regex += _translate_step(step) + ("" if is_last else "/")
    return regex


def _translate_step(step: str) -> str:
    regex, index = "", 0
    while index < len(step):
        letter = step[index]
        index += 1
        if letter == "*":
            while step[index : index + 1] == "*":
                index += 1
            regex += "[^/]*"
        elif letter == "?":
            regex += "[^/]"
        elif letter == "[" and (stop := _class_end(step, index)) > 0:
            regex += _translate_class(step[index:stop])
            index = stop + 1
        else:
            regex += re.escape(letter)
    return regex


def _class_end(step: str, start: int) -> int:
    """Return where the class that begins at `start` has its `]`, which is literal in first place; -1 for none."""
    first = start + 1 if step[start : start + 1] in ("!", "^") else start
    return step.find("]", first + 1)


def _translate_class(inner: str) -> str:
    is_negated = inner[0] in "!^"
    escaped = re.sub(r"([\\\[\]&~|^])", r"\\\1", inner[1:] if is_negated else inner)
    return f"[^/{escaped}]" if is_negated else f"[{escaped}]"


def _fixed_part(pattern: str) -> str:
    """Return the longest ASCII string that stands in every path that matches; empty for none."""
    best = ""
    runs: list[list[str]] = [[]]
    for step in pattern.split("/"):
        if step == "**":
            runs.append([])
        elif step not in ("", "."):
            runs[-1].append(step)
    for run in runs:
        text = "/".join(run)
        for piece in re.split(r"[*?]", text.partition("[")[0]):
            best = max(best, re.split(r"[^\x20-\x7e]", piece)[0], key=len)
    return best


class Glob:
    """A compiled pattern.

    Args:
        anywhere: a pattern without `/` is matched against the name alone, at any depth.
    """

    def __init__(self, pattern: str, *, case_sensitive: bool = False, anywhere: bool = False) -> None:
        self.pattern = pattern
        flags = re.DOTALL if case_sensitive else re.DOTALL | re.IGNORECASE
        alternatives = expand_braces(pattern)
        fixed = {_fixed_part(alternative) for alternative in alternatives}
        self.literals = () if "" in fixed or len(fixed) > _MAX_LITERALS else tuple(sorted(fixed))
        """Strings of which every path that matches holds one, in any case; empty where none can be named."""
        try:
            self._regexes = [
                (re.compile(_translate(alternative), flags), anywhere and "/" not in alternative.strip("/"))
                for alternative in alternatives
            ]
        except re.error as error:
            raise ToolFailure(
                ToolErrorType.INVALID_PATTERN,
                f"Invalid glob pattern {pattern!r}: {error}",
                "Check the ranges in [...].",
            ) from error

    def matches(self, relative: str) -> bool:
        """Return whether a path relative to the searched directory matches."""
        name = relative[relative.rfind("/") + 1 :]
        return any(regex.fullmatch(name if by_name else relative) for regex, by_name in self._regexes)


@functools.lru_cache(maxsize=64)
def compile_glob(pattern: str, *, case_sensitive: bool = False, anywhere: bool = False) -> Glob:
    """Return the compiled pattern; see `Glob`."""
    return Glob(pattern, case_sensitive=case_sensitive, anywhere=anywhere)

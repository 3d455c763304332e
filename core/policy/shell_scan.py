"""Reads a shell text that the grammar does not take, or that is too large for it: by its operators alone, in one pass.

Every operator, bracket and line end begins a new command, so it takes data for commands rather than the reverse.
"""

from __future__ import annotations

import re

from core.policy.shell_quotes import expand_word
from core.policy.shell_syntax import ShellSyntax, command_of

_TOKEN = re.compile(
    r"""(?P<word>(?:[^\s'"\\`;&|()<>]|\\.|'[^']*'|"(?:[^"\\]|\\.)*"|\$'(?:[^'\\]|\\.)*'|['"\\])+)"""
    r"""|(?P<redirection>[<>]+[&|-]?)|(?P<operator>[;&|()`\n])""",
    re.DOTALL,
)
_KEYWORDS = frozenset(
    "if then elif else fi while until for do done case esac in select function time ! { } coproc".split()
)
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=(.*)", re.DOTALL)


def scan(text: str, into: ShellSyntax) -> None:
    """Add all that may be a command, whether or not bash would run it."""
    words: list[str] = []
    redirected = False

    def end_command() -> None:
        command = command_of(words) if words else None
        if command is not None:
            into.commands.append(command)
        words.clear()

    for match in _TOKEN.finditer(re.sub(r"(?<!\\)((?:\\\\)*)\\\n", r"\1", text)):
        word = match["word"]
        if word is None:
            redirected = match["redirection"] is not None
            if not redirected:
                end_command()
            continue
        if ("$(" in word or "`" in word) and '"' in word:
            into.inner.append(re.sub(r"[\"']", " ", word))
        if redirected:
            into.targets += [target for target, _ in expand_word(word)]
            redirected = False
        elif not words and word in _KEYWORDS:
            continue
        elif not words and (assigned := _ASSIGNMENT.fullmatch(word)):
            into.assignments += [(assigned[1], value) for value, _ in expand_word(assigned[2])]
        else:
            words.append(word)
    end_command()

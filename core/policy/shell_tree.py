"""The lenient reader: every command that a text may run, nested and wrapped ones too, from bash's syntax tree.

It sees more than it should and never less than it can: good for denying and for showing, never for allowing.
The only module that imports tree-sitter's bash grammar; it does so when first asked.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

WRAPPERS = frozenset(
    "env sudo doas command builtin exec nohup nice ionice time timeout stdbuf setsid xargs watch parallel strace "
    "chroot unshare flock script npx busybox find ssh su runuser".split()
)
"""Programs that run other programs named in their arguments."""
SHELLS = frozenset("sh bash dash zsh ksh fish eval source .".split())
"""Programs whose arguments are shell text."""

MAX_COMMANDS = 2_000
"""A text with more commands is not looked at further; what was found by then counts."""
MAX_TEXT = 200_000
"""Characters that are parsed."""
_MAX_NESTING = 6


@cache
def _parser() -> Parser:
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def find_commands(command: str) -> list[tuple[str, ...]]:
    """Return the words of every command that the text may run, outer ones first, quotes removed.

    Words that are computed at run time stand as they are written.
    """
    found: list[tuple[str, ...]] = []
    _collect(command[:MAX_TEXT], found, 0)
    return found


def _collect(text: str, found: list[tuple[str, ...]], depth: int) -> None:
    source = text.encode("utf-8", "replace")
    pending: list[Any] = [_parser().parse(source).root_node]
    while pending and len(found) < MAX_COMMANDS:
        node = pending.pop()
        if node.type == "command":
            _add(tuple(_words(node, source)), found, depth)
        pending.extend(reversed(node.children))


def _add(words: tuple[str, ...], found: list[tuple[str, ...]], depth: int) -> None:
    if not words:
        return
    found.append(words)
    if depth >= _MAX_NESTING:
        return
    program = words[0].rsplit("/", 1)[-1]
    if program in WRAPPERS:
        for start in range(1, min(len(words), 40)):
            if not words[start].startswith("-"):
                found.append(words[start:])
                if words[start].rsplit("/", 1)[-1] in SHELLS or " " in words[start]:
                    _collect(" ".join(words[start:]), found, depth + 1)
    elif program in SHELLS:
        for word in words[1:]:
            if not word.startswith("-"):
                _collect(word, found, depth + 1)


def _words(node: Node, source: bytes) -> list[str]:
    words: list[str] = []
    for child in node.children:
        if child.type == "command_name" or child.is_named and child.type not in _NOT_WORDS:
            words.append(_unquoted(source[child.start_byte : child.end_byte].decode("utf-8", "replace")))
    return words


_NOT_WORDS = frozenset(
    "variable_assignment file_redirect heredoc_redirect herestring_redirect comment heredoc_body".split()
)


def _unquoted(word: str) -> str:
    """Return the word without quotes and backslashes, as bash's quote removal would leave it (nearly)."""
    result: list[str] = []
    quote = ""
    at = 0
    while at < len(word):
        char = word[at]
        if quote == "'":
            if char == "'":
                quote = ""
            else:
                result.append(char)
        elif char == "\\" and at + 1 < len(word):
            at += 1
            result.append(word[at])
        elif quote == '"' and char == '"':
            quote = ""
        elif not quote and char in "'\"":
            quote = char
        else:
            result.append(char)
        at += 1
    return "".join(result)

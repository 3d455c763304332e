"""Reads a shell text by bash's syntax tree.

It sees more than it should and never less than it can: good for denying and for showing, never for allowing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.grammar import parser_of
from core.policy.shell_quotes import expand_word
from core.policy.shell_syntax import ShellSyntax, command_of

if TYPE_CHECKING:
    from core.grammar import Node

MAX_TEXT = 64_000
"""Characters that are parsed as one text."""
_LIMITS = (("|", 400), ("${", 500), ("<<", 60))
"""How many of these a text may hold: the parser needs time and memory in their square (`a|` 8,000 times: 650 MB)."""

_ASCII = bytes(range(128)) + b"_" * 128
"""Every byte of a character beyond ASCII becomes one of a word, which it is to bash as well: the grammar's scanner asks
the C library about characters with tables that end at 255, and reads past them (tree-sitter-bash 0.25.1 crashes)."""

_COMMANDS = frozenset({"command", "declaration_command", "unset_command", "test_command"})
_NOT_WORDS = frozenset(
    "variable_assignment file_redirect heredoc_redirect herestring_redirect comment heredoc_body".split()
)


def is_parsable(text: str) -> bool:
    """Return whether a text is small enough to be parsed in bounded time and memory."""
    return len(text) <= MAX_TEXT and all(text.count(mark) <= limit for mark, limit in _LIMITS)


def read_tree(text: str, into: ShellSyntax) -> bool:
    """Add what the text's syntax tree holds; return whether bash's grammar took all of it."""
    source = text.encode("utf-8", "replace")
    root = parser_of("bash").parse(source.translate(_ASCII)).root_node
    pending: list[Any] = [root]
    while pending:
        node = pending.pop()
        kind = node.type
        if kind in _COMMANDS:
            _add_command(node, source, into)
        elif kind == "file_redirect":
            for destination in node.children_by_field_name("destination")[:1]:
                into.targets += [word for word, _ in expand_word(_text(destination, source))]
        elif kind == "variable_assignment":
            _add_assignment(node, source, into)
        elif kind == "heredoc_body":
            into.bodies.append(_text(node, source))
        elif kind == "herestring_redirect":
            into.bodies += [word for child in node.named_children for word, _ in expand_word(_text(child, source))]
        elif kind == "command_substitution" and "\\`" in (inner := _text(node, source)):
            into.inner.append(inner.strip("`").replace("\\\\", "\\").replace("\\`", "`"))
        pending.extend(reversed(node.children))
    return not root.has_error


def _add_command(node: Node, source: bytes, into: ShellSyntax) -> None:
    raw: list[str] = []
    end = -1
    for child in node.children:
        if child.type in _NOT_WORDS and not (raw and node.type == "declaration_command"):
            end = -1
            continue
        text = _text(child, source)
        # what stands together is one word, whatever the grammar makes of it
        if raw and end >= 0 and not source[end : child.start_byte].replace(b"\\\n", b""):
            raw[-1] += text
        else:
            raw.append(text)
        end = child.end_byte
    if node.parent is not None and node.parent.type == "redirected_statement":
        # `git >file push`: to the grammar, what follows the file is part of the redirection
        for redirect in node.parent.children_by_field_name("redirect"):
            raw += [_text(word, source) for word in redirect.children_by_field_name("destination")[1:]]
    command = command_of(raw)
    if command is not None:
        into.commands.append(command)


def _add_assignment(node: Node, source: bytes, into: ShellSyntax) -> None:
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if name is not None and value is not None:
        into.assignments += [(_text(name, source), word) for word, _ in expand_word(_text(value, source))]


def _text(node: Node, source: bytes) -> str:
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")

"""Which names a language allows: identifiers, its own words, and names that mean something to it."""

from __future__ import annotations

import keyword
import re

from core.contract.errors import ToolErrorType, ToolFailure

_SCRIPT_WORDS = frozenset(
    "arguments await break case catch class const continue debugger default delete do else enum eval export extends "
    "false finally for function if implements import in instanceof interface let new null package private protected "
    "public return static super switch this throw true try typeof undefined var void while with yield".split()
)
_GO_WORDS = frozenset(
    "break case chan const continue default defer else fallthrough for func go goto if import interface map package "
    "range return select struct switch type var _ init true false nil iota".split()
)
_WORDS = {
    "python": frozenset(keyword.kwlist),
    "javascript": _SCRIPT_WORDS,
    "typescript": _SCRIPT_WORDS,
    "go": _GO_WORDS,
}
_SPECIAL = {
    "python": re.compile(r"__\w+__"),
    "javascript": re.compile(r"constructor"),
    "typescript": re.compile(r"constructor"),
    "go": re.compile(r"init|main"),
}


def check_name(language: str, old: str, new: str) -> None:
    """Refuse a new name that the language does not allow, and an old one that the language itself calls.

    Raises:
        ToolFailure: invalid_tool_params.
    """
    plain = new.removeprefix("#") if language in ("javascript", "typescript") else new
    if language in ("javascript", "typescript"):
        plain = plain.replace("$", "_")
    if not plain.isidentifier():
        raise ToolFailure(ToolErrorType.INVALID_TOOL_PARAMS, f"`{new}` is no name in {language}.")
    if new in _WORDS.get(language, ()):
        raise ToolFailure(ToolErrorType.INVALID_TOOL_PARAMS, f"`{new}` is a word of {language} itself.")
    if new == old:
        raise ToolFailure(ToolErrorType.EDIT_NO_CHANGE, f"`{new}` is its name already.")
    special = _SPECIAL.get(language)
    if special is not None and (special.fullmatch(old) or special.fullmatch(new)):
        raise ToolFailure(
            ToolErrorType.INVALID_TOOL_PARAMS, f"`{old}` can't become `{new}`: one of them has a meaning to {language}."
        )


def is_public(name: str) -> bool:
    """Return whether Go exports a name."""
    return name[:1].isupper()

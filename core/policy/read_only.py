"""Commands that only look: run without asking, as long as their arguments stay harmless and inside the workspace."""

from __future__ import annotations

import re
from collections.abc import Callable

from core.policy.shell_words import SimpleCommand

PROGRAMS = frozenset(
    "ls pwd cat head tail wc nl cut sort uniq tr comm diff cmp file stat du df basename dirname realpath echo printf "
    "true false test which type uname whoami id date grep egrep fgrep rg tree md5sum sha1sum sha256sum cksum".split()
)
GIT = frozenset("status diff log show blame shortlog describe rev-parse ls-files ls-tree grep".split())

_RISKY: dict[str, tuple[str, ...]] = {
    "sort": ("-o", "--output", "--compress-program", "-T", "--temporary-directory"),
    "tree": ("-o", "-R"),
    "date": ("-s", "--set", "-f", "--file"),
    "file": ("-C", "--compile", "-f", "-m"),
    "rg": ("--pre", "-z", "--search-zip", "--hostname-bin", "-f", "--file"),
    "grep": ("-f", "--file"),
    "egrep": ("-f", "--file"),
    "fgrep": ("-f", "--file"),
    "du": ("--files0-from", "-X", "--exclude-from"),
    "wc": ("--files0-from",),
    "diff": ("--to-file", "--from-file"),
    "printf": ("-v",),
    "test": ("-v",),
    "git": (
        *("--output", "-o", "-O", "--open-files-in-pager", "--ext-diff", "--textconv", "--no-index", "-f", "--file"),
        *("-c", "-C", "--git-dir", "--work-tree", "--exec-path", "--config-env", "--contents", "--exclude-from", "-X"),
        *("--exclude-per-directory", "--show-signature"),
    ),
}
"""Options with which a program writes, runs another one (an array's subscript, for `-v`), or reads a file that is not
among its operands."""
_MAX_OPERANDS = 200
"""More are not looked at one by one."""


def is_read_only(command: SimpleCommand, may_read: Callable[[str], bool]) -> bool:
    """Return whether the command changes nothing and reads nothing outside.

    Args:
        may_read: tells of an operand, taken as a path, whether reading it needs no question.
    """
    words = command.words
    program = words[0]
    if not all(command.literal) or len(words) > _MAX_OPERANDS:
        return False  # a glob may name what must not be read
    operands = words[1:]
    if program == "git":
        if len(words) < 2 or words[1] not in GIT:
            return False
        operands = words[2:]
    elif program not in PROGRAMS:
        return False
    if program == "uniq" and sum(not word.startswith("-") for word in operands) > 1:
        return False  # the second operand is written
    if program == "date" and not all(word.startswith(("-", "+")) for word in operands):
        return False  # `date 01010000` sets the clock
    risky = _RISKY.get(program, ())
    return all(_is_harmless(word, risky, may_read) for word in operands)


def _is_harmless(word: str, risky: tuple[str, ...], may_read: Callable[[str], bool]) -> bool:
    if not word.startswith("-") or word == "-":
        return _may_read_all(word, may_read)
    name, _, value = word.partition("=")
    for option in risky:
        if option.startswith("--"):
            # an unambiguous beginning of a long option counts as the option (GNU getopt_long)
            if name.startswith("--") and len(name) > 2 and option.startswith(name):
                return False
        elif not word.startswith("--") and option[1] in word[1:]:
            return False
    return not value or _may_read_all(value, may_read)


def _may_read_all(operand: str, may_read: Callable[[str], bool]) -> bool:
    """Return whether an operand may be read as a path, and each part of it (`HEAD:.env`)."""
    return may_read(operand) and all(may_read(part) for part in re.split(r"[:=,]", operand) if part and part != operand)

"""Arguments with which a program does more than its name says: runs others, writes, works elsewhere.

A rule that names only the program does not allow these; one that names the argument does.
"""

from __future__ import annotations

import re

from core.policy.risky_options import GIT_COMMANDS, LETTERS, OPTIONS, VALUED
from core.policy.sed_script import is_harmless
from core.policy.shell_nested import EVALUATING, WRAPPERS, setting_of_program
from core.policy.shell_syntax import FoundCommand

_OUTER = WRAPPERS - {"find", "fd", "gdb", "screen", "tmux", "expect"}
"""Wrappers whose only work is to run what follows."""
_AWK = re.compile(r"system\s*\(|\||getline|>|@load|@include")
_PATTERN = re.compile(r"[A-Za-z_][\w.]*[:+?]?=")
_GIT_RUNS = {"bisect": "run", "submodule": "foreach", "filter-branch": "filter-branch"}
"""Commands of git's, and the words with which they run programs."""
_EXACT = frozenset("pytest cargo go rg fd bat fzf npm pnpm yarn delta ag".split())
"""Programs that take no beginnings of long options."""
_SED_OPTIONS = re.compile(r"-[nErsuz]+|--(?:quiet|silent|regexp-extended|separate|unbuffered|null-data|posix|debug)")


def find_side_effect(command: FoundCommand, named: int) -> str:
    """Return what an allowed command does beyond its name, in words; empty where it does nothing of the sort.

    Args:
        named: how many of its words the rule that allows it names.
    """
    program, words = command.program, command.words
    if program in _OUTER and all(_is_wrapping(word) for word in words[:named]) and len(words) > 1:
        return f"{program} runs another program, which no rule names"
    options = OPTIONS.get(program, ())
    for word in words[named:]:
        if word[:1] == "-" and (
            any(_is_option(word, option, program) for option in options) or _has_letter(word, program)
        ):
            return f"{word} makes {program} do more than the rule names"
        if setting_of_program(word):
            return f"{word} names a program to run"
        if program.endswith("awk") and (_AWK.search(word) or re.match(r"-[fEil]|--(?:f|e|i|l)", word)):
            return "its program runs others, or writes"
    if program in EVALUATING and any("[" in word and ("$(" in word or "`" in word) for word in words[1:]):
        return "a subscript is evaluated, and commands in it"
    if program in ("test", "[", "printf") and "-v" in words and any("[" in word for word in words[1:]):
        return "a subscript is evaluated, and commands in it"
    return _of_program(program, words, named)


def _of_program(program: str, words: tuple[str, ...], named: int) -> str:
    """Return the same for programs whose arguments must be understood."""
    more = words[named:]
    match program:
        case "git":
            return _of_git(words, named)
        case "sed" if not _sed_is_harmless(more):
            return "its script runs programs, or reads and writes files"
        case "make" | "gmake" if any(_PATTERN.match(word) for word in more):
            return "a variable of the makefile is set, and it may be run"
        case "tar" if more and named == 1 and re.fullmatch(r"[A-Za-z]+", more[0]) and set("IF") & set(more[0]):
            return f"{more[0]} makes tar do more than the rule names"
        case "less" | "more" | "vim" | "vi" | "view" | "nano" if any(word.startswith("+") for word in more):
            return f"{program} runs what stands behind +"
        case "sqlite3" if any(word.startswith(".") for word in more):
            return "commands of sqlite3 run programs, or write files"
        case "gcc" | "g++" | "cc" | "clang" if any(word.startswith(("-B", "@")) for word in more):
            return f"{program} takes programs or options from elsewhere"
        case "curl" if any(_names_file(word) for word in more):
            return "it sends or reads files of this machine"
    return ""


def _of_git(words: tuple[str, ...], named: int) -> str:
    more = words[named:]
    verb = words[1] if len(words) > 1 else ""
    if _GIT_RUNS.get(verb) in words[max(named, 1) :] or (verb == "filter-branch" and more):
        return f"git {verb} runs other programs"
    for word in more:
        if "ext::" in word:
            return f"{word} names a program to run"
    risky = GIT_COMMANDS.get(verb, ())
    for word in more if risky else ():
        if any(_is_option(word, option, "git") for option in risky):
            return f"{word} makes git {verb} do more than the rule names"
    operands = [word for word in words[2:] if not word.startswith("-")]
    if verb == "config" and more and (len(operands) > 1 or re.search(r"\s-(?:e|-edit|-add|-replace)", " ".join(words))):
        return "a setting of git's may name a program to run"
    return ""


def _sed_is_harmless(words: tuple[str, ...]) -> bool:
    scripts: list[str] = []
    is_script = False
    has_expression = any(re.match(r"-[nErsuz]*e|--exp", word) for word in words)
    for word in words:
        if is_script:
            scripts.append(word)
            is_script = False
        elif re.fullmatch(r"-[nErsuz]*e|--exp[a-z]*", word):
            is_script = True
        elif match := re.fullmatch(r"(?:-[nErsuz]*e|--exp[a-z]*=)(?P<script>.+)", word, re.DOTALL):
            scripts.append(match["script"])
        elif word.startswith("-") and len(word) > 1:
            if not _SED_OPTIONS.fullmatch(word):
                return False
        elif not has_expression and not scripts:
            scripts.append(word)
    return all(map(is_harmless, scripts))


def _names_file(word: str) -> bool:
    return (
        word.startswith("@")
        or "=@" in word
        or "=<" in word
        or "file:" in word.lower()
        or bool(re.match(r"(?:-d|--(?:data|json|url-query)[a-z-]*=?)@", word))
    )


def _is_wrapping(word: str) -> bool:
    return word.startswith("-") or "=" in word or word.rsplit("/", 1)[-1] in WRAPPERS


def _is_option(word: str, option: str, program: str) -> bool:
    if program == "go" and word.startswith("--"):
        word = word[1:]  # its flags take one dash or two
    if option.startswith("--"):
        name = word.partition("=")[0]
        # a beginning of a long option counts as the option (GNU getopt_long)
        return name == option or (
            name.startswith("--") and len(name) > 3 and option.startswith(name) and program not in _EXACT
        )
    if word.startswith("--"):
        return False
    if len(option) == 2 and (program in LETTERS or program in ("git", "npm", "pnpm", "make", "pytest", "cargo", "vim")):
        return word.startswith(option)
    return word == option or word.startswith(option + "=") or (len(option) == 3 and word.startswith(option))


def _has_letter(word: str, program: str) -> bool:
    """Return whether a cluster of option letters (`-xzf`) holds one that does more; a value may follow a letter."""
    letters = LETTERS.get(program, "")
    if not letters or len(word) < 2 or word[0] != "-" or word[1] == "-":
        return False
    for letter in word[1:]:
        if letter in letters:
            return True
        if letter in VALUED.get(program, ""):
            return False
    return False

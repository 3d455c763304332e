"""Arguments with which a program does more than its name says: runs others, writes, works elsewhere.

A rule that names only the program does not allow these; one that names the argument does.
"""

from __future__ import annotations

import re

from core.policy.shell_nested import WRAPPERS, setting_of_program
from core.policy.shell_syntax import FoundCommand

_OPTIONS: dict[str, tuple[str, ...]] = {
    "git": (
        *("-c", "-C", "--git-dir", "--work-tree", "--exec-path", "--config-env", "--namespace", "--output", "--exec"),
        *("-O", "--open-files-in-pager", "--upload-pack", "--receive-pack", "--ext-diff", "--textconv", "--template"),
    ),
    "npm": ("--prefix", "-C", "--script-shell", "--node-options", "--globalconfig", "--userconfig"),
    "pnpm": ("--dir", "-C", "--script-shell", "--shell-emulator"),
    "yarn": ("--cwd", "--script-shell"),
    "make": ("-f", "--file", "--makefile", "-C", "--directory", "--eval", "-I", "--include-dir"),
    "cargo": ("--config", "--manifest-path", "-C"),
    "go": ("-C", "-exec", "-toolexec", "-modfile", "-overlay"),
    "find": ("-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"),
    "fd": ("-x", "-X", "--exec", "--exec-batch"),
    "tar": (
        *(
            "--checkpoint-action",
            "--to-command",
            "-I",
            "--use-compress-program",
            "-F",
            "--info-script",
            "--rsh-command",
        ),
        *("--new-volume-script", "--rmt-command"),
    ),
    "rsync": ("-e", "--rsh", "--rsync-path"),
    "ssh": ("-o", "-F"),
    "scp": ("-o", "-F", "-S"),
    "sort": ("-o", "--output", "--compress-program"),
    "tree": ("-o", "-R"),
    "date": ("-s", "--set"),
    "rg": ("--pre", "--hostname-bin"),
    "curl": ("-K", "--config", "-o", "--output", "-O", "--remote-name"),
    "wget": ("-O", "--output-document", "--use-askpass", "-e", "--execute", "--config"),
    "zip": ("-TT", "--unzip-command"),
    "man": ("-P", "--pager", "-H", "--html"),
    "less": ("-o", "-O", "-k", "--lesskey-file"),
    "vim": ("-c", "--cmd", "-S", "-u"),
}
_CLUSTERED = frozenset("git sort tar tree fd make npm pnpm rsync ssh scp curl wget man less".split())
"""Programs whose option letters may have their value behind them (`-Ovim`)."""
_OUTER = WRAPPERS - {"find", "fd", "gdb", "screen", "tmux", "expect"}
"""Wrappers whose only work is to run what follows."""
_AWK = re.compile(r"system\s*\(|\||getline|>|@load|@include")
_SED = re.compile(r"(?:^|[;{}\d$/!,\s])[eErRwW](?:\s|$)|/[gpiIm\d]*[ew][gpiIm\d]*(?:\s|;|$)")


def find_side_effect(command: FoundCommand, named: int) -> str:
    """Return what an allowed command does beyond its name, in words; empty where it does nothing of the sort.

    Args:
        named: how many of its words the rule that allows it names.
    """
    program = command.program
    if program in _OUTER and all(_is_wrapping(word) for word in command.words[:named]) and len(command.words) > 1:
        return f"{program} runs another program, which no rule names"
    options = _OPTIONS.get(program, ())
    for word in command.words[named:]:
        if any(_is_option(word, option, program) for option in options):
            return f"{word} makes {program} do more than the rule names"
        if setting_of_program(word):
            return f"{word} names a program to run"
        if program.endswith("awk") and _AWK.search(word):
            return "its program runs others, or writes"
        if program == "sed" and not word.startswith("--") and _SED.search(word):
            return "its script runs programs, or reads and writes files"
    if program in ("test", "[", "printf") and "-v" in command.words and any("[" in word for word in command.words[1:]):
        return "a subscript is evaluated, and commands in it"
    return ""


def _is_wrapping(word: str) -> bool:
    return word.startswith("-") or "=" in word or word.rsplit("/", 1)[-1] in WRAPPERS


def _is_option(word: str, option: str, program: str) -> bool:
    if option.startswith("--"):
        name = word.partition("=")[0]
        # a beginning of a long option counts as the option (GNU getopt_long)
        return name.startswith("--") and len(name) > 3 and option.startswith(name)
    if word.startswith("--"):
        return False
    if len(option) == 2 and program in _CLUSTERED:
        return word.startswith(option)
    return word == option or word.startswith(option + "=")

"""Random shell texts, most of them nearly plain, and a real bash that says what it ran of them."""

from __future__ import annotations

import os
import random
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

ALLOWED = ("git status", "echo", "npm test", "true")
"""Prefixes that the fuzzed policy allows; everything else is a payload."""
_PLAIN = ("git status", "git status -s", "npm test", "echo a b", "true", "echo 'x y'", 'npm test "a b"', "git  status")
_PAYLOADS = ("touch PWNED", "git push", "git", "npm", "cat f", "eval 'touch PWNED'", "cd d", "exec touch PWNED", ": x")
_GLUE = (" && ", " || ", "; ", " | ", "\n", ";", "&&", "||", "|", " & ", "&", "\n\n", " |& ", " ; \n", "\t", " ")
_PIECES = (
    *("'", '"', "\\", "`", "$", "$(", ")", "(", "${", "}", "{", "{a,b}", "$'", '$"', "#", " # ", "!", " ! ", "~"),
    *("*", "?", "[a]", "=", "A=1 ", "PATH=. ", ">", ">>", "<", "<<", "<<<", "<(", ">(", ">/dev/null", "2>&1"),
    *("> /dev/null ", "2>/dev/null", ">&2", "1>&2", " >/dev/null2", "&>", ">|", "<>", "\\\n", "\\ ", "\r"),
    *("\r\n", "\v", "\f", "\x00", "\x1b", "\u00a0", "\u2003", "\u200b", "\u2028", "\u0301", "\u0456", "\ufeff"),
    *("\u202e", "\x85", "if ", "then ", "fi", "do ", "done", "while ", "for x in ", "case x in ", "esac", "{ "),
    *(" }", "[[ ", " ]]", "((", "))", "time ", "coproc ", "!", "function f ", "f() ", "$x", "${x}", "$((1))"),
    *("$?", "$@", "-x", "--", "a=b", "x", "1", "é", "'a'", '"b"', "''", "EOF", "touch PWNED", "touch", "PWNED"),
    *("eval ", "env ", "command ", "git", " status", "echo", "npm", " test", "true", "=(", "<<EOF\n", "\nEOF\n"),
    *("|&", ";;", ";&", "&&&", "||&", "^", "%", "@", ":", ",", ".", "..", "/", "./", "+=", "a[0]=1 "),
)  # fmt: skip


def shell_texts(seed: int, count: int) -> Iterator[str]:
    """Yield texts; the same ones for the same seed."""
    chance = random.Random(seed)
    for _ in range(count):
        yield _soup(chance) if chance.random() < 0.35 else _mutated(chance)


def _soup(chance: random.Random) -> str:
    return "".join(chance.choice(_PIECES) for _ in range(chance.randint(1, 9)))


def _mutated(chance: random.Random) -> str:
    """Return a chain of mostly allowed commands with something spliced in, left out or doubled."""
    text = chance.choice(_PLAIN)
    for _ in range(chance.choice((0, 0, 1, 1, 2, 4))):
        following = _PLAIN if chance.random() < 0.8 else _PAYLOADS
        text += chance.choice(_GLUE) + chance.choice(following)
    for _ in range(chance.choice((0, 1, 1, 1, 2, 3))):
        at = chance.randint(0, len(text))
        kind = chance.random()
        if kind < 0.7:
            text = text[:at] + chance.choice(_PIECES) + text[at:]
        elif kind < 0.85:
            text = text[:at] + text[at + chance.randint(1, 3) :]
        else:
            text = text[:at] + text[max(0, at - 4) : at] + text[at:]
    return text


class TracedBash:
    """Runs texts in bash, in a scratch folder, with programs that do nothing, and says what they ran.

    A context manager. bash's own trace (`set -x`) is what is believed, and the folder's content afterwards.
    """

    def __init__(self) -> None:
        self._bash = shutil.which("bash")

    @property
    def is_there(self) -> bool:
        return self._bash is not None

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory()
        self._root = Path(self._folder.name)
        programs = self._root / "programs"
        programs.mkdir()
        for name in ("git", "npm", "touch", "cat", "env", "rm"):
            program = programs / name
            program.write_text('#!/bin/sh\n[ ${0##*/} = touch ] && : > "$1"\nexit 0\n')
            program.chmod(0o755)
        self._home = self._root / "home"
        (self._home / "d").mkdir(parents=True)
        for name in ("a", "push", "status"):
            (self._home / name).touch()
        self._before = sorted(os.listdir(self._home))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._folder.cleanup()

    def violation(self, text: str) -> str:
        """Return what ran that no allowed prefix covers, or what was left behind; empty if all is well."""
        assert self._bash is not None
        log = self._root / "trace"
        with open(log, "wb") as trace:
            number = trace.fileno()
            prologue = f"PS4=$'\\001'; BASH_XTRACEFD={number}; set -x\n"
            subprocess.run(
                [self._bash, "--norc", "--noprofile", "-c", prologue + text],
                cwd=self._home,
                env={"PATH": str(self._root / "programs"), "HOME": str(self._home), "LC_ALL": "C.UTF-8"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(number,),
                timeout=20,
                check=False,
            )
        after = sorted(os.listdir(self._home))
        if after != self._before:
            for name in set(after) - set(self._before):
                os.remove(self._home / name)
            return f"left behind: {sorted(set(after) ^ set(self._before))}"
        for record in log.read_text(encoding="utf-8").split("\1"):
            if record.strip() and not _is_allowed(record.rstrip("\n")):
                return f"ran: {record!r}"
        return ""


def _is_allowed(record: str) -> bool:
    try:
        words = shlex.split(record)
    except ValueError:
        return False
    return any(words[: len(prefix.split())] == prefix.split() for prefix in ALLOWED)

"""Commands inside of commands: what wrappers run, what shells are given as text, what interpreters may call.

It works on words alone; reading a text that it names is the reader's part.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.policy.shell_syntax import FoundCommand

WRAPPERS = frozenset(
    "env sudo doas command builtin exec nohup nice ionice renice time timeout stdbuf setsid xargs watch parallel strace"
    " ltrace perf valgrind gdb chroot unshare nsenter flock script npx bunx pipx uvx busybox toybox find fd ssh su"
    " runuser coproc chrt taskset numactl setarch linux32 linux64 setpriv capsh prlimit unbuffer expect rlwrap entr"
    " fakeroot eatmydata firejail bwrap proot systemd-run systemd-inhibit pkexec gosu su-exec sg runcon cgexec"
    " daemonize start-stop-daemon dbus-run-session xvfb-run catchsegv torsocks torify proxychains proxychains4"
    " hyperfine chpst softlimit envdir direnv dotenv ld.so ld-linux-x86-64.so.2 nodemon mpirun tmux screen"
    " caffeinate arch !".split()
)
"""Programs that run other programs named in their arguments (and a word after which a command may stand)."""
SHELLS = frozenset(
    "sh bash rbash dash zsh ksh mksh ash yash fish tcsh csh pwsh eval source . trap alias at batch".split()
)
"""Programs whose arguments are shell text, or that read it."""
_BUILTINS = frozenset("eval source . trap alias".split())
"""Those of them that no program runs: `.` among the arguments of `find` is a directory."""
_BEFORE_BUILTINS = frozenset("command builtin time coproc !".split())
INTERPRETERS = frozenset(
    "python perl ruby node nodejs php lua awk gawk mawk nawk sed deno bun make gmake ninja tclsh wish R Rscript julia"
    " expect ed ex vi vim nvim emacs m4 osascript ghci irb ipython jshell groovy scala swift guile sqlite psql mysql"
    " gnuplot dc bc jq yq docker podman kubectl".split()
)
"""Programs that run code, or commands, that they are given."""
EVALUATING = frozenset(
    "let test [ [[ printf declare typeset local export readonly read unset mapfile readarray wait".split()
)
"""Builtins that evaluate array subscripts, and the commands in them (bash manual, 6.5 "Shell Arithmetic")."""
_TEXT_OPTIONS = frozenset("-x --exec --extcmd foreach run -C -F -e --rsh --command -c -qc -ec -lc".split())
_SETS_PROGRAM = re.compile(r"(?i)(?:command|exec|program|cmd|action|pager|editor|shell|alias\.[^=]*)=!?")
_PROGRAM_VARIABLE = re.compile(r"(?i)command|pager|editor|shell|cmd|exec|prompt|askpass|bash_env|ps4")
_CODE_TOKEN = re.compile(r"[\w./+-]+")

SEEN = 16
"""Words of a wrapped command that are kept: rules have fewer."""
_MAX_TOKENS = 2_000


def is_interpreter(program: str) -> bool:
    """Return whether a program runs code that it is given, whatever its version (`python3.11`)."""
    return program.rstrip("0123456789.") in INTERPRETERS


def runs_anything(program: str) -> bool:
    """Return whether allowing a program would allow every other one."""
    return program in WRAPPERS or program in SHELLS or is_interpreter(program) or program in ("git-shell", "tee", "dd")


def sets_program(name: str) -> bool:
    """Return whether an environment variable of that name is often run as a command."""
    return _PROGRAM_VARIABLE.search(name) is not None


def setting_of_program(word: str) -> bool:
    """Return whether a word sets what program is run for something: `core.pager=x`, `--checkpoint-action=exec=x`."""
    return _SETS_PROGRAM.search(word) is not None


def nested(command: FoundCommand) -> Iterator[FoundCommand | str]:
    """Yield the commands that a command may run, and the texts that it may run as shell text."""
    words, program = command.words, command.program
    if command.words[0].startswith("\\"):
        yield FoundCommand((command.words[0].lstrip("\\"), *command.words[1:]), command.open, derived=True)
    if program in SHELLS:
        yield from _shell_texts(command)
    elif program in WRAPPERS:
        yield from _wrapped(command)
    else:
        for at, word in enumerate(words[1:-1], 1):
            if word in ("--", "run", "exec", "dlx", "x"):
                yield command.starting_at(at + 1, SEEN)
    if program in EVALUATING:
        yield from (word for word in words[1:] if "$(" in word or "`" in word)
    if is_interpreter(program):
        yield from _called_from_code(command)
    for before, word in zip(words, words[1:], strict=False):
        for match in _SETS_PROGRAM.finditer(word):
            yield word[match.end() :]
            if program == "git":  # an alias that does not begin with `!` names a command of git's
                yield f"git {word[match.end() :]}"
        if before in _TEXT_OPTIONS and any(char.isspace() for char in word) and program != "echo":
            yield word


def _shell_texts(command: FoundCommand) -> Iterator[str]:
    operands = command.words[1:]
    if command.program == "alias":
        yield from (word.partition("=")[2] for word in operands)
        return
    yield " ".join(operands)  # `eval` joins its arguments
    yield from (word for word in operands if not word.startswith("-"))


def _wrapped(command: FoundCommand) -> Iterator[FoundCommand | str]:
    feeds = command.program in ("xargs", "parallel")
    seen_shell = False
    for start in range(1, len(command.words)):
        word = command.words[start]
        if any(char.isspace() for char in word) or seen_shell:
            yield word
            if word.startswith("-"):
                yield word.partition("=")[2] or word[2:]
        if word.startswith("-"):
            continue
        if word in _BUILTINS and command.program not in _BEFORE_BUILTINS:
            continue
        inner = command.starting_at(start, SEEN)
        if feeds:  # more words come from its input
            inner = FoundCommand((*inner.words, ""), (*inner.open, True), derived=True)
        yield inner
        name = inner.program
        seen_shell = seen_shell or name in SHELLS
        if is_interpreter(name):
            yield from _called_from_code(command.starting_at(start))


def _called_from_code(command: FoundCommand) -> Iterator[FoundCommand | str]:
    """Yield what may be a command inside of program text: `system("git push")`, `["git", "push"]`."""
    for word in command.words[1:]:
        if len(word) < 3 or not re.search(r"[\s'\"(\[=]", word):
            continue
        tokens = tuple(_CODE_TOKEN.findall(word)[:_MAX_TOKENS])
        for start in range(len(tokens)):
            part = tokens[start : start + SEEN]
            yield FoundCommand(part, (False,) * len(part), derived=True)

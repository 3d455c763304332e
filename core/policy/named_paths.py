"""Which words of a command name files with sensitive names, as far as reading the words goes.

A doubt counts as a file: the answer is a question to the user, never a refusal.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterable, Iterator

from core.policy.places import PathJudge
from core.policy.shell_nested import is_interpreter
from core.policy.shell_syntax import FoundCommand
from core.workspace.sensitive import SOFT_PATTERNS, matching_pattern

_PIECES = re.compile(r"[=:,@\"'\s()\[\]{}<>;|&!]+")
_TEXT_PROGRAMS = frozenset({"echo", "printf", "true", "false", ":", "alias", "trap"})
"""Programs that open none of their arguments."""
_TEXT_FIRST = frozenset(
    "grep egrep fgrep rg ag ack git npm pnpm yarn make cargo go pytest tox nox gh sed awk jq docker kubectl".split()
)
"""Programs of whose words many are no paths: a bare word counts as one only if it is there."""
_LEFT_OUT = re.compile(r"--?(?:exclude|ignore|prune|not)\b|-?-exclude-")
_TESTS = frozenset("-name -iname -path -ipath -wholename -iwholename -lname".split())
_ACTIONS = frozenset("-exec -execdir -ok -okdir -delete".split())
_MOVES = frozenset({"cd", "pushd"})
_RECURSIVE = {
    "rg": "",
    "ag": "",
    "ack": "",
    "tar": "",
    "grep": "rR",
    "egrep": "rR",
    "fgrep": "rR",
    "diff": "r",
    "cp": "rRa",
    "zip": "r",
    "scp": "r",
    "rsync": "ra",
}
"""Programs that read whole directories: by themselves (empty), or with one of these options."""
_SEARCHERS = frozenset("rg ag ack grep egrep fgrep".split())
_GLOB = re.compile(r"[*?\[]")
_MAX_GLOB_ENTRIES = 5_000
_LONGEST = 4_096
"""Characters of a path."""


class NamedPaths:
    """Looks for sensitive names in one command line.

    Args:
        base: the directory in which it runs.
        granted: words that a rule of the user's names, and so has approved.
    """

    def __init__(self, judge: PathJudge, base: str = "", granted: frozenset[str] = frozenset()) -> None:
        self._judge = judge
        self._base = base
        self._granted = granted
        self._patterns: dict[str, str] = {}
        self._moves = False

    def find(self, commands: Iterable[FoundCommand], targets: Iterable[str] = ()) -> str:
        """Return what is named that is sensitive, in words; empty where nothing is.

        Args:
            targets: the files of redirections.
        """
        found = list({command.words: command for command in commands}.values())
        self._moves = any(command.program in _MOVES for command in found)
        for target in targets:
            if pattern := self._pattern_of(target):
                return _in_words(target, pattern)
        for command in found:
            if problem := self._find_in(command):
                return problem
        return ""

    def _find_in(self, command: FoundCommand) -> str:
        if command.program in _TEXT_PROGRAMS:
            return ""
        for at, word in enumerate(() if command.derived else command.words):
            if word in self._granted or _is_left_out(command, at):
                continue
            if command.open[at] and (problem := self._judge_glob(word)):
                return problem
            if problem := self._judge_word(command.program, word, is_program=at == 0):
                return problem
        for directory in self._directories_read(command):
            if below := self._judge.sensitive_below(directory, self._base, hidden=_reads_hidden(command)):
                return f"{below} (it reads all that lies below {directory})"
        return ""

    def _judge_word(self, program: str, word: str, *, is_program: bool) -> str:
        is_text = is_interpreter(program) or any(char.isspace() for char in word)
        for piece in _pieces(word):
            pattern = self._pattern_of(piece)
            if not pattern or (pattern == "node_modules" and is_program):
                continue
            is_bare = "/" not in piece and "." not in piece and ":" not in word
            is_doubtful = is_text or (is_bare and program in _TEXT_FIRST and not self._moves)
            is_common = pattern in SOFT_PATTERNS or (is_text and pattern in ("*.key", "*.pem"))
            if not (is_common and is_doubtful) or self._judge.exists(piece, self._base):
                return _in_words(piece, pattern)
        return ""

    def _pattern_of(self, piece: str) -> str:
        if not piece or piece.startswith("--") or len(piece) >= _LONGEST or "\0" in piece:
            return ""
        if piece not in self._patterns:
            self._patterns[piece] = self._judge.pattern_of(piece, self._base)
        return self._patterns[piece]

    def _judge_glob(self, word: str) -> str:
        """Return a sensitive file that a glob may match; a leading dot needs one in the pattern (bash)."""
        if not _GLOB.search(word):
            return ""
        head, _, last = word.rpartition("/")
        if any(part.startswith(".") and fnmatch.fnmatchcase(".env", part) for part in word.split("/")):
            return f"{word} (may match '.env')"
        if _GLOB.search(head):
            return self._judge.sensitive_below(_fixed_part(word), self._base)
        directory = self._judge.resolve(head or ("/" if word.startswith("/") else "."), self._base)
        try:
            names = os.listdir(directory) if directory else []
        except OSError:
            names = []
        if len(names) > _MAX_GLOB_ENTRIES:
            return f"{word} (too many files to look through)"
        for name in names:
            hidden = name.startswith(".") and not last.startswith((".", "["))
            if not hidden and matching_pattern(name) and fnmatch.fnmatchcase(name, last):
                path = os.path.join(head, name)
                if pattern := self._pattern_of(path):
                    return _in_words(path, pattern)
        return ""

    def _directories_read(self, command: FoundCommand) -> list[str]:
        letters = _RECURSIVE.get(command.program)
        if letters is None:
            return []
        options = [word for word in command.words[1:] if word.startswith("-") and word != "-"]
        if letters and not any(_is_recursive(option, letters) for option in options):
            return []
        operands = [word for word in command.words[1:] if not word.startswith("-")]
        places = [word for word in operands if self._judge.exists(word, self._base)]
        return places or (["."] if command.program in _SEARCHERS else [])


def _in_words(path: str, pattern: str) -> str:
    return f"{path} (its name matches '{pattern}')"


def _is_recursive(option: str, letters: str) -> bool:
    if option.startswith("--"):
        return option.startswith(("--rec", "--arch", "--deref"))
    return any(letter in option for letter in letters)


def _pieces(word: str) -> Iterator[str]:
    """Yield what of a word may be a path: all of it, and what stands between `=`, `:`, `,`, `@` and quotes."""
    plain = word[2:] if re.match(r"-[A-Za-z][./~\w]", word) else ""  # the value of a short option: -f.env
    seen = {"", ".", ".."}
    for piece in (word, plain, *_PIECES.split(word[:20_000])):
        if piece not in seen and len(piece) < _LONGEST:
            seen.add(piece)
            yield piece


def _reads_hidden(command: FoundCommand) -> bool:
    """Return whether a recursive program looks at names with a dot: ripgrep and ag do only when told."""
    if command.program not in ("rg", "ag"):
        return True
    return any(word.startswith(("-u", "--hid", "--no-ig", "--unr", "-.", "-a")) for word in command.words[1:])


def _is_left_out(command: FoundCommand, at: int) -> bool:
    """Return whether a word says what is not to be read, or what names to look for without reading."""
    words = command.words
    if _LEFT_OUT.match(words[at]):
        return True
    before = words[at - 1] if at else ""
    if command.program == "find" and before in _TESTS:
        return words[at - 2] in ("!", "-not") or not _ACTIONS.intersection(words)
    return "=" not in before and _LEFT_OUT.match(before) is not None


def _fixed_part(word: str) -> str:
    """Return the directory in which all that a glob matches lies."""
    parts = []
    for part in word.split("/")[:-1]:
        if _GLOB.search(part):
            break
        parts.append(part)
    return "/".join(parts) or ("/" if word.startswith("/") else ".")

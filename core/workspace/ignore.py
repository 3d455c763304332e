"""Which files are ignored: git says it where it can be asked, and rule files on top of that.

Outside of repositories `.gitignore` files are read with git's own rules (gitignore(5)): deeper files and later lines
win, and nothing below an ignored directory comes back.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.workspace.git import GitFailed, ask_git, can_ask_git

OWN_FILES = (".stetignore", ".geminiignore")
"""Rule files on top of git's, with the same syntax."""
_MAX_RULE_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Filtering:
    """Which rules to respect."""

    git: bool = True
    own: bool = True


ALL_RULES = Filtering()


class RuleFile:
    """The lines of one ignore file. Lines that git would not understand are passed over."""

    def __init__(self, lines: Iterable[str]) -> None:
        from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern  # late: only needed where rules are

        self._patterns = []
        for line in lines:
            try:
                pattern = GitIgnoreSpecPattern(line)
            except (ValueError, re.error):
                continue
            if pattern.regex is not None:
                self._patterns.append(pattern)

    def decide(self, relative: str) -> bool | None:
        """Return whether a path (relative to the file's directory; a directory ends in `/`) is ignored itself.

        None: no line says anything about it. Parents are not looked at.
        """
        for pattern in reversed(self._patterns):
            assert pattern.regex is not None
            if _matches_itself(pattern.regex, relative):
                return pattern.include
        return None


def _matches_itself(regex: re.Pattern[str], relative: str) -> bool:
    """Return whether a pattern means this very path: pathspec's expressions also match all that lies below it."""
    has_slash_group = "ps_d" in regex.groupindex
    if not regex.pattern.startswith("^"):  # `*` and `*/`, which pathspec writes shorter
        return relative.endswith("/") or not has_slash_group
    if has_slash_group:
        return regex.fullmatch(relative) is not None
    return regex.match(relative.rstrip("/")) is not None  # `x/**`, which means only what lies below


def read_rules(path: str) -> RuleFile | None:
    """Return the rules of an ignore file; none where it is missing, empty, or no regular file."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        data = os.read(fd, _MAX_RULE_BYTES)
    except OSError:
        return None
    finally:
        os.close(fd)
    lines = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape").splitlines()
    return RuleFile(lines) if lines else None


class RuleTree:
    """Ignore files of a directory tree, read when they are needed.

    Args:
        root: the directory below which rule files count.
        names: their file names.
    """

    def __init__(self, root: str, names: Sequence[str]) -> None:
        self._root = root
        self._names = names
        self._rules: dict[str, list[RuleFile]] = {}
        self._standing: dict[str, bool | None] = {}
        """For each directory, whether all that lies in it is ignored; none where rules must be asked for each file."""

    def is_ignored(self, relative: str, *, is_directory: bool = False) -> bool:
        """Return whether a path relative to the root is ignored, itself or with a parent."""
        parent = relative.rpartition("/")[0]
        if parent not in self._standing:
            self._standing[parent] = self._stand(parent)
        known = self._standing[parent]
        if known is not None:
            return known
        return self._decide(relative + "/" if is_directory else relative)

    def may_ignore_in(self, directory: str) -> bool:
        """Return whether any rule could ignore something that lies directly in a directory."""
        if directory not in self._standing:
            self._standing[directory] = self._stand(directory)
        return self._standing[directory] is not False

    def ignored_among(self, relatives: Iterable[tuple[str, bool]]) -> set[str]:
        """As `is_ignored`, for paths each with whether it is a directory."""
        standing = self._standing
        ignored = set()
        for path, is_directory in relatives:
            known = standing.get(path.rpartition("/")[0])
            if known is not False and self.is_ignored(path, is_directory=is_directory):
                ignored.add(path)
        return ignored

    def _stand(self, directory: str) -> bool | None:
        above: bool | None = False
        if directory:
            parent = directory.rpartition("/")[0]
            if parent not in self._standing:
                self._standing[parent] = self._stand(parent)
            above = self._standing[parent]
        if above or (above is None and self._decide(directory + "/")):
            return True
        return None if above is None or self._of(directory) else False

    def _decide(self, relative: str) -> bool:
        directory = relative.rstrip("/").rpartition("/")[0]
        while True:
            below = relative[len(directory) + 1 :] if directory else relative
            for rules in self._of(directory):
                decision = rules.decide(below)
                if decision is not None:
                    return decision
            if not directory:
                return False
            directory = directory.rpartition("/")[0]

    def _of(self, directory: str) -> list[RuleFile]:
        rules = self._rules.get(directory)
        if rules is None:
            paths = (os.path.join(self._root, directory, name) for name in self._names)
            rules = [found for found in map(read_rules, paths) if found is not None]
            self._rules[directory] = rules
        return rules


class IgnoreRules:
    """The rules for one directory tree as they stand now; make a new one for each question of a tool's.

    Args:
        root: a workspace directory.
    """

    def __init__(self, root: str, filtering: Filtering = ALL_RULES) -> None:
        self.root = root
        self.filtering = filtering
        self._own = RuleTree(root, OWN_FILES) if filtering.own else None
        self._git_rules: RuleTree | None = None

    def own_ignores(self, relative: str, *, is_directory: bool = False) -> bool:
        """Return whether `.stetignore` or `.geminiignore` ignores a path relative to the root."""
        return self._own is not None and self._own.is_ignored(relative, is_directory=is_directory)

    def git_rules_ignore(self, relative: str, *, is_directory: bool = False) -> bool:
        """As git would decide, from the `.gitignore` files alone: for trees where git can't be asked."""
        return self.filtering.git and self._rules_of_git().is_ignored(relative, is_directory=is_directory)

    def ignores(self, relative: str, *, is_directory: bool = False) -> bool:
        """Return whether any rule file ignores a path: for trees where git can't be asked."""
        return self.own_ignores(relative, is_directory=is_directory) or self.git_rules_ignore(
            relative, is_directory=is_directory
        )

    def may_ignore_in(self, directory: str) -> bool:
        """Return whether any rule file could ignore something that lies directly in a directory."""
        if self._own is not None and self._own.may_ignore_in(directory):
            return True
        return self.filtering.git and self._rules_of_git().may_ignore_in(directory)

    def _rules_of_git(self) -> RuleTree:
        if self._git_rules is None:
            self._git_rules = RuleTree(self.root, (".gitignore",))
        return self._git_rules

    def ignored_among(self, relatives: Sequence[tuple[str, bool]]) -> set[str]:
        """Return which of the paths (relative to the root, and whether each is a directory) are ignored."""
        ignored = self._own.ignored_among(relatives) if self._own is not None else set()
        if not self.filtering.git:
            return ignored
        asked = self._ask_git([path for path, _ in relatives])
        if asked is not None:
            return ignored | asked
        return ignored | self._rules_of_git().ignored_among(relatives)

    def _ask_git(self, relatives: Sequence[str]) -> set[str] | None:
        if not can_ask_git(self.root):
            return None
        given = b"".join(os.fsencode(path) + b"\0" for path in relatives)
        try:
            answer = ask_git(self.root, ["check-ignore", "-z", "--stdin"], given, accept=(0, 1))
        except GitFailed:  # for instance a path inside a nested repository
            return None
        return {os.fsdecode(path) for path in answer.split(b"\0") if path}

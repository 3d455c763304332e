"""Searching the contents of files: an engine names candidates, the guard opens them, one matcher decides.

So every engine gives the same result, nothing outside of the workspace is read, and no expression can hang us.
"""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from core.contract.errors import ToolErrorType, ToolFailure
from core.workspace.batch import BatchReader
from core.workspace.candidates import Candidates
from core.workspace.encoding import SNIFFED_BYTES, decode, is_binary
from core.workspace.engines import Engine
from core.workspace.ignore import ALL_RULES, Filtering
from core.workspace.listing import Stop
from core.workspace.matcher import LineMatcher, PatternTooSlow, SearchStopped
from core.workspace.paths import WorkspacePath
from core.workspace.workspace import Workspace

_BATCH_BYTES = 1_000_000
MAX_MATCHES = 100
MAX_SEARCHED_BYTES = 20 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """What to look for, in one directory."""

    pattern: str
    include: str = ""
    """A glob of files, by name alone unless it holds a `/`."""
    exclude: str = ""
    """An expression; lines that match it don't count."""
    case_sensitive: bool = False
    fixed: bool = False
    """The pattern is no expression but a string."""
    before: int = 0
    after: int = 0
    per_file: int = 0
    """Most matches of one file; 0 for no limit."""
    total: int = MAX_MATCHES
    """Most matches (files, for `names_only`) altogether."""
    names_only: bool = False
    filtering: Filtering = ALL_RULES

    @property
    def expression(self) -> str:
        return re.escape(self.pattern) if self.fixed else self.pattern


@dataclass(frozen=True, slots=True)
class FileMatches:
    """The matches of one file."""

    path: str
    """Relative to the searched directory."""
    numbers: tuple[int, ...]
    """1-based lines that match."""
    lines: dict[int, str]
    """Those lines and their context, by number, in order."""


@dataclass(slots=True)
class SearchOutcome:
    files: list[FileMatches] = field(default_factory=list)
    total: int = 0
    is_limited: bool = False
    """There may be more than `total`."""
    notes: list[str] = field(default_factory=list)
    """What was left out and why, as sentences."""


def check_expression(text: str) -> None:
    """Refuse an expression that Python's `re` can't read.

    Raises:
        ToolFailure: invalid_pattern.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise ToolFailure(
            ToolErrorType.INVALID_PATTERN,
            f"Invalid regular expression: {text} ({error})",
            "Use Python's syntax, or set fixed_strings to search for it as it stands.",
        ) from error


def search(
    workspace: Workspace,
    directory: WorkspacePath,
    query: SearchQuery,
    stop: Stop | None = None,
    engine: Engine | None = None,
) -> SearchOutcome:
    """Search the files below a directory, in the order of their paths.

    Raises:
        ToolFailure: invalid_pattern, search_path_not_found …
    """
    stop = Stop() if stop is None else stop
    check_expression(query.expression)
    if query.exclude:
        check_expression(query.exclude)
    outcome = SearchOutcome()
    limit = min(query.per_file or query.total + 1, query.total + 1)
    with (
        LineMatcher(
            query.expression,
            ignore_case=not query.case_sensitive,
            exclude=query.exclude,
            limit=1 if query.names_only else limit,
            stop=stop,
        ) as matcher,
        BatchReader(workspace, MAX_SEARCHED_BYTES) as reader,
    ):
        candidates = Candidates(workspace, directory, query, matcher.clues, stop, engine, MAX_SEARCHED_BYTES)
        run = _Search(workspace, reader, directory, query, matcher, outcome, stop)
        try:
            with contextlib.closing(iter(candidates)) as batches:
                for paths in batches:
                    if not run.through(paths):
                        break
        except PatternTooSlow:
            outcome.notes.append("The pattern is too slow: the search was stopped. Write it without nested repeats.")
        except SearchStopped:
            pass
    outcome.notes = [*candidates.notes, *outcome.notes]
    if stop.is_late or candidates.is_late:
        outcome.notes.append("The time limit was reached: there may be more matches. Narrow the path or the pattern.")
    return outcome


class _Search:
    """One search, going through files."""

    def __init__(
        self,
        workspace: Workspace,
        reader: BatchReader,
        directory: WorkspacePath,
        query: SearchQuery,
        matcher: LineMatcher,
        outcome: SearchOutcome,
        stop: Stop,
    ) -> None:
        self._workspace = workspace
        self._reader = reader
        self._directory = directory
        self._query = query
        self._matcher = matcher
        self._outcome = outcome
        self._stop = stop

    def through(self, paths: Sequence[str]) -> bool:
        """Add the matches of some files; false when enough were found or it was stopped.

        Files are read while the matcher is at work on those before.
        """
        given: list[tuple[str, str]] = []
        answer: Callable[[], list[list[int]]] | None = None
        for batch in self._batches(paths):
            if self._stop.is_set:
                return False
            if answer is not None and not self._take(given, answer()):
                return False
            given, answer = batch, self._matcher.submit([text for _, text in batch])
        return answer is None or self._take(given, answer())

    def _take(self, given: list[tuple[str, str]], found: list[list[int]]) -> bool:
        query, outcome = self._query, self._outcome
        for (path, text), numbers in zip(given, found, strict=True):
            if not numbers:
                continue
            room = query.total - outcome.total
            if room <= 0 or len(numbers) > room:
                outcome.is_limited = True
            if room <= 0:
                return False
            kept = tuple(numbers[:room])
            outcome.total += len(kept)
            outcome.files.append(FileMatches(path, kept, excerpt(text, kept, query.before, query.after)))
        return True

    def _batches(self, paths: Sequence[str]) -> Iterator[list[tuple[str, str]]]:
        batch: list[tuple[str, str]] = []
        size = 0
        for path in paths:
            text = self._read_text(path)
            if text is None:
                continue
            batch.append((path, text))
            size += len(text)
            if size >= _BATCH_BYTES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _read_text(self, path: str) -> str | None:
        """Return a file's text with line feeds alone; none for binary files and those that can't be read."""
        try:
            text = decode(self._reader.read_listed(self._directory, path)).text
        except ToolFailure as failure:
            if failure.type is ToolErrorType.FILE_TOO_LARGE and not self._is_binary(path):
                shown = self._directory.below(path).shown
                self._outcome.notes.append(f"{shown} is too large and was not searched.")
            return None
        return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text

    def _is_binary(self, path: str) -> bool:
        try:
            return is_binary(self._workspace.read_head(self._directory.below(path), SNIFFED_BYTES))
        except ToolFailure:
            return True


def excerpt(text: str, numbers: Sequence[int], before: int, after: int) -> dict[int, str]:
    """Return the lines with these numbers and their neighbours, by number, in order."""
    lines = text.split("\n")
    last = len(lines) - 1 if lines[-1] == "" else len(lines)
    wanted: dict[int, str] = {}
    for number in numbers:
        for near in range(max(1, number - before), min(max(last, number), number + after) + 1):
            wanted.setdefault(near, lines[near - 1])
    return dict(sorted(wanted.items()))

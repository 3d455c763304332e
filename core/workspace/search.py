"""Searching the contents of files: an engine narrows the list, the guard opens, one matcher decides.

So every engine gives the same result, nothing outside of the workspace is read, and no expression can hang us.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from core.contract.errors import ToolErrorType, ToolFailure
from core.workspace.encoding import SNIFFED_BYTES, decode, is_binary
from core.workspace.engines import Engine, available_engine, narrow
from core.workspace.globbing import compile_glob
from core.workspace.ignore import ALL_RULES, Filtering
from core.workspace.listing import Listing, Stop, list_files
from core.workspace.matcher import LineMatcher, PatternTooSlow, SearchStopped
from core.workspace.paths import WorkspacePath
from core.workspace.sensitive import Verdict
from core.workspace.workspace import Workspace

UNVERSIONED_EXCLUDES = "{dist,build,coverage,__pycache__,.vscode,.idea}/**"
UNVERSIONED_NAMES = "*.{log,tmp}"
"""Left out where no repository says which files matter, unless they are asked for."""
_NARROW_FROM = 200
"""With fewer files, reading them all is faster than asking another program."""
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
    listing = list_files(directory.root, directory.inside, query.filtering, stop)
    files = _wanted_files(workspace, directory, query, listing, outcome)
    if len(files) < _NARROW_FROM and engine is None:
        engine = Engine.PYTHON
    asks_git = listing.by_git and not listing.is_nested and query.filtering.git
    chosen = engine or available_engine(asks_git)
    if chosen is Engine.GIT_GREP and not asks_git:
        chosen = Engine.GREP
    limit = min(query.per_file or query.total + 1, query.total + 1)
    matcher = LineMatcher(
        query.expression,
        ignore_case=not query.case_sensitive,
        exclude=query.exclude,
        limit=1 if query.names_only else limit,
        stop=stop,
    )
    try:
        with matcher:
            batches = narrow(chosen, directory.path, files, matcher.literals, not query.case_sensitive, stop)
            for candidates in batches:
                if not _search_files(workspace, directory, query, candidates, matcher, outcome, stop):
                    break
    except PatternTooSlow:
        outcome.notes.append("The pattern is too slow: the search was stopped. Write it without nested repeats.")
    except SearchStopped:
        pass
    if stop.is_late:
        outcome.notes.append("The time limit was reached: there may be more matches. Narrow the path or the pattern.")
    return outcome


def _wanted_files(
    workspace: Workspace, directory: WorkspacePath, query: SearchQuery, listing: Listing, outcome: SearchOutcome
) -> list[str]:
    """Return the files to search, sorted; what is left out is noted."""
    include = compile_glob(query.include, anywhere=True) if query.include else None
    files = [path for path in listing.files if include is None or include.matches(path)]
    if not listing.by_git and query.filtering.git and include is None:
        kept = [path for path in files if not _is_unversioned_clutter(path)]
        if len(kept) < len(files):
            outcome.notes.append(
                f"{len(files) - len(kept)} files that look generated (outputs, caches, logs) were not searched."
                " Name them with include to search them."
            )
        files = kept
    allowed = [path for path in files if _is_harmless(workspace, directory, path)]
    if len(allowed) < len(files):
        outcome.notes.append(f"{len(files) - len(allowed)} files with sensitive names were not searched.")
    if listing.is_cut:
        outcome.notes.append("There are more files than were listed: not all of them were searched.")
    return sorted(allowed)


def _is_unversioned_clutter(path: str) -> bool:
    return compile_glob(f"**/{UNVERSIONED_EXCLUDES}").matches(path) or compile_glob(
        UNVERSIONED_NAMES, anywhere=True
    ).matches(path)


def _is_harmless(workspace: Workspace, directory: WorkspacePath, path: str) -> bool:
    inside = f"{directory.inside}/{path}" if directory.inside else path
    return workspace.sensitive.judge(inside, lambda: True).verdict is Verdict.ALLOW


def _search_files(
    workspace: Workspace,
    directory: WorkspacePath,
    query: SearchQuery,
    candidates: Sequence[str],
    matcher: LineMatcher,
    outcome: SearchOutcome,
    stop: Stop,
) -> bool:
    """Add the matches of some files; false when enough were found or it was stopped."""
    for batch in _read_batches(workspace, directory, candidates, outcome):
        if stop.is_set:
            return False
        found = matcher.find([text for _, text in batch])
        for (path, text), numbers in zip(batch, found, strict=True):
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


def _read_batches(
    workspace: Workspace, directory: WorkspacePath, candidates: Sequence[str], outcome: SearchOutcome
) -> Iterator[list[tuple[str, str]]]:
    batch: list[tuple[str, str]] = []
    size = 0
    for path in candidates:
        text = _read_text(workspace, directory, path, outcome)
        if text is None:
            continue
        batch.append((path, text))
        size += len(text)
        if size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _read_text(workspace: Workspace, directory: WorkspacePath, path: str, outcome: SearchOutcome) -> str | None:
    """Return a file's text with line feeds alone; none for binary files and those that can't be read."""
    try:
        text = decode(workspace.read_listed(directory, path, MAX_SEARCHED_BYTES)).text
    except ToolFailure as failure:
        if failure.type is ToolErrorType.FILE_TOO_LARGE and not _is_binary(workspace, directory, path):
            outcome.notes.append(f"{directory.below(path).shown} is too large and was not searched.")
        return None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _is_binary(workspace: Workspace, directory: WorkspacePath, path: str) -> bool:
    try:
        return is_binary(workspace.read_head(directory.below(path), SNIFFED_BYTES))
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

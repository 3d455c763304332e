"""Which languages there are: the built-in ones, and those of other packages by entry point.

A plugin that fails is reported, and the rest go on. Its code runs here, so this is for the parsing process alone.
"""

from __future__ import annotations

import importlib.metadata
import traceback
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Protocol

from core.fileops.languages.plugin import Analysis, LanguagePlugin

GROUP = "stet.languages"
"""The group of entry points, each of which names a subclass of LanguagePlugin."""


class Entry(Protocol):
    """An entry point."""

    @property
    def name(self) -> str: ...
    @property
    def value(self) -> str: ...
    def load(self) -> object: ...


@dataclass(slots=True)
class Wanted:
    """What is looked for in a file."""

    symbols: bool = False
    imports: bool = False
    problems: bool = False
    names: bool = False


@dataclass(slots=True)
class Languages:
    """The plugins by extension."""

    plugins: dict[str, LanguagePlugin] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    """Why plugins were left out."""

    def add(self, kind: object, origin: str) -> None:
        """Make a plugin and take it in, or say why not."""
        if not (isinstance(kind, type) and issubclass(kind, LanguagePlugin)):
            self.problems.append(f"The {origin} is left out: it is no subclass of LanguagePlugin.")
            return
        plugin = kind()
        extensions = plugin.extensions
        if not plugin.name or isinstance(extensions, str) or not all(item.startswith(".") for item in extensions):
            self.problems.append(
                f"The {origin} is left out: it needs a name, and a tuple of extensions with their dots."
            )
            return
        for extension in extensions:
            taken = self.plugins.setdefault(extension.lower(), plugin)
            if taken is not plugin:
                self.problems.append(f"The {origin} does not get {extension} files: {taken.name} has them.")

    def analyse(self, path: str, data: bytes, wanted: Wanted) -> Analysis:
        """Return what is wanted of a file."""
        plugin = self.plugins.get(PurePosixPath(path).suffix.lower())
        if plugin is None:
            return Analysis()
        try:
            parsed = plugin.parse_file(path, data)
            return Analysis(
                plugin.name,
                tuple(plugin.extract_symbols(parsed)) if wanted.symbols else (),
                tuple(plugin.extract_imports(parsed)) if wanted.imports else (),
                tuple(plugin.validate_syntax(parsed)) if wanted.problems else (),
                plugin.find_names(parsed) if wanted.names else None,
            )
        except Exception as error:  # noqa: BLE001 - boundary: code of a plugin
            return Analysis(plugin.name, failure=f"{plugin.name} failed on it: {_brief(error)}")


def load_languages(entries: Iterable[Entry] | None = None) -> Languages:
    """Return all languages.

    Args:
        entries: those of other packages; the installed ones if not given.
    """
    from core.fileops.languages.go import Go
    from core.fileops.languages.javascript import JavaScript
    from core.fileops.languages.python import Python
    from core.fileops.languages.typescript import TypeScript

    languages = Languages()
    for kind in (Python, JavaScript, TypeScript, Go):
        languages.add(kind, kind.name)
    for entry in importlib.metadata.entry_points(group=GROUP) if entries is None else entries:
        origin = f"language plugin {entry.name} ({entry.value})"
        try:
            languages.add(entry.load(), origin)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - boundary: code of a plugin
            languages.problems.append(f"The {origin} is left out, it failed: {_brief(error)}")
    return languages


def _brief(error: BaseException) -> str:
    """Return the error and the place that raised it."""
    places = traceback.extract_tb(error.__traceback__)
    where = f" ({PurePosixPath(places[-1].filename).name}, line {places[-1].lineno})" if places else ""
    return f"{type(error).__name__}: {error}"[:300] + where

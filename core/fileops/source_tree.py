"""The source files of a workspace directory, as the languages see them: listed, read and analysed together.

Changes that are planned in the same call are seen before the disk is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from functools import cached_property

from core.contract.errors import ToolFailure
from core.fileops.languages.modules import ModuleMap
from core.fileops.languages.plugin import Analysis
from core.fileops.languages.service import LanguageService, shared_service
from core.fileops.overlay import Overlay
from core.fileops.steps import EntryKind
from core.workspace.batch import BatchReader
from core.workspace.encoding import TextFile, decode
from core.workspace.listing import Stop, list_files
from core.workspace.workspace import Workspace

CONFIGURATION = ("go.mod", "package.json", "tsconfig.json", "jsconfig.json")
"""Files that say where modules lie."""
_ALONE = re.compile(rb"\r(?!\n)")
"""A line break of old Macs."""


class SourceTree:
    """The files of one root. It blocks; for one thread.

    Args:
        root: a workspace directory.
        overlay: what is planned already.
    """

    def __init__(
        self,
        workspace: Workspace,
        root: str,
        stop: Stop,
        *,
        overlay: Overlay | None = None,
        service: LanguageService | None = None,
    ) -> None:
        self.root = root
        self.service = service or shared_service()
        self.unread: dict[str, str] = {}
        """Files that could not be read, and why."""
        self._workspace = workspace
        self._stop = stop
        self._overlay = overlay
        self._files: dict[str, TextFile | None] = {}

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """Every source file and configuration of languages, relative to the root, ignored ones left out."""
        listed = set(list_files(self.root, "", stop=self._stop).files)
        if self._overlay is not None:
            for path in self._overlay.touched():
                if path.startswith(f"{self.root}/"):
                    entry = self._overlay.final(path)
                    is_file = entry is not None and entry.seen.kind is EntryKind.FILE
                    (listed.add if is_file else listed.discard)(path[len(self.root) + 1 :])
        extensions = self.service.extensions
        return tuple(
            sorted(
                path
                for path in listed
                if os.path.splitext(path)[1].lower() in extensions
                or os.path.basename(path) in CONFIGURATION
                or path.endswith(".json")
            )
        )

    @cached_property
    def modules(self) -> ModuleMap:
        return ModuleMap(self.paths, self._text)

    def language_of(self, path: str) -> str:
        return self.service.language_of(path)

    def load(self, paths: Iterable[str]) -> None:
        """Read files that were not read yet."""
        with BatchReader(self._workspace) as reader:
            for path in paths:
                if path not in self._files and not self._stop.is_set:
                    self._files[path] = self._read(reader, path)

    def _read(self, reader: BatchReader, path: str) -> TextFile | None:
        full = os.path.join(self.root, path)
        try:
            planned = self._overlay.final(full) if self._overlay is not None and full in self._overlay.before else None
            data = planned.data if planned is not None else reader.read(full)[1].data
            return _decoded(data)
        except ToolFailure as failure:
            self.unread[path] = failure.message
            return None

    def file(self, path: str) -> TextFile | None:
        """Return a file's text; none where it can't be read."""
        self.load([path])
        return self._files.get(path)

    def _text(self, path: str) -> str | None:
        file = self.file(path)
        return file.text if file is not None else None

    def data(self, path: str) -> bytes | None:
        """Return a file's text in UTF-8, as it is parsed; its places are those of `as_utf8`."""
        file = self.file(path)
        return as_parsed(as_utf8(file)) if file is not None else None

    def analyse(self, paths: Sequence[str], **wanted: bool) -> dict[str, Analysis]:
        """Return what is wanted (symbols, imports, problems, names) of each file that can be read."""
        self.load(paths)
        jobs = [(path, data) for path in paths if (data := self.data(path)) is not None]
        found = self.service.analyse(jobs, is_cancelled=lambda: self._stop.is_set, **wanted)
        return {path: analysis for (path, _), analysis in zip(jobs, found, strict=True)}


def as_utf8(file: TextFile) -> bytes:
    """Return a text in UTF-8; bytes that were no text are as they were."""
    return file.text.encode("utf-8", "surrogateescape")


def as_parsed(data: bytes) -> bytes:
    """Return a text whose lines a parser counts as people do: a carriage return alone ends one, too."""
    return _ALONE.sub(b"\n", data) if b"\r" in data else data


def _decoded(data: bytes) -> TextFile:
    # ASCII is nearly all there is, and nearly free to tell
    return TextFile(data.decode("ascii")) if data.isascii() else decode(data)

"""Loads files into the cache before they are asked for, in one thread beside everything else.

Only what the reading tools would give without a question is loaded: the guard, ignore rules, sensitive names and the
policy are asked for each file, every time.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from core.contract.errors import ToolFailure
from core.fileops.cache import FileCache
from core.fileops.prediction import Neighbours, SuccessorModel
from core.workspace.paths import WorkspacePath
from core.workspace.workspace import Workspace

log = logging.getLogger(__name__)

COUNT = 8
"""Files loaded ahead after each that is used."""
PAUSE = 0.05
"""Seconds: files that are read one after the other are thought about together, and not meanwhile."""
_GRACE = 1.0
"""Seconds that the end of a session waits for the thread."""
MAX_FILE_BYTES = 1024 * 1024
MayRead = Callable[[str], bool]
"""Whether policy lets the model read a path without asking. Called in the thread."""


class ReadAhead:
    """Watches which files are used and loads what comes next. A context manager: leaving it ends the thread.

    Args:
        neighbours: files related to one by what they import.
        pause: seconds between a use and what follows from it.
    """

    def __init__(
        self,
        workspace: Workspace,
        cache: FileCache,
        may_read: MayRead,
        neighbours: Neighbours | None = None,
        *,
        pause: float = PAUSE,
    ) -> None:
        self._workspace = workspace
        self._cache = cache
        self._may_read = may_read
        self._pause = pause
        self._model = SuccessorModel(neighbours)
        self._waiting: deque[str] = deque(maxlen=1000)
        self._woken = threading.Event()
        self._ended = threading.Event()
        self._rested = threading.Condition()
        self._is_busy = False
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._run, name="read-ahead", daemon=True)
        self._thread.start()
        self._cache.on_access = self._note
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._cache.on_access = None
        self._ended.set()
        self._woken.set()
        if self._thread is not None:
            self._thread.join(_GRACE)

    def settle(self, seconds: float) -> bool:
        """Wait until all that was seen is dealt with; return whether it is. For measuring and tests."""
        with self._rested:
            return self._rested.wait_for(lambda: not self._waiting and not self._is_busy, seconds)

    def _note(self, path: str) -> None:
        self._waiting.append(path)
        if not self._woken.is_set():
            self._woken.set()

    def _run(self) -> None:
        while True:
            self._woken.wait()
            if self._ended.wait(self._pause):
                return
            self._is_busy = True
            self._woken.clear()
            while self._waiting:
                self._model.note(self._waiting.popleft())
            likely = self._model.following(4 * COUNT)
            self._load([path for path in likely if not self._cache.holds(path)][:COUNT])
            with self._rested:
                self._is_busy = False
                self._rested.notify_all()

    def _load(self, paths: Sequence[str]) -> None:
        places = [place for path in paths if (place := self._allowed(path)) is not None]
        ignored = self._workspace.ignored_among(places)
        for place in reversed(places):  # the likeliest last, as the first ones are forgotten first
            if self._ended.is_set():
                return
            if place.path in ignored:
                continue
            try:
                self._workspace.load_ahead(place, limit=MAX_FILE_BYTES)
            except ToolFailure as failure:
                log.debug("not loaded ahead: %s", failure.message)

    def _allowed(self, path: str) -> WorkspacePath | None:
        """Return where a path leads, if it may be read."""
        try:
            return self._workspace.resolve(path) if self._may_read(path) else None
        except ToolFailure:
            return None

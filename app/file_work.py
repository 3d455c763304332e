"""A session's work on files: the cache with what loads it ahead, and the figures of file_operations for `/stats`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from core.bus.bus import Bus
from core.contract.envelope import Envelope
from core.contract.events import FilesWorked
from core.contract.statistics import StatSection
from core.contract.tool import Kind
from core.fileops.ahead import ReadAhead
from core.fileops.cache import FileCache
from core.fileops.neighbours import ImportNeighbours
from core.policy.engine import PolicyEngine
from core.policy.rules import Verdict
from core.tools.context import ToolContext

_MIB = 1024 * 1024


@contextmanager
def file_work(
    context: ToolContext, policy: PolicyEngine, bus: Bus, past: Iterable[Envelope] = ()
) -> Iterator[ReadAhead | None]:
    """Give the session its cache, unless the single tools go straight to the disk, and count what is done.

    Args:
        past: the messages of the session that is continued.
    """
    tally = FileWorkTally()
    for envelope in past:
        tally(envelope)
    bus.attach("file work", tally)
    context.statistics.append(tally.section)
    if context.settings.file_operations.enabled == "off":
        yield None
        return
    workspace = context.workspace
    workspace.cache = tally.cache = cache = FileCache()

    def may_read(path: str) -> bool:
        return policy.check("read_file", {"file_path": path}, Kind.READ, (path,)).verdict is Verdict.ALLOW

    neighbours = ImportNeighbours(workspace)
    with ReadAhead(workspace, cache, may_read, neighbours) as ahead:
        try:
            yield ahead
        finally:
            neighbours.end()


@dataclass(slots=True)
class FileWorkTally:
    """Counts the calls of file_operations; a sink of the bus."""

    cache: FileCache | None = None
    calls: int = 0
    operations: int = 0
    files: int = 0
    seconds: float = 0.0
    hits: int = 0
    peak: int = 0

    def __call__(self, envelope: Envelope) -> None:
        """Count a message."""
        event = envelope.payload
        if isinstance(event, FilesWorked):
            self.calls += 1
            self.operations += event.operations
            self.files += event.files_read + event.files_changed
            self.seconds += event.duration
            self.hits += event.cache_hits
            self.peak = max(self.peak, event.peak_memory)

    def section(self) -> StatSection | None:
        """Return the figures; none where nothing was done with files."""
        rows: list[tuple[str, ...]] = []
        if self.calls:
            done = ((self.calls, "call"), (self.operations, "operation"), (self.files, "file"))
            rows += [
                ("file_operations", ", ".join(_counted(*each) for each in done)),
                ("In them", f"{self.seconds:.2f} s, {_counted(self.hits, 'file')} from the cache"),
                ("Most memory", f"{self.peak / _MIB:.0f} MiB, of the whole program"),
            ]
        counts = self.cache.counts if self.cache is not None else None
        if self.cache is not None and counts is not None and counts.hits + counts.misses:
            asked = counts.hits + counts.misses
            rows += [
                ("From the cache", f"{counts.hits} of {asked} readings ({counts.rate:.0%})"),
                ("Loaded ahead", f"{counts.loaded_ahead} files, {counts.ahead_hits} of them read then"),
                ("Held", f"{self.cache.size / _MIB:.1f} MiB"),
            ]
        return StatSection("Work on files", tuple(rows)) if rows else None


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"

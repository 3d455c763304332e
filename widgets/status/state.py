"""How things stand, and how a line of given width says it: pure data and text, no widget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size

from core.contract.state import ApprovalMode
from core.contract.visible import make_visible_line

MODE_NAMES = {
    ApprovalMode.DEFAULT: "ask",
    ApprovalMode.AUTO_EDIT: "accept edits",
    ApprovalMode.PLAN: "plan",
    ApprovalMode.YOLO: "AUTO",
}
_BARS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class Status:
    """Everything that the status bar shows; empty values are not shown."""

    mode: ApprovalMode = ApprovalMode.DEFAULT
    model: str = ""
    context_tokens: int = 0
    context_window: int = 0
    """Tokens; 0 where it is not known."""
    cost: float | None = None
    """US dollars of the session; none where prices are not known."""
    branch: str = ""
    jobs: int = 0
    """Jobs that run."""
    servers_starting: int = 0
    """Servers of tools that start; those that are there are not shown."""
    servers_failed: int = 0
    servers_login: int = 0
    """Servers that need a login."""
    todo: str = ""
    """As `2/5 Edit add()`, where the todo pane is not on the screen."""
    activity: str = ""
    """What the agent does now, as `Searching 412 files`; empty when it is idle."""
    waiting: str = ""
    """What waits for the user, as `approval: replace client.py`; it stands before everything else."""


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of the line."""

    name: str
    text: str
    style: str = ""
    """`warn`, `bad`, `good`, `strong` or none."""

    @property
    def width(self) -> int:
        return cell_len(self.text)


SEPARATOR = " │ "
_ORDER = ("waiting", "activity", "mode", "model", "context", "todo", "cost", "branch", "jobs", "servers")
"""As they stand from left to right."""
_IMPORTANCE = ("waiting", "mode", "activity", "context", "model", "servers", "jobs", "todo", "cost", "branch")
"""The last one gives way first."""
_ESSENTIAL = 3
"""So many of the most important parts are cut before any of them is left out."""
_LEAST = {"model": 10, "todo": 12, "branch": 8, "activity": 12, "waiting": 16}
"""Parts that may be cut, and the cells that must remain."""


def list_parts(status: Status, busy: str, *, ascii_only: bool = False) -> list[Part]:
    """Return what there is to show.

    Args:
        busy: the activity with its spinner and time, or an empty string.
        ascii_only: no other than ASCII signs.
    """
    found = list(_parts(status, busy, ascii_only))
    return sorted(found, key=lambda part: _ORDER.index(part.name))


def _parts(status: Status, busy: str, ascii_only: bool) -> Iterator[Part]:
    if status.waiting:
        yield Part("waiting", f"{'!' if ascii_only else '⚠'} {make_visible_line(status.waiting)}", "warn")
    if busy:
        yield Part("activity", make_visible_line(busy), "good")
    yield Part("mode", MODE_NAMES[status.mode], "bad" if status.mode is ApprovalMode.YOLO else "strong")
    if status.model:
        yield Part("model", make_visible_line(status.model))
    if status.context_window > 0:
        share = min(1.0, status.context_tokens / status.context_window)
        bar = "" if ascii_only else f" {_BARS[min(len(_BARS) - 1, int(share * len(_BARS)))]}"
        yield Part("context", f"ctx {share:.0%}{bar}", "bad" if share >= 0.9 else "warn" if share >= 0.7 else "")
    if status.todo:
        yield Part("todo", make_visible_line(status.todo))
    if status.cost is not None:
        yield Part("cost", f"${status.cost:.2f}" if status.cost >= 0.005 or not status.cost else "<$0.01")
    if status.branch:
        yield Part("branch", make_visible_line(status.branch))
    if status.jobs:
        yield Part("jobs", f"{status.jobs} job{'s' if status.jobs > 1 else ''}")

    yield from _servers(status, ascii_only)


def _servers(status: Status, ascii_only: bool) -> Iterator[Part]:
    """Say how the servers of tools stand, the worst first: in a sign, in words, and in colour."""
    counts = (
        (status.servers_failed, "failed", "x" if ascii_only else "✗", "bad"),
        (status.servers_login, "to log in", "!", "warn"),
        (status.servers_starting, "starting", "~" if ascii_only else "◌", ""),
    )
    found = [(f"{count} {words}", sign, style) for count, words, sign, style in counts if count]
    if found:
        yield Part("servers", f"{found[0][1]} mcp {', '.join(words for words, _, _ in found)}", found[0][2])


def fit_parts(parts: Sequence[Part], width: int) -> list[Part]:
    """Return the parts that fit into `width` cells, in their order: the less important are cut, then left out."""
    kept: list[Part] = []
    room = width
    by_importance = sorted(parts, key=lambda part: _IMPORTANCE.index(part.name))
    reserved = {part.name: min(part.width, _LEAST.get(part.name, part.width)) for part in parts}
    for index, part in enumerate(by_importance):
        gap = len(SEPARATOR) if kept else 0
        later = sum(reserved[each.name] + len(SEPARATOR) for each in by_importance[index + 1 : _ESSENTIAL])
        most = max(reserved[part.name], room - gap - later)
        if most > room - gap:
            continue
        shown = part if part.width <= most else Part(part.name, set_cell_size(part.text, most - 1) + "…", part.style)
        kept.append(shown)
        room -= gap + shown.width
    return sorted(kept, key=lambda part: _ORDER.index(part.name))


def width_of(parts: Sequence[Part]) -> int:
    """Return how many cells the parts take with their separators."""
    return sum(part.width for part in parts) + len(SEPARATOR) * max(0, len(parts) - 1)

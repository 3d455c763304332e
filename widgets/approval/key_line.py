"""The line of keys at the foot of a dialog: made from the bindings that are active now, so that it is always true."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.binding import Binding
from textual.message import Message
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget


@dataclass(frozen=True, slots=True)
class KeyHint:
    keys: str
    """As shown: `y`, `esc`."""
    label: str
    action: str
    enabled: bool = True

    @property
    def width(self) -> int:
        return cell_len(self.keys) + 1 + cell_len(self.label)


GAP = 2
_LAST = ("show_others", "minimise", "show_keys")
"""Actions of every dialog; they stand behind its own."""


def arrange(hints: Sequence[KeyHint], width: int, rows: int) -> list[list[KeyHint]]:
    """Return the hints in at most `rows` rows of `width` cells: in their order, the last hint always among them."""
    if not hints:
        return []
    *others, last = hints
    lines: list[list[KeyHint]] = [[]]
    used = 0
    for hint in others:
        is_last_row = len(lines) == rows
        room = width - (last.width + GAP if is_last_row else 0)
        if used + hint.width > room:
            if is_last_row:
                continue
            lines.append([])
            used = 0
            if hint.width > width - (last.width + GAP if len(lines) == rows else 0):
                continue
        lines[-1].append(hint)
        used += hint.width + GAP
    if used + last.width > width and len(lines) < rows:
        lines.append([])
    lines[-1].append(last)
    return lines


def key_hints(screen: Screen[Any], held: Collection[str] = (), *, all_keys: bool = False) -> list[KeyHint]:
    """Return the screen's own keys that work now, in the order of their definition.

    Those of every dialog stand last.

    Args:
        held: actions that are there but refuse for now.
        all_keys: also those that are not for the line of keys, and every key of an action.
    """
    hints: dict[str, KeyHint] = {}
    for active in screen.active_bindings.values():
        binding: Binding = active.binding
        if active.node is not screen or not binding.description or "." in binding.action:
            continue
        if not (binding.show or all_keys):
            continue
        shown = screen.app.get_key_display(binding)
        if (known := hints.get(binding.action)) is not None:
            shown = f"{known.keys} {binding.key if shown == known.keys else shown}" if all_keys else known.keys
        enabled = active.enabled and binding.action not in held
        hints[binding.action] = KeyHint(shown, binding.description, binding.action, enabled)
    order = [binding.action for binding in _declared(screen)]
    return sorted(hints.values(), key=lambda hint: (hint.action in _LAST, order.index(hint.action)))


def _declared(screen: Screen[Any]) -> Iterator[Binding]:
    for kind in reversed(type(screen).__mro__):
        for binding in kind.__dict__.get("BINDINGS", ()):
            if isinstance(binding, Binding):
                yield binding


class KeyLine(Widget):
    """Shows the keys of its screen; a click on one is reported.

    Args:
        held: returns the actions that refuse for now; they are drawn as off.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"key-line--key", "key-line--label", "key-line--off"}

    class Pressed(Message):
        """A key was clicked: its action is to be run."""

        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    def __init__(self, held: Callable[[], Collection[str]] = tuple) -> None:
        super().__init__()
        self._held = held
        self._lines: list[list[KeyHint]] = []

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self.take_keys())

    def on_resize(self) -> None:
        self.take_keys()

    def take_keys(self) -> None:
        """Take the keys that work now."""
        rows = 1 if self.app.size.height < 16 else 2
        self._lines = arrange(key_hints(self.screen, self._held()), self.size.width or self.app.size.width, rows)
        self.styles.height = max(1, len(self._lines))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        segments: list[Segment] = []
        key, label, off = (self.get_component_rich_style(f"key-line--{part}") for part in ("key", "label", "off"))
        for hint in self._lines[y] if y < len(self._lines) else ():
            segments.append(Segment(hint.keys, key if hint.enabled else off))
            segments.append(Segment(f" {hint.label}" + " " * GAP, label if hint.enabled else off))
        return Strip(segments).adjust_cell_length(self.size.width, self.rich_style)

    def on_click(self, event: events.Click) -> None:
        x = event.x
        for hint in self._lines[event.y] if event.y < len(self._lines) else ():
            if 0 <= x < hint.width:
                self.post_message(self.Pressed(hint.action))
                return
            x -= hint.width + GAP

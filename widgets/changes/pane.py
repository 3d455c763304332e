"""The changes pane: a line a turn, below it a line for each file that it changed. It stores nothing and undoes nothing;
it says what was chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from core.contract.events import ChangesKept, KeptChange
from core.contract.visible import make_visible_line
from widgets.changes.messages import ChangeChosen


@dataclass(frozen=True, slots=True)
class TurnChanges:
    """What one turn changed, all its calls together."""

    turn: int
    labels: tuple[str, ...] = ()
    files: Mapping[str, KeptChange] = field(default_factory=dict)
    """By path; lines of several changes added up."""
    taken_back: frozenset[str] = frozenset()
    """Paths of which the last word was an undo."""


def gather(events: Sequence[ChangesKept]) -> list[TurnChanges]:
    """Return the turns that changed anything, oldest first."""
    turns: dict[int, TurnChanges] = {}
    own: set[str] = set()
    """Ids of what calls did; what undoes one of these takes it back, what undoes an undo does it again."""
    undos: set[str] = set()
    for event in events:
        known = turns.setdefault(event.of_turn, TurnChanges(event.of_turn))
        paths = frozenset(change.path for change in event.changes)
        if event.undoes:
            takes_back = own.issuperset(event.undoes)
            if takes_back:
                undos.add(event.id)
            known = replace(known, taken_back=known.taken_back | paths if takes_back else known.taken_back - paths)
        else:
            own.add(event.id)
            files = dict(known.files)
            for change in event.changes:
                files[change.path] = _joined(files.get(change.path), change)
            labels = known.labels if event.label in known.labels else (*known.labels, event.label)
            known = TurnChanges(event.of_turn, labels, files, known.taken_back - paths)
        turns[event.of_turn] = known
    return [changes for _, changes in sorted(turns.items()) if changes.files]


def _joined(before: KeptChange | None, change: KeptChange) -> KeptChange:
    if before is None:
        return change
    return replace(
        change,
        created=before.created,
        added=before.added + change.added,
        removed=before.removed + change.removed,
        problem=before.problem or change.problem,
    )


class ChangesView(OptionList, inherit_bindings=False):
    """The lines. Its keys are rows of the catalogue."""

    BINDINGS: ClassVar[list[BindingType]] = []


class ChangesPane(Vertical):
    """Shows `ChangesKept` events by turn; posts `ChangeChosen`.

    Args:
        keys: key to action, of the catalogue's changes scope.
    """

    def __init__(self, keys: Mapping[str, str]) -> None:
        super().__init__(id="changes")
        self._keys = keys
        self.view = ChangesView(markup=False)
        self._targets: list[tuple[int, str]] = []

    def compose(self) -> ComposeResult:
        yield self.view

    def on_mount(self) -> None:
        self.border_title = "changes"
        if not self._targets:
            self.show_changes([])

    def show_changes(self, turns: Sequence[TurnChanges]) -> None:
        """Show these, the latest turn first; the mark stays on the same file."""
        marked = self.marked
        self._targets = []
        options: list[Option] = []
        for changes in reversed(turns):
            options.append(Option(_turn_line(changes)))
            self._targets.append((changes.turn, ""))
            for path, change in sorted(changes.files.items(), key=lambda item: item[1].shown):
                options.append(Option(_file_line(change, path in changes.taken_back)))
                self._targets.append((changes.turn, path))
        if not options:
            options.append(Option(Content("Nothing was changed yet.").stylize("italic"), disabled=True))
        self.view.clear_options()
        self.view.add_options(options)
        files = {path for changes in turns for path in changes.files if path not in changes.taken_back}
        self.border_title = f"changes {len(files)}" if files else "changes"
        if marked in self._targets:
            self.view.highlighted = self._targets.index(marked)
        elif self._targets:
            self.view.highlighted = 0

    @property
    def marked(self) -> tuple[int, str] | None:
        """Turn and path of the marked line; the path is empty for the turn's own line."""
        place = self.view.highlighted
        return self._targets[place] if place is not None and place < len(self._targets) else None

    async def on_key(self, event: Key) -> None:
        action = self._keys.get(event.key) or self._keys.get(event.character or "")
        if action and await self.app.run_action(action, self):
            event.stop()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_undo()

    def action_up(self) -> None:
        """Mark the line above."""
        self.view.action_cursor_up()

    def action_down(self) -> None:
        """Mark the line below."""
        self.view.action_cursor_down()

    def action_first(self) -> None:
        """Mark the first line."""
        self.view.action_first()

    def action_last(self) -> None:
        """Mark the last line."""
        self.view.action_last()

    def action_undo(self) -> None:
        """Show what would come back of the marked turn or file."""
        if self.marked is not None:
            self.post_message(ChangeChosen(*self.marked))


def _turn_line(changes: TurnChanges) -> Content:
    labels = ", ".join(make_visible_line(label) for label in changes.labels)
    count = len(changes.files)
    return Content(f"turn {changes.turn} · {count} file{'s' if count > 1 else ''} · {labels}").stylize("bold")


def _file_line(change: KeptChange, taken_back: bool) -> Content:
    letter = "A" if change.created else "D" if change.deleted else "M"
    counts = "".join(
        f" {sign}{count}"
        for sign, count in (("+", change.added), ("−", change.removed))
        if count  # noqa: RUF001
    )
    state = " (taken back)" if taken_back else " (can't come back)" if change.problem else ""
    line = Content(f" {letter} {make_visible_line(change.shown)}{counts}{state}")
    return line.stylize("dim") if taken_back else line

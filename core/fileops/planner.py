"""What a list of operations comes to: steps in order, every file before and after, and all that stands against it.

Nothing is changed here. A plan is made again from the same operations when the user took only a part of it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.contract.errors import ToolErrorType, ToolFailure
from core.fileops.operations import (
    AppendOperation,
    CopyOperation,
    CreateOperation,
    DeleteOperation,
    EditOperation,
    MoveOperation,
    Operation,
    RenameSymbolOperation,
    TransformOperation,
    WriteOperation,
)
from core.fileops.order import Node, Order, order_nodes
from core.fileops.overlay import Entry, Overlay, bytes_of, text_in
from core.fileops.renaming import plan_rename
from core.fileops.rewriting import append_text
from core.fileops.source_tree import SourceTree
from core.fileops.steps import EntryKind, Step
from core.fileops.transforming import plan_transform
from core.tools.builtin.replace import ReplaceInvocation
from core.tools.builtin.write_file import WriteFileInvocation
from core.tools.context import ToolContext
from core.workspace.encoding import TextFile, decode
from core.workspace.listing import Stop
from core.workspace.paths import WorkspacePath
from core.workspace.places import Places
from core.workspace.sensitive import Verdict


@dataclass(frozen=True, slots=True)
class Choice:
    """What the user took of a plan."""

    contents: Mapping[str, str] = field(default_factory=dict)
    """By absolute path: the whole text where it is not the proposed one."""
    declined: frozenset[str] = frozenset()
    """Absolute paths that shall stay as they are."""


EVERYTHING = Choice()


@dataclass(slots=True)
class PlannedOperation:
    """One operation of a plan."""

    operation: Operation
    text: str = ""
    """What it does, or did."""
    notes: tuple[str, ...] = ()
    failure: ToolFailure | None = None
    declined: str = ""
    """Why it is left out."""
    steps: tuple[Step, ...] = ()
    touched: tuple[str, ...] = ()
    """Absolute paths that it changes."""

    @property
    def is_ready(self) -> bool:
        return self.failure is None and not self.declined


@dataclass(frozen=True, slots=True)
class Plan:
    """All of them."""

    operations: tuple[PlannedOperation, ...]
    order: Order
    before: Mapping[str, Entry | None]
    after: Mapping[str, Entry | None]
    stale: tuple[str, ...] = ()
    """Files, as shown, that changed since the model last read them."""
    to_ask: tuple[str, ...] = ()
    """Names, as shown, that only the user may allow."""

    @property
    def failed(self) -> tuple[PlannedOperation, ...]:
        return tuple(item for item in self.operations if item.failure is not None)


class Planner:
    """Plans operations. It blocks: use it in a thread."""

    def __init__(self, context: ToolContext, operations: Sequence[Operation], stop: Stop | None = None) -> None:
        self._context = context
        self._workspace = context.workspace
        self._places = Places(context.workspace)
        self._operations = operations
        self._stop = stop or Stop()

    def plan(self, *, approved: bool, choice: Choice = EVERYTHING, former: Plan | None = None) -> Plan:
        """Return the plan for the disk as it is now.

        Args:
            approved: the user has agreed to names that ask.
            choice: what the user took of `former`, the plan that was shown.

        Raises:
            ToolFailure: the operations depend on each other in a circle.
        """
        self._places = Places(self._workspace)
        order = self._order()
        items = [PlannedOperation(operation) for operation in self._operations]
        if former is not None:
            _decline(items, former, choice)
        last = {path: index for index in order.sequence if items[index].is_ready for path in _touched_of(former, index)}
        stale: dict[str, None] = {}
        with Overlay(self._workspace, lambda place: self._check_name(place, approved)) as overlay:
            for index in order.sequence:
                item = items[index]
                broken = _broken_need(items, order, index)
                if broken:
                    item.declined = item.declined or f"it depends on '{broken}', which is not done"
                if not item.is_ready or not item.operation.changes:
                    continue
                first = len(overlay.steps)
                mark = overlay.mark()
                try:
                    self._plan_one(item, overlay, approved, stale)
                    self._take_choice(item, index, overlay, choice, last, approved)
                except ToolFailure as failure:
                    overlay.go_back(mark)
                    if former is not None and former.operations[index].is_ready:
                        self._check_unchanged(former, index)
                        item.declined = f"it no longer applies without what the user left out: {failure.message}"
                    else:
                        item.failure = failure
                item.steps = tuple(overlay.steps[first:])
                item.touched = tuple(dict.fromkeys(_paths_of(item.steps)))
            after = {path: overlay.final(path) for path in overlay.touched()}
            return Plan(tuple(items), order, dict(overlay.before), after, tuple(stale), tuple(self._to_ask()))

    def _take_choice(
        self,
        item: PlannedOperation,
        index: int,
        overlay: Overlay,
        choice: Choice,
        last: Mapping[str, int],
        approved: bool,
    ) -> None:
        """After the last operation on a file its text is what the user took of it; later ones build on that."""
        for path, text in choice.contents.items():
            if last.get(path) == index:
                place = self._workspace.resolve(path, for_write=True, approved=approved)
                before = overlay.before.get(path)
                now = overlay.entry(place) or before
                file = decode(now.data) if now is not None else TextFile("")
                overlay.write(place, bytes_of(file, text, place), before.seen.mode if before is not None else None)
        for path in choice.declined:
            before = overlay.before.get(path)
            if last.get(path) == index and item.operation.spreads and before is not None:
                overlay.write(self._workspace.resolve(path, for_write=True, approved=approved), before.data)

    def _check_unchanged(self, former: Plan, index: int) -> None:
        """Refuse where an operation that could be done can't be any more because its files changed on disk."""
        with Overlay(self._workspace) as disk:
            for path in former.operations[index].touched:
                place = self._workspace.locate(path, for_write=True)
                if disk.entry(place) != former.before.get(path):
                    raise ToolFailure(
                        ToolErrorType.FILE_CHANGED,
                        f"File changed on disk since it was shown: {place.shown}",
                        "Look at it again, then repeat the call.",
                    )

    # --- order ------------------------------------------------------------------------------------

    def _order(self) -> Order:
        nodes = []
        changes = any(operation.changes for operation in self._operations)
        for operation in self._operations:
            paths = []
            for raw in operation.paths() if changes else ():  # what only looks never stands in each other's way
                try:
                    paths.append(self._place(raw, operation).path)
                except ToolFailure:
                    continue  # its own planning says why
            nodes.append(Node(operation.id, operation.changes, tuple(paths), operation.depends_on))
        return order_nodes(nodes)

    def _place(self, raw: str, operation: Operation) -> WorkspacePath:
        """Return where a path leads, unjudged; what moves and deletes means a symlink itself."""
        means_link = isinstance(operation, (DeleteOperation, MoveOperation, CopyOperation))
        return self._places.locate(raw, for_write=operation.changes, follow=not means_link)

    def _judged(self, raw: str, operation: Operation, approved: bool) -> WorkspacePath:
        place = self._place(raw, operation)
        self._check_name(place, approved)
        return place

    def _check_name(self, place: WorkspacePath, approved: bool) -> None:
        judgement = self._workspace.judge(place)
        if judgement.verdict is Verdict.ALLOW or (judgement.verdict is Verdict.ASK and approved):
            return
        raise ToolFailure(
            ToolErrorType.SENSITIVE_PATH,
            f"Path is sensitive: {place.shown} (its name matches '{judgement.pattern}')",
            "The user can allow it with the setting tools.ignore_path_filter.",
        )

    def _to_ask(self) -> list[str]:
        names = []
        for operation in self._operations:
            for raw in operation.paths() if operation.changes else ():
                try:
                    place = self._place(raw, operation)
                except ToolFailure:
                    continue
                if self._workspace.judge(place).verdict is Verdict.ASK:
                    names.append(place.shown)
        return names

    # --- single operations ------------------------------------------------------------------------

    def _plan_one(self, item: PlannedOperation, overlay: Overlay, approved: bool, stale: dict[str, None]) -> None:
        operation = item.operation
        if isinstance(operation, TransformOperation):
            item.text, item.notes = plan_transform(self._context, operation, overlay, self._stop, approved=approved)
            return
        place = self._judged(operation.paths()[0], operation, approved)
        if isinstance(operation, RenameSymbolOperation):
            self._rename(item, operation, place, overlay, approved)
            return
        if self._workspace.ledger.is_stale(place.path):
            stale[place.shown] = None
        if isinstance(operation, DeleteOperation):
            self._delete(item, operation, place, overlay)
        elif isinstance(operation, (MoveOperation, CopyOperation)):
            self._transfer(item, operation, place, overlay, approved)
        else:
            self._write(item, operation, place, overlay)

    def _write(self, item: PlannedOperation, operation: Operation, place: WorkspacePath, overlay: Overlay) -> None:
        now = overlay.entry(place)
        if now is not None and now.seen.kind is not EntryKind.FILE:
            raise ToolFailure(ToolErrorType.TARGET_IS_DIRECTORY, f"Path is a directory, not a file: {place.shown}")
        file = text_in(now.data, place) if now is not None else None
        if isinstance(operation, CreateOperation) and file is not None:
            raise ToolFailure(
                ToolErrorType.ATTEMPT_TO_CREATE_EXISTING_FILE, f"File already exists, cannot create: {place.shown}"
            )
        if isinstance(operation, EditOperation):
            change = ReplaceInvocation(operation, self._context).change(file, place)
        elif isinstance(operation, (WriteOperation, CreateOperation)):
            change = WriteFileInvocation(operation, self._context).change(file, place)
        else:
            assert isinstance(operation, AppendOperation)
            more = operation.content
            text = append_text(file.text if file else "", more)
            overlay.write(place, bytes_of(file or TextFile(""), text, place))
            item.text = f"Appended {len(more):,} character{'s' if len(more) != 1 else ''} to {place.shown}"
            return
        if file is not None and change.text == file.text:
            raise ToolFailure(
                ToolErrorType.EDIT_NO_CHANGE, f"No changes to apply: {place.shown} already reads like that."
            )
        overlay.write(place, bytes_of(file or TextFile(""), change.text, place))
        item.text, item.notes = change.headline, change.notes

    def _delete(
        self, item: PlannedOperation, operation: DeleteOperation, place: WorkspacePath, overlay: Overlay
    ) -> None:
        now = overlay.entry(place)
        if now is not None and now.seen.kind is EntryKind.DIRECTORY and not operation.recursive:
            raise ToolFailure(
                ToolErrorType.TARGET_IS_DIRECTORY,
                f"Path is a directory: {place.shown}",
                "Set recursive to delete it with everything in it.",
            )
        overlay.remove(place)
        item.text = f"Deleted {place.shown}"

    def _transfer(
        self,
        item: PlannedOperation,
        operation: MoveOperation | CopyOperation,
        source: WorkspacePath,
        overlay: Overlay,
        approved: bool,
    ) -> None:
        target = self._judged(operation.destination, operation, approved)
        if target.path == source.path:
            raise ToolFailure(ToolErrorType.INVALID_TOOL_PARAMS, f"Source and destination are the same: {source.shown}")
        if operation.overwrite:
            there = overlay.entry(target)
            if there is not None and there.seen.kind is EntryKind.DIRECTORY:
                raise ToolFailure(ToolErrorType.TARGET_IS_DIRECTORY, f"A directory is there already: {target.shown}")
            if there is not None:
                overlay.remove(target)
        if isinstance(operation, MoveOperation):
            overlay.move(source, target)
            item.text = f"Moved {source.shown} to {target.shown}"
        else:
            overlay.copy(source, target)
            item.text = f"Copied {source.shown} to {target.shown}"
        item.notes = overlay.notes()

    def _rename(
        self,
        item: PlannedOperation,
        operation: RenameSymbolOperation,
        place: WorkspacePath,
        overlay: Overlay,
        approved: bool,
    ) -> None:
        tree = SourceTree(self._workspace, place.root, self._stop, overlay=overlay)
        plan = plan_rename(tree, place.inside, operation)
        for path, (file, text) in plan.texts.items():
            target = self._workspace.resolve(f"{place.root}/{path}", for_write=True, approved=approved)
            refusal = self._context.path_refusal("replace", (target.path,))
            if refusal:
                raise ToolFailure(
                    ToolErrorType.POLICY_VIOLATION, f"The symbol is used in {target.shown}, which stays: {refusal}"
                )
            overlay.write(target, bytes_of(file, text, target))
        item.text, item.notes = plan.text, plan.notes


def _touched_of(plan: Plan | None, index: int) -> tuple[str, ...]:
    return plan.operations[index].touched if plan is not None else ()


def _paths_of(steps: Sequence[Step]) -> list[str]:
    paths = []
    for step in steps:
        paths.append(os.path.join(step.root, step.path))
        if step.kind.value == "move":
            paths.append(os.path.join(step.root, step.target))
    return paths


def _broken_need(items: Sequence[PlannedOperation], order: Order, index: int) -> str:
    """Return the id of an operation that this one names in depends_on and that is not done; empty if there is none."""
    named = items[index].operation.depends_on
    needs = (items[other] for other in order.needs[index])
    return next((item.operation.id for item in needs if item.operation.id in named and not item.is_ready), "")


def _decline(items: Sequence[PlannedOperation], former: Plan, choice: Choice) -> None:
    """Leave out what the user declined, and what depends on it: an operation goes when a path of it is declined."""
    for index in former.order.sequence:
        item = items[index]
        broken = _broken_need(items, former.order, index)
        if broken:
            item.declined = f"it depends on '{broken}', which the user declined"
        elif choice.declined & set(former.operations[index].touched):
            if not item.operation.spreads:
                item.declined = "the user declined it"

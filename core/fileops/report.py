"""What people and models are shown of a plan and of what became of it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.contract.confirmation import EditConfirmation
from core.contract.diff import DiffStat
from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.requests import ApprovalReply
from core.contract.tool import ContentPart, LlmContent, ToolError, ToolResult
from core.contract.visible import has_hidden, make_visible_line
from core.diff.stats import diff_stat
from core.diff.unified import unified_diff
from core.fileops.engine import OperationState, Outcome
from core.fileops.operations import ReadOperation
from core.fileops.overlay import Entry
from core.fileops.planner import Plan
from core.fileops.steps import EntryKind
from core.workspace.encoding import decode
from core.workspace.workspace import Workspace

MAX_LISTED = 500
"""Names shown of a directory that goes or comes as a whole."""
_SHOWN_FILES = 20


@dataclass(frozen=True, slots=True)
class PathChange:
    """One file that was changed."""

    path: str
    stat: DiffStat
    created: bool
    deleted: bool


def review_files(plan: Plan, workspace: Workspace) -> tuple[EditConfirmation, ...]:
    """Return every path that the plan changes, before and after. Blocks."""
    notes: dict[str, list[str]] = {}
    for item in plan.operations:
        for path in item.touched:
            if item.notes or item.operation.type in ("move", "copy"):
                notes.setdefault(path, []).extend(item.notes or (item.text,))
    files = []
    for path, before in plan.before.items():
        after = plan.after[path]
        if before == after or _is_plain_directory(before, after):
            continue
        shown = workspace.shown(path)
        old, new = (_text_of(entry, path) for entry in (before, after))
        said = [*notes.get(path, ())]
        if shown in plan.stale:
            said.append("The file changed on disk since the model last read it.")
        if new is not None and has_hidden(new) and not has_hidden(old or ""):
            said.append("The new text holds control or invisible characters.")
        files.append(
            EditConfirmation(
                f"Change {make_visible_line(shown)}",
                os.path.basename(path),
                path,
                unified_diff(shown, old, new or ""),
                old,
                new or "",
                notes=tuple(dict.fromkeys(said)),
                is_deleted=new is None,
            )
        )
    return tuple(files)


def _is_plain_directory(before: Entry | None, after: Entry | None) -> bool:
    """Return whether a directory is just made for what is put into it."""
    return before is None and (after is None or (after.seen.kind is EntryKind.DIRECTORY and not after.origin))


def _text_of(entry: Entry | None, path: str) -> str | None:
    if entry is None:
        return None
    if entry.seen.kind is EntryKind.LINK:
        return f"symlink to {entry.target}\n"
    if entry.seen.kind is EntryKind.DIRECTORY:
        return _listing(entry.origin or path)
    try:
        return decode(entry.data).text
    except ToolFailure:
        return f"binary, {len(entry.data):,} bytes\n"


def _listing(folder: str) -> str:
    names = []
    for directory, folders, files in os.walk(folder):
        folders.sort()
        names += [os.path.relpath(os.path.join(directory, name), folder) for name in sorted(files)]
        if len(names) > MAX_LISTED:
            break
    more = ["…"] if len(names) > MAX_LISTED else []
    return "directory\n" + "".join(f"{name}\n" for name in [*names[:MAX_LISTED], *more])


def file_changes(plan: Plan, paths: Sequence[str]) -> list[PathChange]:
    """Return the files among the paths that are not as they were."""
    changes = []
    for path in paths:
        before, after = plan.before.get(path), plan.after.get(path)
        if before == after or EntryKind.DIRECTORY in (e.seen.kind for e in (before, after) if e is not None):
            continue
        stat = diff_stat(_text_of(before, path) or "", _text_of(after, path) or "")
        changes.append(PathChange(path, stat, before is None, after is None))
    return changes


class FileOperationsReport:
    """Tells what becomes of one call."""

    def __init__(self, plan: Plan, transaction: bool) -> None:
        self._plan = plan
        self._transaction = transaction
        self._done = 0

    def progress(self, index: int, state: OperationState) -> str:
        """Return what is shown when an operation is done."""
        self._done += 1
        operation = self._plan.operations[index].operation
        name = make_visible_line(operation.id)
        return f"{self._done} of {len(self._plan.operations)} operations · {operation.type} '{name}' {state}"

    def result(self, outcome: Outcome, workspace: Workspace, reply: ApprovalReply | None) -> ToolResult:
        """Return the result of the call. Blocks."""
        changes = file_changes(self._plan, outcome.changed)
        summary = self._summary(outcome, changes)
        performance = {
            "duration": round(outcome.duration, 4),
            "parallelism": outcome.parallelism,
            "bytes": sum(len(e.data) for p in outcome.changed if (e := self._plan.after.get(p)) is not None),
        }
        closing = self._closing(outcome, summary, performance, reply)
        data = {
            "operations": [
                {"id": r.operation.id, "type": str(r.operation.type), "state": r.state.value, "paths": list(r.paths)}
                for r in outcome.results
            ],
            "summary_table": summary,
            "performance": performance,
            "summary": self._short(outcome, summary),
        }
        error = None
        if outcome.failure is not None:
            error = ToolError(outcome.failure.message, outcome.failure.type)
        elif not any(r.state in (OperationState.SUCCEEDED, OperationState.PLANNED) for r in outcome.results):
            failed = next((r.error for r in outcome.results if r.error is not None), ToolErrorType.DENIED_BY_USER)
            error = ToolError("None of the operations was done.", failed)
        return ToolResult(self._model_content(outcome, closing), _display(changes, outcome, workspace), error, data)

    def _summary(self, outcome: Outcome, changes: Sequence[PathChange]) -> dict[str, int]:
        states = Counter(result.state for result in outcome.results)
        good = [r for r in outcome.results if r.state is OperationState.SUCCEEDED]
        return {
            "succeeded": states[OperationState.SUCCEEDED],
            "failed": states[OperationState.FAILED],
            "skipped": states[OperationState.SKIPPED],
            "files_read": sum(isinstance(result.operation, ReadOperation) for result in good),
            "files_changed": len(changes),
            "lines_added": sum(change.stat.model_added_lines for change in changes),
            "lines_removed": sum(change.stat.model_removed_lines for change in changes),
        }

    @staticmethod
    def _short(outcome: Outcome, summary: dict[str, int]) -> str:
        if outcome.failure is not None:
            return "nothing changed" if not summary["files_changed"] else "stopped"
        text = f"{len(outcome.results)} operations"
        if summary["files_changed"]:
            text += f", +{summary['lines_added']} −{summary['lines_removed']}"
        return text

    def _closing(
        self, outcome: Outcome, summary: dict[str, int], performance: dict[str, Any], reply: ApprovalReply | None
    ) -> str:
        lines = ["=== Summary ==="]
        if outcome.failure is not None:
            lines.append(str(outcome.failure))
        lines.append(", ".join(f"{name.replace('_', ' ')}: {count}" for name, count in summary.items()))
        lines.append(
            f"{performance['duration']:.2f} s, at most {performance['parallelism']} reads together,"
            f" {performance['bytes']:,} bytes written"
        )
        lines += [f"Problem: {problem}" for problem in outcome.problems]
        lines += _describe_reply(reply)
        return "\n".join(lines)

    @staticmethod
    def _model_content(outcome: Outcome, closing: str) -> LlmContent:
        parts: list[ContentPart] = []
        for result in outcome.results:
            head = f"=== {make_visible_line(result.operation.id)} ({result.operation.type}): {result.state} ==="
            content = (result.content,) if isinstance(result.content, str) else result.content
            if content and isinstance(content[0], str):
                parts += [f"{head}\n{content[0].rstrip()}", *content[1:]]
            else:
                parts += [head, *content]
        parts.append(closing)
        if all(isinstance(part, str) for part in parts):
            return "\n\n".join(part for part in parts if isinstance(part, str))
        return tuple(parts)


def _describe_reply(reply: ApprovalReply | None) -> list[str]:
    """Return what the user took, and said of it."""
    if reply is None:
        return []
    lines = [f"The user declined the change of {make_visible_line(path)}." for path in reply.declined]
    for drop in reply.dropped:
        if drop.path not in reply.declined:
            reason = f': "{drop.reason}"' if drop.reason else ""
            lines.append(f"The user declined hunk {drop.header} of {make_visible_line(drop.path)}{reason}.")
    dropped = {drop.path for drop in reply.dropped}
    edited = [path for path in reply.new_contents if path not in dropped]
    lines += [f"The user edited the proposed text of {make_visible_line(path)}." for path in edited]
    lines += [f'The user commented on {note.path}, line {note.line}: "{note.text}"' for note in reply.comments]
    return lines


def _display(changes: Sequence[PathChange], outcome: Outcome, workspace: Workspace) -> str:
    lines = [outcome.failure.message] if outcome.failure is not None else []
    for change in changes[:_SHOWN_FILES]:
        what = "new " if change.created else "deleted " if change.deleted else ""
        name = make_visible_line(workspace.shown(change.path)).replace("`", "'")
        counts = f"+{change.stat.model_added_lines} −{change.stat.model_removed_lines}"
        lines.append(f"- {what}`{name}` {counts}")
    if len(changes) > _SHOWN_FILES:
        lines.append(f"- and {len(changes) - _SHOWN_FILES} more")
    return "\n".join(lines)

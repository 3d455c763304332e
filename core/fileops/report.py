"""What people and models are told of a call: while it runs, and in its result."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from typing import Any

from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.requests import ApprovalReply
from core.contract.tool import ContentPart, LlmContent, ToolError, ToolResult, llm_text
from core.contract.visible import make_visible_line
from core.fileops.changes import PathChange, review_files
from core.fileops.engine import OperationResult, OperationState, Outcome
from core.fileops.planner import Plan
from core.tools.path_invocation import as_code
from core.workspace.workspace import Workspace

_SHOWN_FILES = 20
_SHOWN_REASONS = 3
_SHOWN_STEPS = 6
"""Of the operations that are done, the last ones are shown while it runs."""
_MARKS = {
    OperationState.SUCCEEDED: "✓",
    OperationState.PLANNED: "✓",
    OperationState.FAILED: "✗",
    OperationState.SKIPPED: "–",
}

_DRY_NAMES = {
    "succeeded": "would succeed",
    "failed": "can't be done",
    "files_changed": "files to change",
    "lines_added": "lines to add",
    "lines_removed": "lines to remove",
}
"""What the counts of a dry run are called."""


class FileOperationsReport:
    """Tells what becomes of one call.

    Args:
        dry_run: nothing is changed, and everything is told as what would be.
    """

    def __init__(self, plan: Plan, workspace: Workspace, *, transaction: bool = True, dry_run: bool = False) -> None:
        self._plan = plan
        self._is_one = transaction
        self._dry_run = dry_run and any(item.operation.changes for item in plan.operations)
        self._workspace = workspace
        self._done = 0
        self._latest: deque[tuple[int, OperationState]] = deque(maxlen=_SHOWN_STEPS)

    def note(self, index: int, state: OperationState) -> None:
        """Take notice of an operation that is done."""
        self._done += 1
        self._latest.append((index, state))

    def progress(self) -> str:
        """Return what is shown while it runs: Markdown, the latest last."""
        lines = [f"{self._done} of {len(self._plan.operations)} operations", ""]
        for index, state in self._latest:
            operation = self._plan.operations[index].operation
            name = make_visible_line(operation.id).replace("`", "'")[:60]
            lines.append(f"- {_MARKS[state]} {operation.type} `{name}`")
        return "\n".join(lines)

    def result(self, outcome: Outcome, changes: Sequence[PathChange], reply: ApprovalReply | None) -> ToolResult:
        """Return the result of the call, which changed these files. Blocks."""
        summary = self._summary(outcome, changes)
        performance = self._performance(outcome)
        diff = self._diff(outcome)
        data = {
            "operations": [_described(result) for result in outcome.results],
            "summary": summary,
            "performance": performance,
            "short": self._short(outcome, summary),
        }
        if self._dry_run:
            data["diff"] = diff
        error = None
        if outcome.failure is not None:
            error = ToolError(_why_failed(outcome, outcome.failure), outcome.failure.type)
        elif not any(r.state in (OperationState.SUCCEEDED, OperationState.PLANNED) for r in outcome.results):
            failed = next((r.error for r in outcome.results if r.error is not None), ToolErrorType.DENIED_BY_USER)
            error = ToolError(_why_nothing(outcome), failed)
        closing = "\n".join([*self._counts(outcome, summary, performance), *_describe_reply(reply)])
        if not self._is_one and not self._dry_run:
            closing += "\nThere was no transaction: each operation stands by itself."
        if diff:
            closing = f"=== Nothing was changed; this would be ===\n{diff}\n{closing}"
        display = self._display(changes, outcome) + ("" if error is not None else _told_apart(outcome))
        return ToolResult(_model_content(outcome, closing), display.strip(), error, data)

    def _diff(self, outcome: Outcome) -> str:
        """Return the whole change that a dry run planned."""
        if not outcome.planned:
            return ""
        wanted = set(outcome.planned)
        return "".join(file.file_diff for file in review_files(self._plan, self._workspace) if file.file_path in wanted)

    @staticmethod
    def _summary(outcome: Outcome, changes: Sequence[PathChange]) -> dict[str, int]:
        """What a dry run would do counts as done: its operations say that it was only planned."""
        states = Counter(result.state for result in outcome.results)
        return {
            "succeeded": states[OperationState.SUCCEEDED] + states[OperationState.PLANNED],
            "failed": states[OperationState.FAILED],
            "files_read": sum(result.found.files for result in outcome.results if result.found is not None),
            "files_changed": sum(change.files for change in changes),
            "lines_added": sum(change.stat.model_added_lines for change in changes),
            "lines_removed": sum(change.stat.model_removed_lines for change in changes),
        }

    def _performance(self, outcome: Outcome) -> dict[str, Any]:
        """`duration` in seconds; `bytes` read and written."""
        found = [result.found for result in outcome.results if result.found is not None]
        written = sum(len(e.data) for p in outcome.changed if (e := self._plan.after.get(p)) is not None)
        return {
            "duration": round(outcome.duration, 4),
            "parallelism": outcome.parallelism,
            "cache_hits": sum(each.cache_hits for each in found),
            "bytes": sum(each.bytes for each in found) + written,
        }

    def _display(self, changes: Sequence[PathChange], outcome: Outcome) -> str:
        lines = [_why_failed(outcome, outcome.failure)] if outcome.failure is not None else []
        if self._dry_run:
            doom = self._doom(outcome)
            planned = "the others alone would come to:" if doom else "this would be:"
            lines += ["Nothing was changed" + (f"; {planned}" if changes else ", nor would be."), ""]
            lines[:0] = [doom] if doom else []
        new, gone, other = ("create ", "delete ", "change ") if self._dry_run else ("new ", "deleted ", "")
        for change in changes[:_SHOWN_FILES]:
            what = new if change.created else gone if change.deleted else other
            name = make_visible_line(self._workspace.shown(change.path)).replace("`", "'")
            counts = f"+{change.stat.model_added_lines} −{change.stat.model_removed_lines}"
            if change.is_directory:
                name, counts = f"{name}/", f"{change.files} file{'s' if change.files != 1 else ''}"
            lines.append(f"- {what}`{name}` {counts}")
        if len(changes) > _SHOWN_FILES:
            lines.append(f"- and {len(changes) - _SHOWN_FILES} more")
        return "\n".join(lines)

    def _doom(self, outcome: Outcome) -> str:
        """Return why nothing of a dry run would be done in earnest; empty if all would."""
        failed = sum(result.state is OperationState.FAILED for result in outcome.results)
        if not (self._dry_run and self._is_one and failed):
            return ""
        return f"{failed} of {len(outcome.results)} operations can't be done: as one transaction, nothing would be."

    def _short(self, outcome: Outcome, summary: dict[str, int]) -> str:
        if outcome.failure is not None:
            return "nothing changed" if not summary["files_changed"] else "stopped"
        done = sum(result.state in (OperationState.SUCCEEDED, OperationState.PLANNED) for result in outcome.results)
        count = len(outcome.results)
        text = f"{count} operation{'s' if count != 1 else ''}" if done == count else f"{done} of {count} operations"
        if summary["files_changed"]:
            text += f", +{summary['lines_added']} −{summary['lines_removed']}"
        return f"{text} (dry run)" if self._dry_run else text

    def _counts(self, outcome: Outcome, summary: dict[str, int], performance: dict[str, Any]) -> list[str]:
        lines = ["=== Summary of a dry run: nothing was changed ===" if self._dry_run else "=== Summary ==="]
        if outcome.failure is not None:
            lines.append(str(outcome.failure))
        names = _DRY_NAMES if self._dry_run else {}
        counts = [f"{names.get(name, name.replace('_', ' '))}: {count}" for name, count in summary.items()]
        skipped = sum(result.state is OperationState.SKIPPED for result in outcome.results)
        if skipped:
            counts.insert(2, f"not done: {skipped}")
        lines.append(", ".join(counts))
        lines.append(
            f"{performance['duration']:.2f} s, at most {performance['parallelism']} looking at the same time,"
            f" {performance['cache_hits']} of {summary['files_read']} files from the cache,"
            f" {performance['bytes']:,} bytes"
        )
        lines += [f"Problem: {problem}" for problem in (*outcome.problems, self._doom(outcome)) if problem]
        return lines


def _told_apart(outcome: Outcome) -> str:
    """Return a line of Markdown for each operation that looked at something, and for each that was not done."""
    lines = []
    for result in outcome.results:
        operation, is_bad = result.operation, result.state in (OperationState.FAILED, OperationState.SKIPPED)
        if is_bad:
            said = make_visible_line(llm_text(result.content).strip().partition("\n")[0])
        elif result.found is not None:
            said = result.found.said
        else:
            continue
        mark = f"{_MARKS[result.state]} " if is_bad else ""
        lines.append(f"- {mark}{operation.type} {as_code(operation.subject)}" + (f": {said}" if said else ""))
    if len(lines) > _SHOWN_FILES:
        lines = [*lines[:_SHOWN_FILES], f"- and {len(lines) - _SHOWN_FILES} more"]
    return "".join(f"\n{line}" for line in lines)


def _described(result: OperationResult) -> dict[str, Any]:
    return {
        "id": result.operation.id,
        "type": str(result.operation.type),
        "state": result.state.value,
        "paths": list(result.paths),
        "content": llm_text(result.content),
        "error": result.error.value if result.error is not None else None,
    }


def _why_failed(outcome: Outcome, failure: ToolFailure) -> str:
    """Return why everything was taken back, with the reasons of the operations that could not be done."""
    reasons = [
        f"operation '{make_visible_line(result.operation.id)}': {llm_text(result.content).strip()}"
        for result in outcome.results
        if result.state is OperationState.FAILED and llm_text(result.content).strip() != str(failure)
    ]
    more = [f"and {len(reasons) - _SHOWN_REASONS} more"] if len(reasons) > _SHOWN_REASONS else []
    return "\n".join([failure.message, *reasons[:_SHOWN_REASONS], *more])


def _why_nothing(outcome: Outcome) -> str:
    """Return why no operation was done: the reasons themselves where they are few."""
    reasons = dict.fromkeys(llm_text(result.content).strip() for result in outcome.results if result.content)
    if not 0 < len(reasons) <= _SHOWN_REASONS:
        return f"None of the {len(outcome.results)} operations was done."
    return "\n".join(reasons)


def _model_content(outcome: Outcome, closing: str) -> LlmContent:
    """Return the results one after the other, a blank line between them; texts are copied only once."""
    parts: list[ContentPart] = []
    pieces: list[str] = []
    for result in outcome.results:
        pieces.append(f"=== {make_visible_line(result.operation.id)} ({result.operation.type}): {result.state} ===")
        content = (result.content,) if isinstance(result.content, str) else result.content
        if content and isinstance(content[0], str):
            first = content[0]
            ends_in_break = first[-1:] == "\n" and not first[-2:-1].isspace()
            pieces += ["\n", first, "\n"] if ends_in_break else ["\n", first.rstrip(), "\n\n"]
            content = content[1:]
        else:
            pieces.append("\n\n")
        if content:
            parts += ["".join(pieces).rstrip(), *content]
            pieces.clear()
    pieces.append(closing)
    if not parts:
        return "".join(pieces)
    parts.append("".join(pieces))
    if all(isinstance(part, str) for part in parts):
        return "\n\n".join(part for part in parts if isinstance(part, str))
    return tuple(parts)


def _describe_reply(reply: ApprovalReply | None) -> list[str]:
    """Return what the user took, and said of it."""
    if reply is None:
        return []
    lines = []
    for path in reply.declined:
        reasons = dict.fromkeys(drop.reason for drop in reply.dropped if drop.path == path and drop.reason)
        why = f': "{"; ".join(reasons)}"' if reasons else ""
        lines.append(f"The user declined the change of {make_visible_line(path)}{why}.")
    for drop in reply.dropped:
        if drop.path not in reply.declined:
            reason = f': "{drop.reason}"' if drop.reason else ""
            lines.append(f"The user declined hunk {drop.header} of {make_visible_line(drop.path)}{reason}.")
    dropped = {drop.path for drop in reply.dropped}
    edited = [path for path in reply.new_contents if path not in dropped]
    lines += [f"The user edited the proposed text of {make_visible_line(path)}." for path in edited]
    lines += [f'The user commented on {note.path}, line {note.line}: "{note.text}"' for note in reply.comments]
    return lines

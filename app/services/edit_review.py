"""One review of all that the edits of a step propose, and for each call the reply that says what the reviewer took.

It knows nothing of queues; what stands in a reply is exactly what was on screen.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from app.services.editor import edit_text
from app.stage import Stage
from core.contract.confirmation import EditConfirmation, FileOperationsConfirmation, ToolConfirmationOutcome
from core.contract.diff import FilePatch
from core.contract.ids import CallId
from core.contract.requests import ApprovalReply, ApprovalRequest, DroppedHunk
from core.diff.hunks import apply_hunks, make_patch
from core.diff.merge import merge_texts
from widgets.approval.dialog import DecisionScreen, Shown, present
from widgets.diff.outcome import FileReview, ReviewDecision, ReviewOutcome
from widgets.diff.review import ReviewScreen

_SPLIT = {"auto": None, "unified": False, "split": True}
"""By the setting `ui.diff_view`."""
_OUTCOMES = {
    ReviewDecision.ONCE: ToolConfirmationOutcome.PROCEED_ONCE,
    ReviewDecision.SESSION: ToolConfirmationOutcome.PROCEED_ALWAYS,
    ReviewDecision.SAVE: ToolConfirmationOutcome.PROCEED_ALWAYS_AND_SAVE,
    ReviewDecision.DENY: ToolConfirmationOutcome.CANCEL,
}


@dataclass(frozen=True, slots=True)
class _ReviewedFile:
    call: CallId
    details: EditConfirmation


class EditReview:
    """Shows the proposals of one or several requests in one review.

    Args:
        requests: about edits; no two of them of the same file.
    """

    def __init__(self, stage: Stage, requests: Sequence[ApprovalRequest]) -> None:
        self._stage = stage
        self._requests = {request.call.id: request for request in requests}
        self._files: dict[str, _ReviewedFile] = {}
        """By path as shown."""
        for request in requests:
            self._take_files(request)
        self._renewals: Counter[CallId] = Counter()
        """How often a call's proposal was to be made again."""
        self.screen: ReviewScreen | None = None
        self._early: list[Callable[[], None]] | None = []
        """What is to be done to the screen as soon as it is laid out; none from then on."""

    def _take_files(self, request: ApprovalRequest) -> None:
        for file in files_of(request):
            self._files[self._stage.engine.workspace.shown(file.file_path)] = _ReviewedFile(request.call.id, file)

    async def decide(self, on_shown: Shown) -> dict[CallId, ApprovalReply]:
        """Show the review until it is decided; return each call's reply."""
        patches: list[FilePatch] = []
        shown: dict[str, _ReviewedFile] = {}
        while shown != self._files:  # one may be made again meanwhile
            shown = dict(self._files)
            patches = await asyncio.to_thread(_patches_of, shown)
        requests = list(self._requests.values())
        grants = {request.grant for request in requests}
        reasons = dict.fromkeys(request.reason for request in requests if request.reason)
        several = len(requests) > 1
        self.screen = ReviewScreen(
            patches,
            title=f"{len(requests)} edits of one step" if several else requests[0].details.title,
            tool=", ".join(dict.fromkeys(_who_asks(request) for request in requests)),
            reason="; ".join(reasons),
            grant=requests[0].grant if len(grants) == 1 else "",
            rule={path: _rule_shown(self._requests[file.call]) for path, file in self._files.items()},
            scopes=requests[0].scopes,
            notes={path: file.details.notes for path, file in self._files.items()},
            dropped_with=self._dropped_with(),
            recompute=self._recompute,
            open_editor=self._open_editor,
            merge=merge_texts,
            split=_SPLIT[self._stage.engine.settings.ui.diff_view],
        )

        def catch_up(dialog: DecisionScreen[Any]) -> None:
            early, self._early = self._early or [], None
            for change in early:
                change()
            on_shown(dialog)

        return self._replies(await present(self._stage.app, self.screen, catch_up))

    def _dropped_with(self) -> dict[str, list[str]]:
        shown = self._stage.engine.workspace.shown
        return {path: [shown(other) for other in file.details.dropped_with] for path, file in self._files.items()}

    async def _recompute(self, path: str, new_text: str) -> FilePatch:
        return await asyncio.to_thread(make_patch, path, self._files[path].details.original_content, new_text)

    async def _open_editor(self, path: str, text: str) -> str | None:
        return await edit_text(self._stage.app, text, Path(path).name)

    def _replies(self, outcome: ReviewOutcome) -> dict[CallId, ApprovalReply]:
        replies: dict[CallId, ApprovalReply] = {}
        for call, request in self._requests.items():
            paths = {path: file.details.file_path for path, file in self._files.items() if file.call == call}
            own = replace(
                outcome,
                files=tuple(file for file in outcome.files if file.path in paths),
                comments=tuple(comment for comment in outcome.comments if comment.path in paths),
            )
            if isinstance(request.details, FileOperationsConfirmation):
                replies[call] = reply_of_files(own, paths)
            else:
                replies[call] = reply_of_review(own)
        return replies

    # --- while it is shown ------------------------------------------------------------------------

    def hold(self, call: CallId) -> None:
        """Let nothing be accepted: a call's proposal is being made again."""
        self._renewals[call] += 1
        for path in self._paths_of(call):
            self._change(ReviewScreen.hold, path)

    async def renew(self, request: ApprovalRequest) -> None:
        """Show a call's proposal as it is now; what still fits of marks, remarks and edits is kept."""
        call = request.call.id
        renewal = self._renewals[call]
        before = {path: self._files[path].details for path in self._paths_of(call)}
        details = {self._stage.engine.workspace.shown(file.file_path): file for file in files_of(request)}
        patches = {path: await asyncio.to_thread(_patch_of, path, file) for path, file in details.items()}
        edited: dict[str, FilePatch | None] = {}
        for path in before:
            if path in details and self._is_current(call, renewal):
                edited[path] = await self._keep_edits(path, details[path])
        if not self._is_current(call, renewal):
            return
        self._requests[call] = request
        for path in before:
            del self._files[path]
        self._take_files(request)
        for path, patch in patches.items():
            note = f"{path} changed on disk: this is the proposal for it as it is now."
            if path in before:
                same = before[path].original_content == details[path].original_content
                self._change(_renew_patch, patch, edited[path], "" if same else note)
            else:
                self._change(ReviewScreen.add, patch, (*details[path].notes, note))
        self._take_off([path for path in before if path not in self._files], "is changed no longer")

    def _is_current(self, call: CallId, renewal: int) -> bool:
        """Whether a call still asks, and has not to be made again once more."""
        return call in self._requests and self._renewals[call] == renewal

    async def _keep_edits(self, path: str, details: EditConfirmation) -> FilePatch | None:
        """Return the new proposal with the reviewer's edits; none where there are none, or where they don't fit."""
        if self.screen is None or not (proposal := self.screen.find_proposal(path)).is_edited:
            return None
        text = await asyncio.to_thread(merge_texts, proposal.proposed, proposal.patch.new_text, details.new_content)
        if text is None:
            return None
        return await asyncio.to_thread(make_patch, path, details.original_content, text)

    def take_out(self, call: CallId) -> None:
        """Remove a call that asks no longer; another one must be left."""
        paths = self._paths_of(call)
        del self._requests[call]
        for path in paths:
            del self._files[path]
        self._take_off(paths, "is asked about no longer")

    def _take_off(self, paths: Iterable[str], why: str) -> None:
        for path in paths:
            self._change(ReviewScreen.take_out, path, f"{path} {why}.")

    def _change(self, change: Callable[..., None], *given: Any) -> None:
        """Change the screen, as soon as it is laid out; one that is not made yet will be of what holds then."""
        if self.screen is None:
            return
        if self._early is None:
            change(self.screen, *given)
        else:
            self._early.append(partial(change, self.screen, *given))

    def _paths_of(self, call: CallId) -> list[str]:
        return [path for path, file in self._files.items() if file.call == call]


def files_of(request: ApprovalRequest) -> tuple[EditConfirmation, ...]:
    """Return the files that a request wants to change; none where it is about something else."""
    details = request.details
    if isinstance(details, EditConfirmation):
        return (details,)
    return details.files if isinstance(details, FileOperationsConfirmation) else ()


def _renew_patch(screen: ReviewScreen, patch: FilePatch, edited: FilePatch | None, note: str) -> None:
    if edited is None and screen.find_proposal(patch.path).is_edited:
        note += " Your edits were of lines that changed, and are gone."
    screen.renew_patch(patch.path, patch, edited=edited, note=note)


def _patches_of(files: Mapping[str, _ReviewedFile]) -> list[FilePatch]:
    return [_patch_of(path, file.details) for path, file in files.items()]


def _patch_of(path: str, file: EditConfirmation) -> FilePatch:
    return make_patch(path, file.original_content, None if file.is_deleted else file.new_content)


def _who_asks(request: ApprovalRequest) -> str:
    return " · ".join(filter(None, (request.display_name, request.asker_in_words)))


def _rule_shown(request: ApprovalRequest) -> str:
    """Return the rule that would be saved, with what it would have let through so far."""
    if not request.rule or not request.would_have_allowed:
        return request.rule
    listed = "\n".join(f"#   {text}" for text in request.would_have_allowed)
    return f"{request.rule}\n# so far it would have let through:\n{listed}"


def reply_of_review(outcome: ReviewOutcome) -> ApprovalReply:
    """Return a review's outcome for one file as the reply: its content is what the reviewer saw, byte for byte."""
    if not outcome.is_accepted:
        return ApprovalReply(_OUTCOMES[outcome.decision], outcome.feedback, comments=outcome.comments)
    (file,) = outcome.files
    if not file.accepted:
        return ApprovalReply(ToolConfirmationOutcome.CANCEL, _why_declined(file), comments=outcome.comments)
    new_content = None if file.is_whole else apply_hunks(file.patch, file.accepted)
    return ApprovalReply(
        _OUTCOMES[outcome.decision],
        outcome.feedback,
        new_content,
        dropped=file.dropped,
        comments=outcome.comments,
        scope=outcome.scope,
    )


def _why_declined(file: FileReview) -> str:
    """Return what was said of a file of which nothing is taken."""
    if file.reason:
        return file.reason
    return "; ".join(f"{drop.header}: {drop.reason}" for drop in file.dropped if drop.reason)


def reply_of_files(outcome: ReviewOutcome, paths: Mapping[str, str]) -> ApprovalReply:
    """As `reply_of_review`, for a change of several files; `paths` has the absolute path of each that was shown."""
    contents: dict[str, str] = {}
    declined: list[str] = []
    dropped: list[DroppedHunk] = []
    for file in outcome.files if outcome.is_accepted else ():
        dropped += [replace(drop, path=paths[file.path]) for drop in file.dropped]
        if not file.accepted and file.edited_text is None:
            declined.append(paths[file.path])
        elif not file.is_whole:
            contents[paths[file.path]] = apply_hunks(file.patch, file.accepted)
    if outcome.is_accepted and len(declined) == len(outcome.files):
        reasons = [f"{file.path}: {why}" for file in outcome.files if (why := _why_declined(file))]
        return ApprovalReply(ToolConfirmationOutcome.CANCEL, "; ".join(reasons), comments=outcome.comments)
    return ApprovalReply(
        _OUTCOMES[outcome.decision],
        outcome.feedback,
        new_contents=contents,
        declined=tuple(declined),
        scope=outcome.scope,
        dropped=tuple(dropped),
        comments=outcome.comments,
    )

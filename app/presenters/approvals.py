"""Approvals: requests of the session, shown one at a time, answered exactly as the user decided."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from app.bridge import Routes
from app.services.editor import edit_text
from app.stage import Presenter, Stage
from core.contract.confirmation import EditConfirmation, FileOperationsConfirmation, ToolConfirmationOutcome
from core.contract.diff import FilePatch
from core.contract.envelope import Envelope
from core.contract.events import Notice, NoticeLevel, RequestWithdrawn
from core.contract.ids import RequestId
from core.contract.requests import ApprovalReply, ApprovalRequest, DroppedHunk, QuestionRequest, Reply
from core.diff.hunks import apply_hunks, make_patch
from widgets.approval.ask import ask
from widgets.approval.dialog import DecisionScreen, present
from widgets.approval.guard import wait_for_pause
from widgets.diff.outcome import ReviewDecision, ReviewOutcome
from widgets.diff.review import ReviewScreen

log = logging.getLogger(__name__)

_SPLIT = {"auto": None, "unified": False, "split": True}
"""By the setting `ui.diff_view`."""
_OUTCOMES = {
    ReviewDecision.ONCE: ToolConfirmationOutcome.PROCEED_ONCE,
    ReviewDecision.SESSION: ToolConfirmationOutcome.PROCEED_ALWAYS,
    ReviewDecision.SAVE: ToolConfirmationOutcome.PROCEED_ALWAYS_AND_SAVE,
    ReviewDecision.DENY: ToolConfirmationOutcome.CANCEL,
}


@dataclass(slots=True)
class _Waiting:
    id: RequestId
    request: ApprovalRequest | QuestionRequest
    title: str


class ApprovalsPresenter(Presenter):
    """Asks the user, one question at a time."""

    def __init__(self, stage: Stage, pause: float = 1.0) -> None:
        """Args: pause: seconds without a key before a dialog opens."""
        super().__init__(stage)
        self._pause = pause
        self._queue: deque[_Waiting] = deque()
        self._arrived = asyncio.Event()
        self._current: tuple[_Waiting, asyncio.Task[Reply]] | None = None
        self.minimised: DecisionScreen[Any] | None = None
        self.on_waiting: Callable[[str], None] = lambda text: None
        """Told what waits for the user, in a few words; empty for nothing."""
        stage.spawn(self._serve())

    def routes(self) -> Routes:
        return {ApprovalRequest: self._enqueue, QuestionRequest: self._enqueue, RequestWithdrawn: self._withdraw}

    def message_routes(self) -> dict[type, Callable[[Any], None]]:
        return {DecisionScreen.Minimised: self._note_minimised}

    def register(self) -> None:
        self.stage.app.dispatch.register("approval.show", self.restore)

    def _enqueue(self, envelope: Envelope) -> None:
        request = envelope.payload
        assert isinstance(request, (ApprovalRequest, QuestionRequest))
        title = request.title if isinstance(request, QuestionRequest) else title_of(request)
        self._queue.append(_Waiting(RequestId(envelope.id), request, title))
        self._arrived.set()
        self._tell()

    def _withdraw(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, RequestWithdrawn)
        request_id = envelope.payload.request_id
        self._queue = deque(waiting for waiting in self._queue if waiting.id != request_id)
        if self._current is not None and self._current[0].id == request_id:
            self._current[1].cancel()
        self._tell()

    async def _serve(self) -> None:
        while True:
            await self._arrived.wait()
            while self._queue:
                await wait_for_pause(lambda: self.stage.app.last_key, pause=self._pause)
                if self._queue:  # it may have been withdrawn in the pause
                    await self._ask(self._queue.popleft())
            self._arrived.clear()
            if self._queue:
                self._arrived.set()

    async def _ask(self, waiting: _Waiting) -> None:
        task = asyncio.ensure_future(self._decide(waiting.request))
        self._current = (waiting, task)
        self._tell()
        try:
            await asyncio.wait({task})
            if not task.cancelled():
                self.stage.engine.bus.reply(waiting.id, await self._reply_of(task, waiting))
        finally:
            task.cancel()
            self._current = None
            self.minimised = None
            self._tell()

    async def _reply_of(self, task: asyncio.Task[Reply], waiting: _Waiting) -> Reply:
        """Return the decision. What could not be asked, by an error of ours, is refused, and the user is told."""
        error = task.exception()
        if error is None:
            return task.result()
        log.error("asking %r failed", waiting.title, exc_info=error)
        what = f"The question {waiting.title!r} could not be shown: {error}"
        await self.stage.engine.bus.publish(Notice(what, "It counts as refused. See the log.", NoticeLevel.ERROR))
        reply = waiting.request.unanswered()
        return replace(reply, feedback="the question could not be shown") if isinstance(reply, ApprovalReply) else reply

    async def _decide(self, request: ApprovalRequest | QuestionRequest) -> Reply:
        place = (1, 1 + len(self._queue))
        if isinstance(request, ApprovalRequest):
            if isinstance(request.details, EditConfirmation):
                return reply_of_review(await self._review(request, (request.details,), place))
            if isinstance(request.details, FileOperationsConfirmation):
                files = request.details.files
                paths = {self.stage.engine.workspace.shown(file.file_path): file.file_path for file in files}
                return reply_of_files(await self._review(request, files, place), paths)
        return await ask(self.stage.app, request, place=place)

    async def _review(
        self, request: ApprovalRequest, files: tuple[EditConfirmation, ...], place: tuple[int, int]
    ) -> ReviewOutcome:
        by_path = {self.stage.engine.workspace.shown(file.file_path): file for file in files}

        async def recompute(path: str, new_text: str) -> FilePatch:
            return await asyncio.to_thread(make_patch, path, by_path[path].original_content, new_text)

        async def open_editor(path: str, text: str) -> str | None:
            return await edit_text(self.stage.app, text, Path(path).name)

        patches = await asyncio.to_thread(
            lambda: [
                make_patch(path, file.original_content, None if file.is_deleted else file.new_content)
                for path, file in by_path.items()
            ]
        )
        return await present(
            self.stage.app,
            ReviewScreen(
                patches,
                title=request.details.title,
                tool=" · ".join(filter(None, (request.display_name, request.asker_in_words))),
                reason=request.reason,
                grant=request.grant,
                rule=_rule_shown(request),
                notes={path: file.notes for path, file in by_path.items()},
                recompute=recompute,
                open_editor=open_editor,
                place=place,
                split=_SPLIT[self.stage.engine.settings.ui.diff_view],
            ),
        )

    # --- minimised --------------------------------------------------------------------------------

    def _note_minimised(self, message: DecisionScreen.Minimised) -> None:
        self.minimised = message.dialog
        self._tell()

    def restore(self) -> None:
        """Show the dialog that was put aside."""
        if self.minimised is not None:
            dialog, self.minimised = self.minimised, None
            dialog.restore()
            self._tell()

    def _tell(self) -> None:
        count = len(self._queue) + (self._current is not None)
        if not count:
            self.on_waiting("")
            return
        title = self._current[0].title if self._current is not None else self._queue[0].title
        more = f" (+{count - 1})" if count > 1 else ""
        back = ", f8 shows it" if self.minimised is not None else ""
        self.on_waiting(f"waits for you: {title}{more}{back}")


def title_of(request: ApprovalRequest) -> str:
    """Return what is asked about in a few words, and who asks if it is not the session's agent."""
    title = request.details.title
    return f"{title} ({request.asker_in_words})" if request.asker else title


def _rule_shown(request: ApprovalRequest) -> str:
    """Return the rule that would be saved, with what it would have let through so far."""
    if not request.rule or not request.would_have_allowed:
        return request.rule
    listed = "\n".join(f"#   {text}" for text in request.would_have_allowed)
    return f"{request.rule}\n# so far it would have let through:\n{listed}"


def reply_of_review(outcome: ReviewOutcome) -> ApprovalReply:
    """Return a review's outcome as the reply: its content is what the reviewer saw, byte for byte."""
    new_content: str | None = None
    dropped: tuple[DroppedHunk, ...] = ()
    if outcome.is_accepted:
        (file,) = outcome.files
        dropped = file.dropped
        if not file.is_whole:
            new_content = apply_hunks(file.patch, file.accepted)
    return ApprovalReply(
        _OUTCOMES[outcome.decision], outcome.feedback, new_content, dropped=dropped, comments=outcome.comments
    )


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
    return ApprovalReply(
        _OUTCOMES[outcome.decision],
        outcome.feedback,
        new_contents=contents,
        declined=tuple(declined),
        dropped=tuple(dropped),
        comments=outcome.comments,
    )

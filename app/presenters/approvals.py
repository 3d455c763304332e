"""Approvals: requests of the session, shown one at a time, answered exactly as the user decided."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from app.bridge import Routes
from app.services.edit_review import EditReview, files_of
from app.stage import Presenter, Stage
from core.contract.confirmation import EditConfirmation
from core.contract.envelope import Envelope
from core.contract.events import Notice, NoticeLevel, RequestWithdrawn, ToolCallFinished
from core.contract.ids import CallId, RequestId
from core.contract.requests import ApprovalReply, ApprovalRequest, QuestionRequest, Reply
from widgets.approval.ask import ask
from widgets.approval.dialog import DecisionScreen
from widgets.approval.guard import wait_for_pause

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Waiting:
    id: RequestId
    request: ApprovalRequest | QuestionRequest
    title: str
    turn: int = 0
    is_renewed: bool = False
    """Withdrawn, as its proposal is being made again: another request for the same call follows, or the call's end."""

    @property
    def call(self) -> CallId | None:
        return self.request.call.id if isinstance(self.request, ApprovalRequest) else None

    def goes_with(self, other: _Waiting) -> bool:
        """Whether one review can show both: single edits of one step."""
        return (
            self.turn == other.turn
            and isinstance(self.request, ApprovalRequest)
            and isinstance(other.request, ApprovalRequest)
            and isinstance(self.request.details, EditConfirmation)
            and isinstance(other.request.details, EditConfirmation)
            and self.request.details.file_path != other.request.details.file_path
        )


@dataclass(slots=True)
class _Asking:
    """What is on screen now, or put aside."""

    waiting: list[_Waiting]
    review: EditReview | None = None
    task: asyncio.Task[None] | None = None


class ApprovalsPresenter(Presenter):
    """Asks the user, one question at a time."""

    def __init__(self, stage: Stage, pause: float = 1.0) -> None:
        """Args: pause: seconds without a key before a dialog opens."""
        super().__init__(stage)
        self._pause = pause
        self._queue: deque[_Waiting] = deque()
        self._arrived = asyncio.Event()
        self._current: _Asking | None = None
        self._refused: dict[CallId, ApprovalReply] = {}
        """Decided while the proposal was made again: what its next request is answered with."""
        self._dialog: DecisionScreen[Any] | None = None
        self.minimised: DecisionScreen[Any] | None = None
        self.on_waiting: Callable[[str], None] = lambda text: None
        """Told what waits for the user, in a few words; empty for nothing."""
        stage.spawn(self._serve())

    def routes(self) -> Routes:
        return {
            ApprovalRequest: self._enqueue,
            QuestionRequest: self._enqueue,
            RequestWithdrawn: self._withdraw,
            ToolCallFinished: self._end_call,
        }

    def message_routes(self) -> dict[type, Callable[[Any], None]]:
        return {DecisionScreen.Minimised: self._note_minimised}

    def register(self) -> None:
        self.stage.app.dispatch.register("approval.show", self.restore)

    def _enqueue(self, envelope: Envelope) -> None:
        request = envelope.payload
        assert isinstance(request, (ApprovalRequest, QuestionRequest))
        title = request.title if isinstance(request, QuestionRequest) else request.details.title
        arrived = _Waiting(RequestId(envelope.id), request, title, envelope.turn)
        if arrived.call is not None and (refusal := self._refused.pop(arrived.call, None)) is not None:
            self.stage.engine.bus.reply(arrived.id, refusal)
        elif not self._renew(arrived):
            self._queue.append(arrived)
            self._arrived.set()
        self._tell()

    def _renew(self, arrived: _Waiting) -> bool:
        """Put a proposal that was made again into the review that shows it; false where there is none."""
        current = self._current
        if current is None or current.review is None or not isinstance(arrived.request, ApprovalRequest):
            return False
        for index, waiting in enumerate(current.waiting):
            if waiting.is_renewed and waiting.call == arrived.call:
                current.waiting[index] = arrived
                self.stage.spawn(current.review.renew(arrived.request))
                return True
        return False

    def _withdraw(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, RequestWithdrawn)
        request_id = envelope.payload.request_id
        self._queue = deque(waiting for waiting in self._queue if waiting.id != request_id)
        current = self._current
        for waiting in current.waiting if current is not None else ():
            if waiting.id != request_id or current is None:
                continue
            if envelope.payload.renewed and current.review is not None and waiting.call is not None:
                waiting.is_renewed = True
                current.review.hold(waiting.call)
            else:
                self._take_out(current, waiting)
            break
        self._tell()

    def _end_call(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, ToolCallFinished)
        call = envelope.payload.id
        self._refused.pop(call, None)
        current = self._current
        for waiting in current.waiting if current is not None else ():
            if waiting.call == call and current is not None:
                self._take_out(current, waiting)
                break

    def _take_out(self, current: _Asking, waiting: _Waiting) -> None:
        """Ask no longer about one of the calls that are shown."""
        current.waiting.remove(waiting)
        if current.waiting and current.review is not None and waiting.call is not None:
            current.review.take_out(waiting.call)
        elif current.task is not None:
            current.task.cancel()

    async def _serve(self) -> None:
        while True:
            await self._arrived.wait()
            while self._queue:
                await wait_for_pause(lambda: self.stage.app.last_key, pause=self._pause)
                if self._queue:  # it may have been withdrawn in the pause
                    await self._ask(self._next())
            self._arrived.clear()
            if self._queue:
                self._arrived.set()

    def _next(self) -> _Asking:
        """Take what is asked next: a question, or all edits that one review can show."""
        asking = _Asking([self._queue.popleft()])
        while self._queue and all(self._queue[0].goes_with(other) for other in asking.waiting):
            asking.waiting.append(self._queue.popleft())
        requests = [each.request for each in asking.waiting if isinstance(each.request, ApprovalRequest)]
        if requests and files_of(requests[0]):
            asking.review = EditReview(self.stage, requests)
        return asking

    async def _ask(self, asking: _Asking) -> None:
        asking.task = task = asyncio.ensure_future(self._decide(asking))
        self._current = asking
        self._tell()
        try:
            await asyncio.wait({task})
            if not task.cancelled() and (error := task.exception()) is not None:
                await self._refuse_all(asking, error)
        finally:
            task.cancel()
            self._current = None
            self._dialog = None
            self.minimised = None
            self._tell()

    async def _decide(self, asking: _Asking) -> None:
        """Show what is asked until it is decided, and answer."""
        if asking.review is None:
            (waiting,) = asking.waiting
            self._reply(waiting, await ask(self.stage.app, waiting.request, on_shown=self._list_queue))
            return
        replies = await asking.review.decide(self._list_queue)
        for waiting in asking.waiting:  # all at once: a grant to the one must not take the question of another back
            assert waiting.call is not None
            self._reply(waiting, replies[waiting.call])

    def _reply(self, waiting: _Waiting, reply: Reply) -> None:
        if not waiting.is_renewed:
            self.stage.engine.bus.reply(waiting.id, reply)
        elif waiting.call is not None and isinstance(reply, ApprovalReply) and not reply.approved:
            self._refused[waiting.call] = reply  # an acceptance would be of what is no longer proposed: it asks anew

    async def _refuse_all(self, asking: _Asking, error: BaseException) -> None:
        """Refuse what could not be asked, by an error of ours, and tell the user."""
        for waiting in asking.waiting:
            log.error("asking %r failed", waiting.title, exc_info=error)
            what = f"The question {waiting.title!r} could not be shown: {error}"
            await self.stage.engine.bus.publish(Notice(what, "It counts as refused. See the log.", NoticeLevel.ERROR))
            reply = waiting.request.unanswered()
            if isinstance(reply, ApprovalReply):
                reply = replace(reply, feedback="the question could not be shown")
            self._reply(waiting, reply)

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

    def _list_queue(self, dialog: DecisionScreen[Any]) -> None:
        """Show in the dialog what is asked after it."""
        self._dialog = dialog
        dialog.show_queue([waiting.title for waiting in self._queue])

    def _tell(self) -> None:
        shown = self._current.waiting if self._current is not None else []
        count = len(self._queue) + len(shown)
        if self._dialog is not None:
            self._list_queue(self._dialog)
        if not count:
            self.on_waiting("")
            return
        title = (shown or self._queue)[0].title
        more = f" (+{count - 1})" if count > 1 else ""
        back = ", f8 shows it" if self.minimised is not None else ""
        self.on_waiting(f"waits for you: {title}{more}{back}")


def title_of(request: ApprovalRequest) -> str:
    """Return what is asked about in a few words, and who asks if it is not the session's agent."""
    title = request.details.title
    return f"{title} ({request.asker_in_words})" if request.asker else title

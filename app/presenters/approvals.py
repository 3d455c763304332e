"""Approvals: requests of the session, shown one at a time, answered exactly as the user decided.

In the order in which they came, unless the user chooses another.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from app.bridge import Routes
from app.services.choosing import choose
from app.services.edit_review import EditReview, files_of
from app.services.pending import Asking, Pending, Waiting, title_of
from app.stage import Presenter, Stage
from core.contract.envelope import Envelope
from core.contract.events import Notice, NoticeLevel, RequestWithdrawn, ToolCallFinished
from core.contract.ids import CallId, RequestId
from core.contract.requests import ApprovalReply, ApprovalRequest, QuestionRequest, Reply
from widgets.approval.ask import ask
from widgets.approval.dialog import DecisionScreen, put_aside
from widgets.approval.guard import wait_for_pause
from widgets.choice.screen import ChoiceScreen
from widgets.prompt.candidates import Candidate

log = logging.getLogger(__name__)


class ApprovalsPresenter(Presenter):
    """Asks the user, one question at a time."""

    def __init__(self, stage: Stage, pause: float = 1.0) -> None:
        """Args: pause: seconds without a key before a dialog opens."""
        super().__init__(stage)
        self._pause = pause
        self._pending = Pending()
        self._arrived = asyncio.Event()
        self._chosen: asyncio.Future[Asking | list[Waiting]] | None = None
        """What the user chose to be asked instead of what is on screen."""
        self._refused: dict[CallId, ApprovalReply] = {}
        """Decided while the proposal was made again: what its next request is answered with."""
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
        return {DecisionScreen.Minimised: self._note_minimised, DecisionScreen.OthersWanted: self._offer_others}

    def register(self) -> None:
        self.stage.app.dispatch.register("approval.show", self.restore)

    def _enqueue(self, envelope: Envelope) -> None:
        request = envelope.payload
        assert isinstance(request, (ApprovalRequest, QuestionRequest))
        arrived = Waiting(RequestId(envelope.id), request, title_of_request(request), envelope.turn)
        if arrived.call is not None and (refusal := self._refused.pop(arrived.call, None)) is not None:
            self.stage.engine.bus.reply(arrived.id, refusal)
        elif not self._renew(arrived):
            self._pending.queue.append(arrived)
            self._arrived.set()
        self._tell()

    def _renew(self, arrived: Waiting) -> bool:
        """Put a proposal that was made again into the review that shows it; false where there is none."""
        if arrived.call is None or (found := self._pending.find_begun(arrived.call)) is None:
            return False
        asking, before = found
        if asking.review is None or not before.is_renewed or not isinstance(arrived.request, ApprovalRequest):
            return False
        asking.waiting[asking.waiting.index(before)] = arrived
        self.stage.spawn(asking.review.renew(arrived.request))
        return True

    def _withdraw(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, RequestWithdrawn)
        request_id = envelope.payload.request_id
        self._pending.queue = [waiting for waiting in self._pending.queue if waiting.id != request_id]
        begun = [(asking, waiting) for asking in self._pending.begun for waiting in asking.waiting]
        for asking, waiting in begun:
            if waiting.id != request_id:
                continue
            if envelope.payload.renewed and asking.review is not None and waiting.call is not None:
                waiting.is_renewed = True
                asking.review.hold(waiting.call)
            else:
                self._take_out(asking, waiting)
        self._tell()

    def _end_call(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, ToolCallFinished)
        call = envelope.payload.id
        self._refused.pop(call, None)
        if (found := self._pending.find_begun(call)) is not None:
            self._take_out(*found)

    def _take_out(self, asking: Asking, waiting: Waiting) -> None:
        """Ask no longer about one of the calls that are shown."""
        asking.waiting.remove(waiting)
        if asking.waiting and asking.review is not None and waiting.call is not None:
            asking.review.take_out(waiting.call)
            return
        if asking.task is not None:
            asking.task.cancel()
        if asking in self._pending.aside:
            self._pending.aside.remove(asking)

    async def _serve(self) -> None:
        chosen: Asking | list[Waiting] | None = None
        try:
            while True:
                await self._arrived.wait()
                while self._pending.aside or self._pending.queue:
                    if chosen is None:
                        await wait_for_pause(lambda: self.stage.app.last_key, pause=self._pause)
                    if (asking := self._next(chosen)) is not None:  # it may have been withdrawn in the pause
                        chosen = await self._ask(asking)
                chosen = None
                self._arrived.clear()
        finally:
            for asking in self._pending.aside:
                if asking.task is not None:
                    asking.task.cancel()

    def _next(self, chosen: Asking | list[Waiting] | None) -> Asking | None:
        """Take what is asked next: what was chosen, else what was put aside, else the first that was not begun."""
        pending = self._pending
        if isinstance(chosen, list) and (left := [waiting for waiting in chosen if waiting in pending.queue]):
            return self._begin(left)
        if pending.aside:
            return pending.aside.pop(pending.aside.index(chosen) if chosen in pending.aside else 0)
        return self._begin(pending.groups()[0]) if pending.queue else None

    def _begin(self, group: list[Waiting]) -> Asking:
        asking = self._pending.begin(group)
        requests = [each.request for each in group if isinstance(each.request, ApprovalRequest)]
        if requests and files_of(requests[0]):
            asking.review = EditReview(self.stage, requests)
        return asking

    async def _ask(self, asking: Asking) -> Asking | list[Waiting] | None:
        """Ask until it is decided; or until the user chose something else, which is returned."""
        if asking.task is None:
            asking.task = asyncio.ensure_future(self._decide(asking))
        elif asking.dialog is not None and not asking.task.done():
            asking.dialog.restore()
        task = asking.task
        self._pending.current = asking
        self._chosen = chosen = asyncio.get_running_loop().create_future()
        self._tell()
        try:
            await asyncio.wait({task, chosen}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done() and asking.dialog is not None:
                await put_aside(self.stage.app, asking.dialog)
                self._pending.aside.insert(0, asking)
            elif not task.cancelled() and (error := task.exception()) is not None:
                await self._refuse_all(asking, error)
        finally:
            if asking not in self._pending.aside:
                task.cancel()
            self._pending.current = None
            self._chosen = None
            self.minimised = None
            self._tell()
        return chosen.result() if chosen.done() else None

    async def _decide(self, asking: Asking) -> None:
        """Show what is asked until it is decided, and answer."""

        def note(dialog: DecisionScreen[Any]) -> None:
            asking.dialog = dialog
            self._tell()

        if asking.review is None:
            (waiting,) = asking.waiting
            self._reply(waiting, await ask(self.stage.app, waiting.request, on_shown=note))
            return
        replies = await asking.review.decide(note)
        for waiting in asking.waiting:  # all at once: a grant to the one must not take the question of another back
            assert waiting.call is not None
            self._reply(waiting, replies[waiting.call])

    def _reply(self, waiting: Waiting, reply: Reply) -> None:
        if not waiting.is_renewed:
            self.stage.engine.bus.reply(waiting.id, reply)
        elif waiting.call is not None and isinstance(reply, ApprovalReply) and not reply.approved:
            self._refused[waiting.call] = reply  # an acceptance would be of what is no longer proposed: it asks anew

    async def _refuse_all(self, asking: Asking, error: BaseException) -> None:
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

    # --- several ----------------------------------------------------------------------------------

    def _offer_others(self, message: DecisionScreen.OthersWanted) -> None:
        if (current := self._pending.current) is not None and current.dialog is message.dialog:
            self.stage.spawn(self._choose(current))

    async def _choose(self, current: Asking) -> None:
        """Let the user choose what is asked now; what was on screen is kept as it is."""
        rows: dict[str, Asking | list[Waiting]] = {"0": current}
        others: list[Asking | list[Waiting]] = [*self._pending.aside, *self._pending.groups()]
        rows.update({str(number): waits for number, waits in enumerate(others, 1)})
        candidates = []
        for text, waits in rows.items():
            hint = "" if isinstance(waits, list) else "asked now" if waits is current else "begun"
            title = title_of(waits if isinstance(waits, list) else waits.waiting)
            candidates.append(Candidate(text, hint, label=f"{int(text) + 1}  {title}"))
        choice = ChoiceScreen("Waiting for you: which first?", candidates, current="0")
        closing = asyncio.ensure_future(choose(self.stage.app, choice))
        if current.task is not None:  # its dialog takes the choice with it
            await asyncio.wait({closing, current.task}, return_when=asyncio.FIRST_COMPLETED)
        closing.cancel()
        taken = closing.result() if closing.done() and not closing.cancelled() else None
        is_other = bool(taken) and rows[taken or ""] is not current and self._pending.current is current
        if is_other and self._chosen is not None and not self._chosen.done():
            self._chosen.set_result(rows[taken or ""])

    def _tell(self) -> None:
        current = self._pending.current
        count = self._pending.count
        if current is not None and current.dialog is not None:
            current.dialog.show_queue(self._pending.later)
        if not count:
            self.on_waiting("")
            return
        first = next((asking.waiting[0] for asking in self._pending.begun if asking.waiting), None)
        title = (first or self._pending.queue[0]).title
        more = f" (+{count - 1})" if count > 1 else ""
        back = ", f8 shows it" if self.minimised is not None else ""
        self.on_waiting(f"waits for you: {title}{more}{back}")


def title_of_request(request: ApprovalRequest | QuestionRequest) -> str:
    """Return what is asked about in a few words, and who asks if it is not the session's agent."""
    if isinstance(request, QuestionRequest):
        return request.title
    title = request.details.title
    return f"{title} ({request.asker_in_words})" if request.asker else title

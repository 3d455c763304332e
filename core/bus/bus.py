"""The bus of one session: every message goes over it once, numbered; requests wait here for their first answer."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any, overload

from core.bus.subscription import Overflow, Subscription
from core.contract.envelope import Envelope, Payload
from core.contract.events import Event, RequestWithdrawn, SubscriberFailed
from core.contract.ids import CallId, RequestId, SessionId, new_id
from core.contract.requests import ApprovalReply, ApprovalRequest, QuestionReply, QuestionRequest, Reply, Request

log = logging.getLogger(__name__)

Sink = Callable[[Envelope], None]


class Revoked(Exception):
    """A request was taken back by the one who asked."""


class Bus:
    """Publish, subscribe, ask and reply. All methods belong to one event loop.

    A sink is called within `publish`, before any subscriber sees the message: the recorder is one, so that
    nothing shows before it is written. A sink that raises is reported and the others go on.
    """

    def __init__(self, session: SessionId, *, clock: Callable[[], float] = time.time, last_seq: int = 0) -> None:
        self.session = session
        self._clock = clock
        self._seq = last_seq  # above 0 where a session is continued
        self._sinks: dict[str, Sink] = {}
        self._failing: set[str] = set()
        self._subscriptions: list[Subscription] = []
        self._waiting: dict[RequestId, tuple[Envelope, asyncio.Future[Reply]]] = {}
        self._closed = False

    def attach(self, name: str, sink: Sink) -> None:
        """Add a sink."""
        self._sinks[name] = sink

    def subscribe(
        self, name: str, *, overflow: Overflow = Overflow.LOSSLESS, capacity: int = 1000, answers: bool = False
    ) -> Subscription:
        """Return a new subscription; it gets every message from now on.

        Args:
            capacity: messages at which a lossless subscriber makes publishers wait.
            answers: the subscriber replies to requests.
        """
        subscription = Subscription(name, overflow, capacity, answers, lambda: self._forget(subscription))
        self._subscriptions.append(subscription)
        return subscription

    def _forget(self, subscription: Subscription) -> None:
        if subscription in self._subscriptions:
            self._subscriptions.remove(subscription)
        if subscription.answers and not self._has_responder():
            for _, future in self._waiting.values():
                if not future.done():
                    future.cancel()

    def _has_responder(self) -> bool:
        return any(subscription.answers for subscription in self._subscriptions)

    async def publish(
        self, payload: Payload, *, turn: int = 0, call: CallId | None = None, reply_to: RequestId | None = None
    ) -> Envelope:
        """Number the message and hand it to everyone; waits only for lossless subscribers that are full."""
        envelope = self._send(payload, turn, call, reply_to)
        for subscription in tuple(self._subscriptions):
            await subscription.wait_for_room()
        return envelope

    def note(self, event: Event, *, turn: int = 0, call: CallId | None = None) -> Envelope:
        """As `publish`, waiting for nobody: for sinks of another bus."""
        return self._send(event, turn, call, None)

    def _send(self, payload: Payload, turn: int, call: CallId | None, reply_to: RequestId | None) -> Envelope:
        self._seq += 1
        envelope = Envelope(self._seq, new_id("m"), self._clock(), self.session, payload, turn, call, reply_to)
        for name, sink in self._sinks.items():
            self._feed(name, sink, envelope)
        for subscription in tuple(self._subscriptions):
            subscription.put(envelope)
        return envelope

    def _feed(self, name: str, sink: Sink, envelope: Envelope) -> None:
        try:
            sink(envelope)
        except Exception as error:  # boundary: a subscriber's failure is its own
            log.exception("subscriber %s failed on %s", name, type(envelope.payload).__name__)
            if name not in self._failing:  # said once; a full disk would say it with every message
                self._failing.add(name)
                self._send(SubscriberFailed(name, str(error)), envelope.turn, None, None)
        else:
            self._failing.discard(name)

    @overload
    async def ask(
        self,
        request: ApprovalRequest,
        *,
        turn: int = 0,
        call: CallId | None = None,
        timeout: float | None = None,
        revoked: asyncio.Future[bool] | None = None,
    ) -> ApprovalReply: ...
    @overload
    async def ask(
        self,
        request: QuestionRequest,
        *,
        turn: int = 0,
        call: CallId | None = None,
        timeout: float | None = None,
        revoked: asyncio.Future[bool] | None = None,
    ) -> QuestionReply: ...
    async def ask(
        self,
        request: Request,
        *,
        turn: int = 0,
        call: CallId | None = None,
        timeout: float | None = None,
        revoked: asyncio.Future[bool] | None = None,
    ) -> Reply:
        """Publish a request and return its first answer, which is published, too.

        With nobody to answer, or after `timeout` seconds, the request's own `unanswered()` stands. If the asking
        task is cancelled the request is withdrawn.

        Args:
            revoked: withdraws the request when it is done; its value says whether one for the same call follows.

        Raises:
            Revoked: that was sooner than an answer.
        """
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        envelope = self._send(request, turn, call, None)
        request_id = RequestId(envelope.id)
        reply: Reply = request.unanswered()
        if self._has_responder() and not self._closed:
            self._waiting[request_id] = (envelope, future)
            try:
                waited: set[asyncio.Future[Any]] = {future} if revoked is None else {future, revoked}
                await asyncio.wait(waited, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
                if future.done() and not future.cancelled():
                    reply = future.result()
                elif revoked is not None and revoked.done():
                    self._send(RequestWithdrawn(request_id, revoked.result()), turn, call, None)
                    raise Revoked
                elif not future.done():
                    self._send(RequestWithdrawn(request_id), turn, call, None)
            except asyncio.CancelledError:
                self._send(RequestWithdrawn(request_id), turn, call, None)
                raise
            finally:
                del self._waiting[request_id]
        await self.publish(reply, turn=turn, call=call, reply_to=request_id)
        return reply

    def reply(self, request_id: RequestId, reply: Reply) -> bool:
        """Answer a request; false where it was answered or withdrawn before, or the reply is of the wrong sort."""
        waiting = self._waiting.get(request_id)
        if waiting is None or waiting[1].done():
            return False
        if not isinstance(reply, type(waiting[0].payload.unanswered())):  # type: ignore[union-attr]  # only requests wait
            return False
        waiting[1].set_result(reply)
        return True

    def pending(self) -> list[Envelope]:
        """Return the requests that wait for an answer, oldest first: for a screen that opens late."""
        return [envelope for envelope, future in self._waiting.values() if not future.done()]

    def channel(self, turn: int = 0, call: CallId | None = None) -> Channel:
        """Return a publisher that stamps its messages with a turn and a call."""
        return Channel(self, turn, call)

    def close(self) -> None:
        """Close every subscription; open requests get their `unanswered()`."""
        self._closed = True
        for subscription in tuple(self._subscriptions):
            subscription.close()


class Channel:
    """The bus as seen from within one turn or one call."""

    def __init__(self, bus: Bus, turn: int, call: CallId | None) -> None:
        self._bus = bus
        self.turn = turn
        self.call = call

    async def publish(self, event: Event) -> None:
        await self._bus.publish(event, turn=self.turn, call=self.call)

"""Keys that come while the session opens and ask for what cannot be done yet: they wait, in their order, until it can.

It knows no session: whoever opens one says when it is there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable

from textual import events

from app.actions import ActionDispatch


class EarlyKeys:
    """Actions that nothing performs yet, and every key after the first of them but the one that leaves."""

    def __init__(self, dispatch: ActionDispatch) -> None:
        self._dispatch = dispatch
        self._waiting: deque[str | events.Key] = deque()
        self._sent: set[events.Key] = set()
        """Keys that waited and are on their way again."""
        self._is_over = False

    def take_action(self, action_id: str) -> bool:
        """Keep an action if it has to wait; return whether it has."""
        if self._is_over or action_id not in self._dispatch.missing():
            return False
        self._waiting.append(action_id)
        return True

    def take_key(self, event: events.Key) -> bool:
        """Keep a key if it follows an action that waits or is under way; return whether it does."""
        if event in self._sent:
            self._sent.remove(event)
            return False
        if not self._waiting or event.key in self._dispatch.catalogue["app.interrupt"].keys:
            return False
        self._waiting.append(event)
        return True

    async def release(self, perform: Callable[[str], Awaitable[object]], send: Callable[[events.Key], object]) -> None:
        """Do what waits: the session is there, or never will be."""
        self._is_over = True
        while self._waiting:
            match self._waiting[0]:
                case str(action_id):
                    await perform(action_id)  # what is typed meanwhile waits, too
                case event:
                    self._sent.add(event)
                    send(event)
            self._waiting.popleft()

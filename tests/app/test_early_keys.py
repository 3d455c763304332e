"""Keys that are typed before the session is there, and while what they ask for is done."""

from __future__ import annotations

import pytest
from textual import events

from app.actions import ActionDispatch, Catalogue
from app.early_keys import EarlyKeys

pytestmark = pytest.mark.anyio


def key(name: str) -> events.Key:
    return events.Key(name, name)


async def test_what_is_typed_while_an_action_is_under_way_comes_after_what_waited() -> None:
    early = EarlyKeys(ActionDispatch(Catalogue()))
    assert early.take_action("shell.focus")
    assert early.take_key(key("a"))
    done: list[str] = []

    async def perform(action_id: str) -> None:
        done.append(action_id)
        assert early.take_key(key("b"))

    def send(event: events.Key) -> None:
        queue.append(event)

    queue: list[events.Key] = []
    await early.release(perform, send)
    queue.append(key("c"))
    done += [event.key for event in queue if not early.take_key(event)]
    assert done == ["shell.focus", "a", "b", "c"]

"""Events as OpenAI-compatible servers stream them, and what such servers demand of a conversation."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.fakes.gemini_server import Connection, Received, Reply, refusal

Event = dict[str, Any]


def delta(finish: str | None = None, **fields: Any) -> Event:
    choice = {"index": 0, "delta": fields, "finish_reason": finish}
    return {"id": "c-1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}


def text(words: str) -> Event:
    return delta(content=words)


def piece(index: int | None = None, id: str | None = None, name: str | None = None, arguments: Any = None) -> Event:
    """Return a piece of a call."""
    call: dict[str, Any] = {"type": "function", "function": {}}
    call |= {key: value for key, value in (("index", index), ("id", id)) if value is not None}
    call["function"] |= {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return delta(tool_calls=[call])


def usage(sent: int, said: int, **details: Any) -> Event:
    counts = {"prompt_tokens": sent, "completion_tokens": said, "total_tokens": sent + said, **details}
    return {"id": "c-1", "object": "chat.completion.chunk", "choices": [], "usage": counts}


def frame(event: Event | str) -> bytes:
    return b"data: " + (event if isinstance(event, str) else json.dumps(event)).encode() + b"\n\n"


def answer(*events: Event, finish: str = "stop", done: bool = True) -> Reply:
    """Reply with these events, the reason of the end and the mark of the end, to a conversation that is in order."""

    async def reply(connection: Connection, request: Received) -> None:
        fault = fault_in(request.body)
        if fault:
            await refusal(400, json.dumps({"error": {"message": fault, "type": "invalid"}}).encode())(
                connection, request
            )
            return
        await connection.begin()
        for event in (*events, *([delta(finish)] if finish else [])):
            await connection.chunk(frame(event))
        if done:
            await connection.chunk(frame("[DONE]"))
        await connection.end()

    return reply


def fault_in(body: Mapping[str, Any]) -> str:
    """Return what is wrong with a request; empty where nothing is."""
    if not body.get("stream") or not body.get("model"):
        return "no stream, or no model"
    messages: Sequence[Mapping[str, Any]] = body["messages"]
    waiting: list[str] = []
    for number, message in enumerate(messages):
        role, content = message["role"], message.get("content")
        if role == "tool":
            if message["tool_call_id"] not in waiting or not isinstance(content, str):
                return f"messages[{number}] answers no call"
            waiting.remove(message["tool_call_id"])
        elif waiting:
            return f"messages[{number}]: calls are not answered: {waiting}"
        for call in message.get("tool_calls", ()):
            json.loads(call["function"]["arguments"])
            if len(call["id"]) > 40 or not call["function"]["name"].replace("_", "").replace("-", "").isalnum():
                return f"messages[{number}]: a call that can't be"
            waiting.append(call["id"])
        if content is None and not message.get("tool_calls"):
            return f"messages[{number}] is empty"
    return f"calls are not answered: {waiting}" if waiting else ""

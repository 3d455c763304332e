"""Events as Gemini streams them, and a script's answers as such events."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from core.contract.conversation import ResultPart
from core.contract.ids import CallId
from core.contract.model import FinishReason
from core.contract.usage import Usage
from core.model.script_steps import Moment
from tests.fakes.gemini_rules import named

Event = dict[str, Any]

REASONS = {
    FinishReason.STOP: "STOP",
    FinishReason.LENGTH: "MAX_TOKENS",
    FinishReason.BLOCKED: "SAFETY",
    FinishReason.MALFORMED_CALL: "MALFORMED_FUNCTION_CALL",
    FinishReason.OTHER: "OTHER",
}


def parts(*found: Mapping[str, Any]) -> Event:
    """Return an event of these parts."""
    return {"candidates": [{"content": {"role": "model", "parts": list(found)}}]}


def text(words: str) -> Event:
    return parts({"text": words})


def thought(words: str) -> Event:
    return parts({"text": words, "thought": True})


def call(name: str, args: Any, id: str | None = None, **more: Any) -> Event:
    """Return an event with one call; `more` stands beside it in the part (`thoughtSignature`)."""
    body = {"name": name, "args": args} if id is None else {"id": id, "name": name, "args": args}
    return parts({"functionCall": body, **more})


def finish(reason: str = "STOP", message: str = "", **counts: Any) -> Event:
    """Return the last event, with the counts of `usageMetadata`."""
    candidate: Event = {"content": {"role": "model", "parts": []}, "finishReason": reason}
    if message:
        candidate["finishMessage"] = message
    return {"candidates": [candidate], **({"usageMetadata": counts} if counts else {})}


def usage_counts(usage: Usage) -> dict[str, int]:
    return {
        "promptTokenCount": usage.input_tokens,
        "candidatesTokenCount": usage.output_tokens,
        "thoughtsTokenCount": usage.thought_tokens,
        "cachedContentTokenCount": usage.cached_tokens,
    }


def frame(event: Event) -> bytes:
    """Return an event as Google's servers write it."""
    return b"data: " + json.dumps(event).encode() + b"\r\n\r\n"


def error_body(status: int, message: str, name: str = "", details: list[Any] | None = None) -> bytes:
    """Return the body of a refusal."""
    return json.dumps(
        {"error": {"code": status, "message": message, "status": name, "details": details or []}}
    ).encode()


def moment_of(body: Mapping[str, Any]) -> Moment:
    """Return what a script's conditions look at, out of a request's body."""
    contents = body["contents"]
    prompts = ["".join(p["text"] for p in c["parts"] if "text" in p) for c in contents if _is_prompt(c)]
    results = [
        ResultPart(
            CallId(response.get("id", "")),
            response["name"],
            str(response["response"].get("output", response["response"].get("error", ""))),
            "error" in response["response"],
        )
        for response in named(contents[-1], "functionResponse")
    ]
    system = "".join(part.get("text", "") for part in body.get("systemInstruction", {}).get("parts", []))
    return Moment(prompts[-1] if prompts else "", tuple(results), system)


def _is_prompt(content: Mapping[str, Any]) -> bool:
    return content["role"] == "user" and not named(content, "functionResponse")

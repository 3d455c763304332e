"""What a model server's refusals and unreadable answers mean, in words for people. Knows HTTP, and no HTTP library."""

from __future__ import annotations

import email.utils
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from core.contract.errors import ModelError, ModelErrorKind
from core.contract.visible import make_visible, make_visible_line
from core.model.retry import LONGEST_WAIT
from core.model.strict_json import parse_json

_WORDS_LIMIT = 500
_SECRET = re.compile(r"AIza[\w-]{10,}|sk-[\w-]{10,}|(?<=Bearer )\S+|(?<=[?&]key=)[^&\s]+")
_TOO_LONG = re.compile(
    r"exceeds the maximum number of tokens|input token count|context[_ ]length|maximum context|too many tokens"
    r"|prompt is too long|context window",
    re.IGNORECASE,
)
_DURATION = re.compile(r"(\d+(?:\.\d+)?)s")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Whom we talk to, as far as messages name it."""

    label: str
    """`Gemini`."""
    model: str
    credential: str
    """Where the key comes from: the name of a variable, never the key itself."""
    key: str = ""
    """Is taken out of every message."""

    def clean(self, text: str, limit: int = _WORDS_LIMIT) -> str:
        """Return foreign text for a message: without keys, shortened, with hidden characters shown."""
        if self.key:
            text = text.replace(self.key, "…")
        text = make_visible(_SECRET.sub("…", text[: 4 * limit]).strip())
        return text if len(text) <= limit else text[:limit] + "…"


def status_error(endpoint: Endpoint, status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
    """Return the error for a response whose status is not 200. Header names are lower case."""
    if 300 <= status < 400:
        place = make_visible_line(headers.get("location", "another place").partition("?")[0][:200])
        return ModelError(
            ModelErrorKind.UNAVAILABLE,
            f"{endpoint.label} answered with a redirect ({status}) to {place}; the key is not sent there.",
            "Set the base URL to the address that really serves the model.",
        )
    text = body.decode("utf-8", "replace")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    return _error_of(endpoint, status, found, headers, text)


def parse_event(endpoint: Endpoint, text: str) -> dict[str, Any]:
    """Return the object that an event of a stream holds.

    Raises:
        ModelError: it holds no JSON object.
    """
    try:
        event = parse_json(text)
        if not isinstance(event, dict):
            raise ValueError("it is no object")
    except ValueError as error:
        raise ModelError(
            ModelErrorKind.MALFORMED,
            f"{endpoint.label} sent an event that can't be read ({error}): {endpoint.clean(text, 200)}",
            "Ask again; what was said so far is kept.",
        ) from error
    return event


def event_error(endpoint: Endpoint, event: Mapping[str, Any]) -> ModelError:
    """Return the error for an event of a stream that reports a failure instead of an answer."""
    return _error_of(endpoint, 0, event, {}, json.dumps(event))


def content_error(endpoint: Endpoint, content_type: str, beginning: str) -> ModelError:
    """Return the error for a successful response that is no stream of events."""
    return ModelError(
        ModelErrorKind.MALFORMED,
        f"{endpoint.label} answered with {make_visible_line(content_type[:100]) or 'no content type'} instead of a "
        f"stream of events. It begins: {endpoint.clean(beginning[:200], 1_000)}",
        "Is a proxy or a login page in between? Check the base URL.",
    )


def retry_after_of(headers: Mapping[str, str], now: Callable[[], float] = time.time) -> float | None:
    """Return the seconds of a `Retry-After` header (RFC 9110, section 10.2.3), or none.

    A date is compared with the server's own clock where it tells it.
    """
    value = headers.get("retry-after", "").strip()
    finer = headers.get("retry-after-ms", "").strip()  # OpenAI's
    if finer.isascii() and finer.isdecimal() and len(finer) < 13:
        return int(finer) / 1000
    if not value:
        return None
    try:
        return max(0.0, float(value)) if value.isascii() and float(value) < 1e9 else None
    except ValueError:
        when = _time_of(value)
        return None if when is None else max(0.0, when - (_time_of(headers.get("date", "")) or now()))


def _time_of(date: str) -> float | None:
    try:
        return email.utils.parsedate_to_datetime(date).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


def _error_of(endpoint: Endpoint, status: int, found: Any, headers: Mapping[str, str], text: str) -> ModelError:
    if isinstance(found, list) and found:
        found = found[0]
    error = found.get("error", found) if isinstance(found, dict) else None
    details: list[Any] = []
    words, name = text, ""
    if isinstance(error, dict):
        words = str(error.get("message") or text)
        name = str(error.get("status") or error.get("type") or "")
        details = error["details"] if isinstance(error.get("details"), list) else []
        if not status and isinstance(error.get("code"), int):
            status = error["code"]
    elif isinstance(error, str):
        words = error
    kind, retryable = _kind_of(status, name, words, details)
    message, hint = _words_for(endpoint, kind, status)
    said = endpoint.clean(words)
    after = max((s for s in (retry_after_of(headers), _retry_delay(details)) if s is not None), default=None)
    if after is not None and after > LONGEST_WAIT:
        back = time.strftime("%H:%M on %d %B", time.localtime(time.time() + after))
        hint = f"The server asks to come back after {back}; or choose another model."
    return ModelError(
        kind,
        f"{message}: {said}" if said else f"{message}.",
        hint,
        retryable=retryable,
        retry_after=after,
    )


def _kind_of(status: int, name: str, words: str, details: list[Any]) -> tuple[ModelErrorKind, bool]:
    reasons = {str(detail.get("reason", "")) for detail in details if isinstance(detail, dict)}
    if status == 429 or name == "RESOURCE_EXHAUSTED":
        gone = _is_daily(details) or "insufficient_quota" in name or re.search(r"limit:\s*0\b", words) is not None
        return (ModelErrorKind.QUOTA, False) if gone else (ModelErrorKind.RATE_LIMITED, True)
    if status in (401, 403) or "API_KEY_INVALID" in reasons or "API key not valid" in words:
        return ModelErrorKind.AUTH, False
    if status == 413 or (status == 400 and _TOO_LONG.search(words)):
        return ModelErrorKind.CONTEXT_TOO_LONG, False
    if status == 404:
        return ModelErrorKind.NOT_FOUND, False
    if status in (408, 504):
        return ModelErrorKind.TIMEOUT, True
    if status >= 500 or status == 0:
        return ModelErrorKind.SERVER, status not in (501, 505)
    return ModelErrorKind.BAD_REQUEST, False


def _words_for(endpoint: Endpoint, kind: ModelErrorKind, status: int) -> tuple[str, str]:
    who, code = endpoint.label, f" ({status})" if status else ""
    match kind:
        case ModelErrorKind.AUTH:
            return f"{who} refused the key of {endpoint.credential}{code}", f"Check {endpoint.credential}."
        case ModelErrorKind.NOT_FOUND:
            return (
                f"{who} does not know the model {make_visible_line(endpoint.model)}{code}",
                "Name another one, by /model or --model, and check the base URL if one is set.",
            )
        case ModelErrorKind.CONTEXT_TOO_LONG:
            return (
                f"The conversation is too long for {make_visible_line(endpoint.model)}{code}",
                "Compact it, or start a new session.",
            )
        case ModelErrorKind.RATE_LIMITED:
            return f"{who} asks to slow down{code}", "Wait a little, or choose another model."
        case ModelErrorKind.QUOTA:
            return (
                f"The quota of {endpoint.credential} is used up{code}",
                "Wait for it to be renewed, or change the model.",
            )
        case ModelErrorKind.TIMEOUT:
            return f"{who} gave up waiting{code}", "Try again."
        case ModelErrorKind.SERVER:
            return f"{who} failed{code}", "That is the server's fault: try again later, or choose another model."
        case _:
            return f"{who} refused the request{code}", "The request is at fault; sending it again would not help."


def _is_daily(details: list[Any]) -> bool:
    return "PerDay" in json.dumps([d for d in details if isinstance(d, dict) and "violations" in d])


def _retry_delay(details: list[Any]) -> float | None:
    """Return the seconds of a `google.rpc.RetryInfo`, or none."""
    for detail in details:
        if isinstance(detail, dict) and (found := _DURATION.fullmatch(str(detail.get("retryDelay", "")))):
            return float(found[1])
    return None

"""What Gemini found with its own search: the text, and the pages that each statement rests on. Imports no SDK."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from core.contract.errors import ModelError, ModelErrorKind
from core.contract.model import GroundedAnswer, WebSource
from core.model.strict_json import parse_json

_NO_SOURCE = WebSource("", "")


def read_grounding(events: Iterable[str]) -> GroundedAnswer:
    """Return the answer that an answer's events hold (Gemini API, `GroundingMetadata`).

    Raises:
        ModelError: an event can't be read, or reports an error.
    """
    text = ""
    metadata: dict[str, Any] = {}
    for event in events:
        try:
            read = parse_json(event)
        except ValueError as error:
            raise ModelError(ModelErrorKind.MALFORMED, f"Gemini sent an event that can't be read: {error}") from error
        if "error" in _dict(read):
            message = str(_dict(_dict(read)["error"]).get("message", "it gave no reason"))
            raise ModelError(ModelErrorKind.SERVER, f"Gemini's search failed: {message}")
        candidate = _dict(next(iter(_list(_dict(read).get("candidates"))), None))
        for part in _list(_dict(candidate.get("content")).get("parts")):
            if isinstance(_dict(part).get("text"), str) and not _dict(part).get("thought"):
                text += part["text"]
        metadata = _dict(candidate.get("groundingMetadata")) or metadata
    sources = tuple(_source(chunk) for chunk in _list(metadata.get("groundingChunks")))
    return GroundedAnswer(_cited(text, _list(metadata.get("groundingSupports")), len(sources)), sources)


def _source(chunk: Any) -> WebSource:
    web = _dict(_dict(chunk).get("web"))
    url, title = web.get("uri"), web.get("title")
    if not isinstance(url, str):
        return _NO_SOURCE
    return WebSource(title if isinstance(title, str) and title else "Untitled", url)


def _cited(text: str, supports: list[Any], count: int) -> str:
    """Return the text with the numbers of its sources; indices count bytes of UTF-8."""
    data = text.encode("utf-8", "replace")
    marks: list[tuple[int, str]] = []
    for support in supports:
        end = _dict(_dict(support).get("segment")).get("endIndex")
        indices = [index for index in _list(_dict(support).get("groundingChunkIndices")) if isinstance(index, int)]
        known = sorted({index for index in indices if 0 <= index < count})
        if isinstance(end, int) and 0 < end <= len(data) and known:
            marks.append((end, "".join(f"[{index + 1}]" for index in known)))
    for end, mark in sorted(marks, reverse=True):
        data = data[:end] + mark.encode() + data[end:]
    return data.decode("utf-8", "replace")


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []

"""The SDK's content blocks as parts for the model: text, media, and a line for what can be neither.

Blocks are told apart by their `type`, so this module needs nothing of the SDK.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable
from typing import Any

from core.contract.conversation import MediaPart
from core.contract.tool import ContentPart

MAX_MEDIA = 20_000_000
"""Characters of base64 in one result, all media together."""
_MEDIA = ("image/", "audio/", "application/pdf")


def content_parts(blocks: Iterable[Any]) -> tuple[ContentPart, ...]:
    """Return the blocks of a tool's result or of a prompt, in their order."""
    budget = [MAX_MEDIA]
    return tuple(_part(block, budget) for block in blocks)


def resource_parts(contents: Iterable[Any]) -> tuple[ContentPart, ...]:
    """Return the contents of a resource that was read."""
    budget = [MAX_MEDIA]
    return tuple(_resource_part(content, budget) for content in contents)


def _part(block: Any, budget: list[int]) -> ContentPart:
    kind = getattr(block, "type", "")
    if kind == "text":
        return str(block.text)
    if kind in ("image", "audio"):
        return _media(block.mime_type, block.data, "", budget)
    if kind == "resource":
        return _resource_part(block.resource, budget)
    if kind == "resource_link":
        return f"Resource Link: {block.name} at {block.uri}"
    return json.dumps(block.model_dump(mode="json", by_alias=True, exclude_none=True), ensure_ascii=False)


def _resource_part(content: Any, budget: list[int]) -> ContentPart:
    text = getattr(content, "text", None)
    if isinstance(text, str):
        return text
    return _media(content.mime_type or "application/octet-stream", content.blob, str(content.uri), budget)


def _media(mime_type: str, data: str, name: str, budget: list[int]) -> ContentPart:
    called = f"{name} ({mime_type})" if name else mime_type
    if not mime_type.startswith(_MEDIA):
        return f"[Binary content left out: {called}]"
    if len(data) > budget[0]:
        return f"[Left out, too large: {called}, {len(data):,} characters of base64]"
    try:
        base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return f"[Left out, not valid base64 (RFC 4648): {called}]"
    budget[0] -= len(data)
    return MediaPart(mime_type, data, name)

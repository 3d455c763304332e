"""Envelopes as JSON objects of one line, and back: the form of the session record and of `stream-json`."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, get_args

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError, from_json, to_json

from core.contract.envelope import SCHEMA_VERSION, Envelope, Payload
from core.contract.errors import StetError

_WORD = re.compile(r"(?<!^)(?=[A-Z])")


class RecordError(StetError):
    """A line that is no message of this schema."""


def type_name(payload_type: type) -> str:
    """Return a payload's name on the wire: `TextDelta` is `text_delta`."""
    return _WORD.sub("_", payload_type.__name__).lower()


@cache
def _payload_types() -> Mapping[str, type]:
    return {type_name(payload_type): payload_type for payload_type in get_args(Payload)}


@cache
def _adapter(payload_type: type) -> TypeAdapter[Any]:
    return TypeAdapter(payload_type)


def encode(envelope: Envelope) -> bytes:
    """Return the envelope as one line of JSON (UTF-8, no line break inside or after)."""
    fields = {
        "seq": envelope.seq,
        "id": envelope.id,
        "ts": envelope.ts,
        "session": envelope.session,
        "turn": envelope.turn,
        "call": envelope.call,
        "reply_to": envelope.reply_to,
        "type": type_name(type(envelope.payload)),
        "payload": envelope.payload,
    }
    try:
        return to_json(fields)
    except (PydanticSerializationError, UnicodeEncodeError):
        fields["payload"] = _well_formed(dataclasses.asdict(envelope.payload))
        return to_json(fields)


def _well_formed(value: Any) -> Any:
    """Return the value with lone surrogates escaped: they have no form in UTF-8 (RFC 3629)."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, Mapping):
        return {_well_formed(str(key)): _well_formed(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_well_formed(item) for item in value]
    return value


def decode(line: bytes | str) -> Envelope:
    """Return the envelope of one line.

    Raises:
        RecordError: the line is torn, or its type is not known to this version.
    """
    try:
        fields = from_json(line)
        payload_type = _payload_types().get(fields["type"])
        if payload_type is None:
            raise RecordError(f"unknown message type {fields['type']!r}", "A newer version may have written it.")
        payload = _adapter(payload_type).validator.validate_python(fields["payload"])
        return Envelope(
            fields["seq"],
            fields["id"],
            fields["ts"],
            fields["session"],
            payload,
            fields["turn"],
            fields["call"],
            fields["reply_to"],
        )
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise RecordError(f"not a message: {error}") from None


def header(**facts: Any) -> bytes:
    """Return the first line of a record or a stream."""
    return to_json({"schema_version": SCHEMA_VERSION, **facts})

"""Reading a record: every whole message in order, with a count of what could not be read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.bus.codec import RecordError, decode
from core.contract.envelope import SCHEMA_VERSION, Envelope


@dataclass(frozen=True, slots=True)
class Record:
    """What a record file holds."""

    facts: Mapping[str, Any]
    """The first line."""
    envelopes: tuple[Envelope, ...]
    unreadable: int = 0
    """Lines that are no message of this version; a torn last line is not counted."""


def read_record(path: Path) -> Record:
    """Read a record.

    Raises:
        RecordError: the file has no first line of ours, or a newer version wrote it.
        OSError: it can't be read.
    """
    lines = path.read_bytes().split(b"\n")
    lines.pop()  # what follows the last line feed is empty, or torn
    facts = read_facts(path, lines[0] if lines else b"")
    envelopes: list[Envelope] = []
    unreadable = 0
    for line in lines[1:]:
        try:
            envelopes.append(decode(line))
        except RecordError:
            unreadable += 1
    return Record(facts, tuple(envelopes), unreadable)


def read_facts(path: Path, line: bytes) -> Mapping[str, Any]:
    """Return what a record's first line says.

    Raises:
        RecordError: it is no first line of ours, or a newer version wrote it.
    """
    try:
        facts = json.loads(line)
        version = facts["schema_version"]
    except (ValueError, KeyError, TypeError):
        raise RecordError(f"{path} is no session record: its first line names no schema version.") from None
    if not isinstance(version, int) or version > SCHEMA_VERSION:
        raise RecordError(
            f"{path} was written by a newer version (schema {version}; this one reads up to {SCHEMA_VERSION}).",
            "Use that version to open it.",
        )
    return {str(key): value for key, value in facts.items()}

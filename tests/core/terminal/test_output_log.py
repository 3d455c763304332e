"""The log of raw output: head and tail, in memory and in a file."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.terminal.output_log import OutputLog

pytestmark = pytest.mark.anyio


@given(st.integers(0, 5000), st.integers(1, 300), st.booleans())
def test_head_and_tail_are_exact(size: int, piece: int, spills: bool) -> None:
    data = random.Random(size).randbytes(size)
    log = OutputLog(limit=1000, in_memory=200)
    for at in range(0, size, piece):
        log.append(data[at : at + piece])
        if spills and log.must_spill:
            log._spill()
    if not spills and log.must_spill:
        log._spill()
    head, tail = log._read()
    log.close()
    if log._half and size > 1000 and tail:
        assert (head, tail) == (data[:500], data[-500:])
    else:
        assert head + tail == data


async def test_it_spills_and_reads_in_threads() -> None:
    log = OutputLog(limit=1000, in_memory=100)
    log.append(b"x" * 400)
    assert log.must_spill
    await log.spill()
    assert not log.must_spill
    log.append(b"y" * 800)
    assert await log.read() == (b"x" * 400 + b"y" * 100, b"y" * 500)
    assert log.dropped == 200
    log.close()


@pytest.mark.parametrize(
    ("data", "binary"),
    [
        (b"plain text\n" * 50, False),
        ("Grüße, 世界\n".encode() * 50, False),
        ("Grüße aus Köln\n".encode("latin-1") * 50, False),
        (b"\x1b[31mred\x1b[0m\r\n" * 50, False),
        (bytes(range(256)) * 4, True),
        (b"\x7fELF\x02\x01\x01" + b"\0" * 600, True),
        (b"", False),
    ],
)
def test_binary_output_is_told_from_text(data: bytes, binary: bool) -> None:
    log = OutputLog()
    log.append(data)
    assert log.is_binary is binary

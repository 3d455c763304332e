"""Memory that is free goes back to the system."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.services.malloc import bound_malloc

WORK = """
import threading
from app.services.malloc import bound_malloc
bound_malloc()
kept = []
def work():
    for size in range(100):
        large = bytes(100_000 + size)
        kept.append(bytes(1000))
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
import ctypes, os
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
file = libc.fopen(b"/dev/stdout", b"w")
libc.malloc_info(0, ctypes.c_void_p(file))
libc.fflush(ctypes.c_void_p(file))
"""


def test_threads_share_one_heap() -> None:
    if "glibc" not in os.confstr("CS_GNU_LIBC_VERSION"):  # type: ignore[operator]
        pytest.skip("another C library")
    root = Path(__file__).parents[2]
    told = subprocess.run((sys.executable, "-c", WORK), capture_output=True, check=True, cwd=root, text=True).stdout
    assert told.count("<heap nr=") == 1


def test_another_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    bound_malloc()

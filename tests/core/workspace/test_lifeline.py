"""Processes that compute for us end with us, however we end."""

from __future__ import annotations

import json
import pickle
import signal
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from core.fileops import rewriting
from core.fileops.languages import service
from core.workspace import matcher

BAIT, PATTERN = "a" * 40 + "!", "(a+)+$"
SEARCH = {"pattern": PATTERN, "ignore_case": False, "exclude": "", "limit": 1, "literals": [], "whole": False}
REWRITE = {"pattern": PATTERN, "replacement": "", "case_sensitive": True, "texts": [BAIT]}
JOBS = pickle.dumps(([("a.py", b"x = 1\n" * 1_500_000)], (True, True, True, True)))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a pipe may not tell its writer")
@pytest.mark.parametrize(
    ("worker", "job"),
    [
        (rewriting._WORKER, json.dumps(REWRITE).encode()),
        (matcher._WORKER, f"{json.dumps(SEARCH)}\n[{len(BAIT)}]\n{BAIT}".encode()),
        (service._WORKER, struct.pack("!Q", len(JOBS)) + JOBS),
    ],
    ids=["rewriting", "searching", "parsing"],
)
def test_a_process_in_the_middle_of_its_work_ends_with_its_reader(worker: Path, job: bytes) -> None:
    command = [sys.executable, "-I", *(["-S"] if worker is not service._WORKER else []), str(worker)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.write(job)
        process.stdin.flush()
        if worker is rewriting._WORKER:
            process.stdin.close()
        process.stdout.close()  # as when we are killed, but that its input stays open
        assert process.wait(20) in (-signal.SIGIO, 1)
    finally:
        process.kill()
        process.wait()
        process.stdin.close()

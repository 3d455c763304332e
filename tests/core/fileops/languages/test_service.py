"""The processes that parse: what is hostile is bounded in time and size, and costs its own file alone."""

from __future__ import annotations

import os
import signal
import time

import pytest

from core.fileops.languages import service as service_module
from core.fileops.languages.service import MAX_BYTES, LanguageService

GOOD = ("good.py", b"def f(): ...\n")


@pytest.fixture
def service() -> LanguageService:
    return LanguageService(2)


def test_it_knows_the_languages(service: LanguageService) -> None:
    endings = service.extensions
    assert {endings[ending] for ending in (".py", ".js", ".jsx", ".ts", ".tsx", ".go")} == {
        "python",
        "javascript",
        "typescript",
        "go",
    }
    assert service.language_of("A/B.PY") == "python"
    assert service.language_of("x.unknown") == service.language_of("py") == ""


def test_a_file_that_takes_too_long_is_given_up(service: LanguageService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_module, "PATIENCE", 1.0)
    slow = ("slow.ts", b"regex/g" * 6_000)  # the grammar needs minutes
    first, bad, last = service.analyse([GOOD, slow, GOOD], symbols=True)
    assert first.symbols == last.symbols != ()
    assert "took too long" in bad.failure and not bad.symbols


def test_a_process_that_dies_is_replaced(service: LanguageService) -> None:
    assert service.analyse([GOOD], symbols=True)[0].symbols
    for process in service._idle:
        os.kill(process._child.pid, signal.SIGKILL)
        process._child.wait()
    assert service.analyse([GOOD], symbols=True)[0].symbols


def test_closed_it_starts_anew(service: LanguageService) -> None:
    assert service.extensions
    service.close()
    assert service.analyse([GOOD], symbols=True)[0].symbols


def test_cancelled_it_says_so_and_ends_at_once(service: LanguageService) -> None:
    slow = [("slow.ts", b"regex/g" * 6_000)]
    assert service.extensions
    start = time.monotonic()
    found = service.analyse(slow, symbols=True, is_cancelled=lambda: time.monotonic() > start + 0.2)
    assert found[0].failure == "Cancelled."


def test_the_largest_files(service: LanguageService) -> None:
    line = b"def f(a, b):\n    return a if b else f(a, b)\n\n"
    fits, too_large = line * (3_000_000 // len(line)), b"#" * (MAX_BYTES + 1)
    large, refused = service.analyse([("a.py", fits), ("b.py", too_large)], symbols=True, imports=True)
    assert len(large.symbols) == fits.count(b"def")
    assert "larger than 10 MB" in refused.failure


ENDINGS = (".py", ".js", ".ts", ".tsx", ".go")
OPENINGS = (b"(", b"[", b"{", b"f(", b"a.", b"if x:\n ", b"- ", b"<a>", b"`${", b"x => ", b"/*", b"x{")
NO_TEXT = b"\xff\xfe\x00def f(\x80): \xed\xa0\x80'''\xf4\x90\x80\x80\x00 class \xe2\x80\xa8{"


@pytest.mark.parametrize("ending", ENDINGS)
def test_deep_texts_and_bytes_that_are_no_text_end(ending: str, service: LanguageService) -> None:
    jobs = [(f"deep{ending}", opening * 3_000) for opening in OPENINGS]
    *deep, odd = service.analyse(
        [*jobs, (f"x{ending}", NO_TEXT)], symbols=True, imports=True, problems=True, names=True
    )
    assert all(found.language or found.failure for found in deep)
    assert odd.language and odd.failure == ""


def test_at_the_end_of_the_program_its_processes_end_also_those_that_work() -> None:
    own = LanguageService(1)
    own.analyse([("a.py", b"x = 1\n")], symbols=True)
    process = own._take()  # as if a thread were still waiting for it
    own.end()
    assert not process.is_alive

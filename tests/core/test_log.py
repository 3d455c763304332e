"""The log is private, whole lines, without secrets and control characters, and never on standard error."""

from __future__ import annotations

import logging
import os
import threading
import warnings
from pathlib import Path

import pytest

from core.log import ROTATE_AT, open_log
from core.redaction import MARK, Redactor

REDACT = Redactor(["a-secret-value-1"])
LOGGER = logging.getLogger("core.test")


def test_lines_are_private_safe_and_whole(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    former = os.umask(0)
    try:
        with open_log(tmp_path, REDACT) as path:
            assert path == tmp_path / "stet.log"
            LOGGER.info("one %s", "a-secret-value-1")
            LOGGER.info("two\x1b]52;c;x\x07\n2026-01-01 forged line \udc80")
            LOGGER.debug("not without the flag")
            logging.getLogger("other").info("nor another's chatter")
            logging.getLogger("other").warning("but its warnings")
            try:
                raise ValueError("a-secret-value-1")
            except ValueError:
                LOGGER.exception("failed")
    finally:
        os.umask(former)
    LOGGER.error("after the end")
    assert path.stat().st_mode & 0o777 == 0o600
    text = path.read_text()
    assert f"INFO core.test: one {MARK}\n" in text
    assert "two\u241b]52;c;x\u2407\n    2026-01-01 forged line \\udc80\n" in text
    assert "WARNING other: but its warnings\n" in text
    assert f"    ValueError: {MARK}\n" in text
    assert "not without" not in text and "chatter" not in text and "after the end" not in text
    assert "a-secret-value-1" not in text


def test_the_flag_adds_detail_and_files_are_continued(tmp_path: Path) -> None:
    for word in ("first", "second"):
        with open_log(tmp_path, REDACT, debug=True) as path:
            LOGGER.debug(word)
    assert path is not None
    assert [line.split()[-1] for line in path.read_text().splitlines()] == ["first", "second"]
    assert logging.getLogger("core").level == logging.NOTSET


def test_a_big_file_is_put_aside(tmp_path: Path) -> None:
    (tmp_path / "stet.log").write_bytes(b"x" * (ROTATE_AT + 1))
    with open_log(tmp_path, REDACT):
        LOGGER.info("fresh")
    assert (tmp_path / "stet.log.1").stat().st_size == ROTATE_AT + 1
    assert (tmp_path / "stet.log").read_text().endswith("fresh\n")


def test_stray_errors_and_warnings_go_to_the_log(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    class Faulty:
        def __del__(self) -> None:
            raise KeyError("in del")

    def fail() -> None:
        raise OSError("in thread")

    with open_log(tmp_path, REDACT) as path:
        thread = threading.Thread(target=fail, name="worker")
        thread.start()
        thread.join()
        Faulty()
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            logging.captureWarnings(True)
            warnings.warn("take care", UserWarning, stacklevel=1)
            logging.captureWarnings(False)
    assert path is not None
    text = path.read_text()
    assert "thread worker ended by an error" in text and "OSError: in thread" in text
    assert "KeyError: 'in del'" in text
    assert "UserWarning: take care" in text
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("obstacle", ["a folder", "a fifo", "a link", "no folder", "a full disk"])
def test_a_log_that_cannot_be_written_disturbs_nothing(
    tmp_path: Path, obstacle: str, capfd: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "stet.log"
    if obstacle == "a folder":
        place.mkdir()
    elif obstacle == "a fifo":
        os.mkfifo(place)
    elif obstacle == "a link":
        place.symlink_to(tmp_path / "elsewhere")
    folder = tmp_path / "missing" if obstacle == "no folder" else tmp_path
    with open_log(folder, REDACT) as path:
        assert (path is None) == (obstacle != "a full disk")
        if obstacle == "a full disk":
            full = os.open("/dev/full", os.O_WRONLY)
            handler = logging.getLogger().handlers[-1]
            assert isinstance(handler, logging.StreamHandler)
            os.dup2(full, handler.stream.descriptor)
            os.close(full)
        LOGGER.error("lost")
    assert not (tmp_path / "elsewhere").exists()
    assert capfd.readouterr() == ("", "")

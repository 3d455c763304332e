"""What the repository may not hold: addresses of package registries, paths of the machine on which it was made."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.architecture.sources import PRODUCT, ROOT, repository_files

# Written in pieces, as this file is looked at, too.
REGISTRIES = re.compile(
    r"pypi\.(?:org|python)|files\.python"
    r"hosted|registry\.npm"
    r"js|static\.crates\."
    r"io|proxy\.golang\."
    "org"
)
MACHINE = re.compile(
    re.escape(str(ROOT)) + r"(?![\w-])|/wo"
    r"rk/|/ro"
    r"ot/\.|extra-index-"
    "url",
    re.IGNORECASE,
)
BINARY = {".png", ".gif", ".ico", ".bin", ".pyc"}


@pytest.fixture(scope="module")
def texts() -> dict[Path, str]:
    return {
        path: (ROOT / path).read_bytes().decode("utf-8", "replace")
        for path in repository_files()
        if path.suffix not in BINARY
    }


def test_no_registry_is_named(texts: dict[Path, str]) -> None:
    assert [str(path) for path, text in texts.items() if REGISTRIES.search(text)] == []


def test_no_place_of_this_machine_is_named(texts: dict[Path, str]) -> None:
    found = {str(path): match[0] for path, text in texts.items() if (match := MACHINE.search(text))}
    assert found == {}


@pytest.mark.parametrize("name", ["requirements.lock", "tests/requirements.lock"])
def test_every_pin_has_hashes_and_no_address(name: str) -> None:
    text = (ROOT / name).read_text()
    assert "://" not in text
    pins = re.findall(r"^[a-z0-9][^\s=]*==[^\n]*(?:\n {4}[^\n]*)*", text, re.MULTILINE)
    assert len(pins) > 20
    assert all("--hash=sha256:" in pin for pin in pins)


def test_no_part_is_left_unfinished(texts: dict[Path, str]) -> None:
    unfinished = re.compile(r"#.*\b(?:TODO|FIXME|XXX|HACK)\b")
    product = [path for path in texts if path.suffix == ".py" and path.parts[0] in PRODUCT]
    assert [str(path) for path in product if unfinished.search(texts[path])] == []

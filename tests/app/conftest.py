"""Fixtures of the composed application."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory to work in; configuration, state and cache lie beside it, and no key is in the environment."""
    for kind in ("CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"STET_{kind}_DIR", str(tmp_path / kind.lower()))
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SHELL", "/bin/sh")
    folder = tmp_path / "project"
    folder.mkdir()
    return folder

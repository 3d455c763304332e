"""Fixtures for all tests."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# No verdict may depend on the speed of the machine.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")

CASES = Path(__file__).resolve().parent.parent.parent / "shared" / "cases"


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Async tests run on asyncio, as the application does."""
    return "asyncio"


@pytest.fixture(scope="session")
def cases() -> Path:
    """The folder of behaviour cases that lies beside the checkout; its tests are skipped where it is missing."""
    if not CASES.is_dir():
        pytest.skip("the folder of behaviour cases (../shared/cases) is not here")
    return CASES


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Generator[None, Any, Any]:
    """Let reports of hostile texts pass between processes: lone surrogates have no form in UTF-8."""
    return _well_formed((yield))


def _well_formed(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {key: _well_formed(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_well_formed(item) for item in value]
    return value

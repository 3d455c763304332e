"""Fixtures for all tests."""

from __future__ import annotations

from pathlib import Path

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

"""What every test shares: one asyncio backend, and the folder of public matrices when it is there."""

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of the public reward matrices; the test skips where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("the public reward matrices (../shared/data) are not here")
    return SHARED

"""What every test shares: one asyncio backend, the mock matrix, and the public matrices when they are there."""

import asyncio
import signal
from pathlib import Path

import pytest

from fugu_lite import tasks
from fugu_lite.rewards import collect
from fugu_lite.workers import Pool

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data"


def interruptible() -> None:
    """Before a child starts: a job in the background inherits an ignored Ctrl-C, which the child would ignore too."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def mock_matrix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The matrix that `generate` writes for the mock pool and the sample tasks."""
    output = tmp_path_factory.mktemp("mock") / "rewards.mock.jsonl"

    async def collected() -> None:
        async with Pool.load(ROOT / "configs" / "workers.mock.yaml") as pool:
            await collect(pool, tasks.load(ROOT / "data" / "tasks.sample.jsonl"), output)

    asyncio.run(collected())
    return output


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of the public reward matrices; the test skips where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("the public reward matrices (../shared/data) are not here")
    return SHARED

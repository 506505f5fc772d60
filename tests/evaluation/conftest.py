"""A builder of small reward matrices, and the matrix that the tests work by hand."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from fugu_lite.rewards.matrix import RewardMatrix
from fugu_lite.tasks import Task

Build = Callable[..., RewardMatrix]


def matrix_of(
    rewards: Sequence[Sequence[float]], workers: str = "abc", fields: Sequence[dict[str, Any]] = (), **arrays: Any
) -> RewardMatrix:
    """Rows `t0`, `t1`, ...; one letter per worker; `fields` of tasks; `arrays` are costs, latencies, qualities."""
    cells = np.array(rewards, dtype=np.float64).reshape(len(rewards), len(workers))
    unknown = np.full(cells.shape, np.nan)
    extra = fields or [{}] * len(cells)
    tasks = tuple(Task(task_id=f"t{i}", prompt=f"question {i}", **extra[i]) for i in range(len(cells)))
    given: dict[str, Any] = {name: np.array(value, dtype=np.float64) for name, value in arrays.items()}
    shaped: dict[str, Any] = {"qualities": unknown, "costs": unknown, "latencies": unknown, **given}
    return RewardMatrix(tasks, tuple(workers), cells, **shaped)


@pytest.fixture(scope="session")
def build() -> Build:
    return matrix_of


@pytest.fixture
def worked() -> RewardMatrix:
    """Means a .375, b .375, c .5; row bests 1, 1, .5, 1; ties in rows 1 (b, c) and 2 (a, b)."""
    domains = ["math", "math", "code", "code"]
    return matrix_of(
        [[1, 0, 0], [0, 1, 1], [0.5, 0.5, 0], [0, 0, 1]],
        fields=[{"domain": domain, "difficulty": "easy" if domain == "math" else None} for domain in domains],
        costs=[[0.01, 0.02, np.nan]] * 4,
        latencies=[[1.0, 2.0, np.nan], [1.0, 4.0, 1.0], [1.0, 6.0, 1.0], [3.0, 1.0, 1.0]],
    )

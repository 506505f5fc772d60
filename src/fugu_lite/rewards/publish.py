"""The redistributable pair of datasets: rewards without any text, and the tasks that may be passed on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fugu_lite import jsonl
from fugu_lite.errors import DataError, SpecError
from fugu_lite.rewards import attempts as log
from fugu_lite.rewards.build import STATUSES, Cells, cells_of
from fugu_lite.rewards.card import data_card
from fugu_lite.rewards.matrix import RewardMatrix, nullable
from fugu_lite.rewards.utility import best_workers
from fugu_lite.tasks import Task
from fugu_lite.workers import UtilitySpec

RESERVED = (
    "task_id",
    "repetitions",
    "agent_order",
    "mean_reward",
    "best_agents",
    "is_tie",
    "empty_counts",
    "error_counts",
)
QUALITY_ONLY = UtilitySpec(quality_weight=1.0)


@dataclass(frozen=True)
class PublishSummary:
    """What was written.

    Attributes:
        reward_rows: tasks with at least one grade.
        task_rows: tasks that may be redistributed.
        left_out: licence -> tasks that may not, or whose licence is not cleared.
    """

    folder: Path
    reward_rows: int
    task_rows: int
    left_out: dict[str, int]


def publish(
    attempts: Path, tasks: Sequence[Task], folder: Path, worker_ids: Sequence[str] | None = None
) -> PublishSummary:
    """Write `rewards.jsonl`, `tasks.jsonl` and the data card `README.md` into a folder.

    Rewards are mean qualities, so that they do not depend on anyone's cost weights. No prompt and no answer text is in
    the rewards; a task whose `source.redistributable` is not true is left out of the tasks and counted.

    Raises:
        DataError: if nothing is graded.
        SpecError: if a worker's id is also the name of a column, or the folder holds other files of these names.
    """
    ids = list(dict.fromkeys(a.worker_id for a in log.read(attempts))) if worker_ids is None else list(worker_ids)
    clash = next((name for name in ids if name in RESERVED), None)
    if clash is not None:
        raise SpecError("workers", f"worker id {clash!r} is the name of a column", "rename the worker")
    if (folder / "rewards.jsonl").exists():
        raise SpecError("--output", f"{folder} already holds a dataset", "name another folder")
    cells = cells_of(log.read(attempts), tasks, ids)
    graded = np.flatnonzero((~np.isnan(cells.quality)).any(axis=(1, 2)))
    if not len(graded):
        raise DataError(str(attempts), "holds no graded attempt of these tasks", "check --tasks")
    matrix = cells.matrix(QUALITY_ONLY, graded)
    open_tasks = [task for task in tasks if (task.source or {}).get("redistributable") is True]
    left_out = Counter(_licence(task) for task in tasks if (task.source or {}).get("redistributable") is not True)
    jsonl.write(folder / "rewards.jsonl", reward_rows(matrix, cells, graded))
    jsonl.write(folder / "tasks.jsonl", [task_row(task) for task in open_tasks])
    card = data_card(matrix, cells, Counter(_licence(task) for task in open_tasks), left_out)
    jsonl.write_bytes(folder / "README.md", card.encode())
    return PublishSummary(folder, len(matrix), len(open_tasks), dict(left_out))


def reward_rows(matrix: RewardMatrix, cells: Cells, picked: Any) -> list[dict[str, Any]]:
    """Return one row per task: a column per worker, and the same rewards as a list beside `agent_order`."""
    winners = best_workers(matrix.rewards)
    empty, error = (_counts(cells, picked, status) for status in ("empty", "error"))
    asked = (cells.status[picked] != 0).sum(axis=2)
    ids = list(matrix.worker_ids)
    return [
        {
            "task_id": task.task_id,
            **dict(zip(ids, nullable(matrix.rewards[i]), strict=True)),
            "repetitions": int(asked[i].max()),
            "agent_order": ids,
            "mean_reward": nullable(matrix.rewards[i]),
            "best_agents": [name for name, wins in zip(ids, winners[i], strict=True) if wins],
            "is_tie": int(winners[i].sum()) > 1,
            "empty_counts": empty[i].tolist(),
            "error_counts": error[i].tolist(),
        }
        for i, task in enumerate(matrix.tasks)
    ]


def task_row(task: Task) -> dict[str, Any]:
    """Return a task as it is published, licence included."""
    source = task.source or {}
    row = task.model_dump(mode="json", exclude_none=True)
    return {**row, "license": source.get("license"), "source_dataset": source.get("dataset")}


def _counts(cells: Cells, picked: Any, status: str) -> Any:
    """Return (tasks, workers): how many repetitions ended with a status."""
    return (cells.status[picked] == STATUSES.index(status) + 1).sum(axis=2)


def _licence(task: Task) -> str:
    return str((task.source or {}).get("license") or "not stated")

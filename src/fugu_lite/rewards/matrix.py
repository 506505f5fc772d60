"""The reward matrix: one row per task, one column per worker, NaN for what was not measured."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from fugu_lite import jsonl
from fugu_lite.errors import DataError, MismatchError
from fugu_lite.rewards.utility import best_workers
from fugu_lite.tasks import Task

Array = NDArray[np.float64]
OPTIONAL = ("qualities", "costs", "latencies")
ANSWER_KEY = {"reference_answer", "grader"}


@dataclass(frozen=True)
class RewardMatrix:
    """Measured rewards.

    Attributes:
        tasks: one per row; `split`, `domain`, `difficulty`, `language` and `group` come from here.
        worker_ids: one per column.
        rewards: (tasks, workers) utilities; NaN = missing.
        qualities, costs, latencies: same shape; NaN = unknown.
        notes: what was dropped or joined on the way, in words, for the report.
    """

    tasks: tuple[Task, ...]
    worker_ids: tuple[str, ...]
    rewards: Array
    qualities: Array
    costs: Array
    latencies: Array
    notes: tuple[str, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.tasks)

    @property
    def prompts(self) -> list[str]:
        """Row texts, as they are embedded.

        Raises:
            DataError: if a row has no prompt; an empty text would be routed like any other.
        """
        bare = next((task.task_id for task in self.tasks if task.prompt is None and not task.messages), None)
        if bare is not None:
            raise DataError(f"row {bare!r}", "has no prompt", "give the tasks file with --tasks, to join it on task_id")
        return [task.routing_text for task in self.tasks]

    @property
    def domains(self) -> list[str]:
        """Row domains, empty string when unknown."""
        return [task.domain or "" for task in self.tasks]

    @property
    def groups(self) -> list[str]:
        """Units of the clustered bootstrap."""
        return [task.group for task in self.tasks]

    def rows(self, index: NDArray[Any] | Sequence[int]) -> RewardMatrix:
        """Return some rows, by boolean mask or positions."""
        picked = np.asarray(index)
        picked = np.flatnonzero(picked) if picked.dtype == bool else picked
        arrays = {name: getattr(self, name)[picked] for name in ("rewards", *OPTIONAL)}
        return replace(self, tasks=tuple(self.tasks[int(i)] for i in picked), **arrays)

    def split(self, name: str | None) -> RewardMatrix:
        """Return the rows of one split; None returns all.

        Raises:
            DataError: if there are none, naming the splits that exist.
        """
        if name is None:
            return self
        mask = np.array([task.split == name for task in self.tasks])
        if not mask.any():
            known = sorted({task.split or "(none)" for task in self.tasks})
            raise DataError("--split", f"no row has split {name!r}", f"splits in the file: {', '.join(known)}")
        return self.rows(mask)

    def only(self, worker_ids: Sequence[str] | None) -> RewardMatrix:
        """Return some columns, in the order given.

        Raises:
            MismatchError: for a worker that has no column.
        """
        if worker_ids is None:
            return self
        unknown = [name for name in worker_ids if name not in self.worker_ids]
        if unknown:
            raise MismatchError(
                "workers",
                f"the matrix has no column {unknown[0]!r}",
                f"columns: {', '.join(self.worker_ids)}",
            )
        columns = [self.worker_ids.index(name) for name in worker_ids]
        arrays = {name: getattr(self, name)[:, columns] for name in ("rewards", *OPTIONAL)}
        return replace(self, worker_ids=tuple(worker_ids), **arrays)

    @property
    def observed(self) -> NDArray[np.bool_]:
        """(tasks, workers): which rewards were measured."""
        return np.asarray(~np.isnan(self.rewards))

    def to_rows(self) -> list[dict[str, Any]]:
        """Return the rows of the matrix file."""
        return list(self._iter_rows())

    def _iter_rows(self) -> Iterator[dict[str, Any]]:
        best = best_workers(self.rewards)
        return (self._row(i, task, best[i]) for i, task in enumerate(self.tasks))

    def _row(self, i: int, task: Task, best: NDArray[np.bool_]) -> dict[str, Any]:
        cells = {name: getattr(self, name)[i].tolist() for name in ("rewards", *OPTIONAL)}
        return row_of(task, self.worker_ids, cells, best.tolist())

    def save(self, path: Path) -> None:
        """Write the matrix file atomically."""
        jsonl.write(path, self._iter_rows())


def row_of(
    task: Task, worker_ids: Sequence[str], cells: Mapping[str, Sequence[float]], best: Sequence[bool]
) -> dict[str, Any]:
    """Return one row of the matrix file.

    Args:
        task: its answer key stays out of the row.
        worker_ids: columns.
        cells: `rewards`, `qualities`, `costs`, `latencies` -> one number per worker; NaN is written as null.
        best: which workers reach the best reward.
    """
    kept = task.model_dump(mode="json", exclude_none=True, exclude=ANSWER_KEY, exclude_defaults=True)
    winners = [name for name, wins in zip(worker_ids, best, strict=True) if wins]
    return {
        **kept,
        "worker_ids": list(worker_ids),
        **{name: nullable(values) for name, values in cells.items()},
        "best_workers": winners,
        "is_tie": len(winners) > 1,
    }


def nullable(values: Iterable[float]) -> list[float | None]:
    """Return numbers as they stand in a file: NaN becomes None."""
    return [None if math.isnan(value) else float(value) for value in values]


def load(paths: Path | Sequence[Path], tasks: Sequence[Task] | None = None) -> RewardMatrix:
    """Read matrix files as one matrix; rows without prompt, domain or split are joined with `tasks` on `task_id`.

    Raises:
        DataError: for a malformed row, a duplicate, or rows whose worker order differs.
    """
    by_id = {task.task_id: task for task in tasks or ()}
    rows: dict[str, tuple[Task, dict[str, Any]]] = {}
    worker_ids: tuple[str, ...] | None = None
    unjoined = 0
    files = [paths] if isinstance(paths, Path) else paths
    for where, row in ((f"{path}:{number}", canonical(row)) for path in files for number, row in jsonl.read(path)):
        worker_ids = _checked_order(row, worker_ids, where)
        task_id = row.get("task_id")
        if not isinstance(task_id, str):
            raise DataError(where, "row has no 'task_id'")
        if task_id in rows:
            raise DataError(where, f"task_id {task_id!r} appears twice", "keep one row per task")
        known = by_id.get(task_id)
        unjoined += bool(by_id) and known is None
        rows[task_id] = (
            _task_of(row, known, where),
            {name: _numbers(row, name, len(worker_ids), where) for name in ("rewards", *OPTIONAL)},
        )
    if worker_ids is None:
        raise DataError(", ".join(str(path) for path in files), "holds no row")
    found = [task for task, _ in rows.values()]
    arrays = {name: np.array([cells[name] for _, cells in rows.values()]) for name in ("rewards", *OPTIONAL)}
    return RewardMatrix(tuple(found), worker_ids, **arrays, notes=_join_notes(unjoined, by_id, rows))


def _join_notes(unjoined: int, by_id: dict[str, Task], rows: dict[str, Any]) -> tuple[str, ...]:
    without_row = [name for name in by_id if name not in rows]
    notes = []
    if unjoined:
        notes.append(f"{unjoined} rows have no task in the tasks file")
    if without_row:
        notes.append(f"{len(without_row)} tasks have no row, e.g. {without_row[0]!r}")
    return tuple(notes)


def canonical(row: dict[str, Any]) -> dict[str, Any]:
    """Rename BenchGen's keys (`agent_order`, `mean_reward`, `best_agents`) to ours."""
    names = {"agent_order": "worker_ids", "mean_reward": "rewards", "best_agents": "best_workers"}
    return {names.get(key, key): value for key, value in row.items()}


def _checked_order(row: dict[str, Any], expected: tuple[str, ...] | None, where: str) -> tuple[str, ...]:
    ids = row.get("worker_ids")
    if not isinstance(ids, list) or not ids or not all(isinstance(name, str) for name in ids):
        raise DataError(where, "row has no 'worker_ids' list of names")
    if len(set(ids)) != len(ids):
        raise DataError(where, f"worker_ids repeats a name: {ids}")
    if expected is not None and tuple(ids) != expected:
        raise DataError(
            where,
            f"worker_ids {ids} differ from the first row's {list(expected)}",
            "use one order in every row",
        )
    return tuple(ids)


def _numbers(row: dict[str, Any], name: str, size: int, where: str) -> list[float]:
    values = row.get(name)
    if values is None and name != "rewards":
        return [float("nan")] * size
    if not isinstance(values, list):
        raise DataError(where, f"row has no {name!r} list")
    if len(values) != size:
        raise DataError(where, f"row has {len(values)} {name} but worker_ids has {size}")
    for value in values:
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise DataError(where, f"{name} holds {value!r}, which is not a number or null")
    return [float("nan") if value is None else float(value) for value in values]


def _task_of(row: dict[str, Any], known: Task | None, where: str) -> Task:
    """Join a row with its task; what the row says itself wins."""
    fields = {name: row[name] for name in Task.model_fields if row.get(name) is not None}
    try:
        return Task.model_validate({**(known.model_dump() if known else {}), **fields})
    except ValidationError as error:
        first = error.errors()[0]
        field_name = ".".join(str(part) for part in first["loc"])
        raise DataError(where, f"row field {field_name!r}: {first['msg']}, found {first['input']!r}") from None

"""What the exporters share: which numbers are the scores, and cells that are there."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fugu_lite import jsonl
from fugu_lite.errors import DataError, SpecError
from fugu_lite.rewards import RewardMatrix
from fugu_lite.tasks import Task

Array = NDArray[np.float64]


def scores(matrix: RewardMatrix) -> tuple[Array, tuple[str, ...]]:
    """Return (tasks, workers) scores, NaN = missing, and what to say about them.

    Qualities, or the rewards of a matrix that has no qualities.

    Raises:
        DataError: if rewards stand in for qualities and leave [0, 1].
    """
    if not np.isnan(matrix.qualities).all():
        return matrix.qualities, ()
    known = matrix.rewards[matrix.observed]
    if len(known) and (known.min() < 0 or known.max() > 1):
        raise DataError("--data", "has rewards outside [0, 1] and no qualities", "export a matrix with qualities")
    return matrix.rewards, ("the matrix has no qualities: its rewards are written as scores",)


def optional(value: float) -> float | None:
    """Return a number as it stands in a file: NaN is null."""
    return None if np.isnan(value) else float(value)


def cells(matrix: RewardMatrix, values: Array) -> Iterator[tuple[int, Task, str, float, float | None, float | None]]:
    """Yield (row, task, worker, score, cost, latency) of every cell that has a score."""
    for i, task in enumerate(matrix.tasks):
        for j, name in enumerate(matrix.worker_ids):
            if not np.isnan(values[i, j]):
                cost, latency = optional(matrix.costs[i, j]), optional(matrix.latencies[i, j])
                yield i, task, name, float(values[i, j]), cost, latency


def known(matrix: RewardMatrix, values: Array, i: int) -> dict[str, float]:
    """Return worker -> value of the cells of a row that have one."""
    return {name: float(value) for name, value in zip(matrix.worker_ids, values[i], strict=True) if not np.isnan(value)}


def text(task: Task) -> str:
    """Return the prompt.

    Raises:
        DataError: if there is none.
    """
    if task.prompt is None and not task.messages:
        raise DataError(f"row {task.task_id!r}", "has no prompt", "give the tasks file with --tasks")
    return task.text


def left_out(matrix: RewardMatrix, *names: str) -> tuple[str, ...]:
    """Return what is lost, in words: those of `costs`, `latencies`, `split` that are there."""
    there = {
        "costs": not np.isnan(matrix.costs).all(),
        "latencies": not np.isnan(matrix.latencies).all(),
        "split": any(task.split for task in matrix.tasks),
    }
    lost = [name for name in names if there[name]]
    return (f"the format has no place for {', '.join(lost)}",) if lost else ()


def write_csv(path: Path, names: Sequence[str], table: Iterable[Mapping[str, Any]]) -> None:
    """Write a CSV file atomically; None is an empty cell."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(names), lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    jsonl.write_bytes(path, out.getvalue().encode())


def named(path: Path, *suffixes: str) -> None:
    """Refuse a file name that says something else than what is written.

    Raises:
        SpecError: naming the suffixes that fit.
    """
    if path.suffix not in suffixes or path.is_dir():
        raise SpecError("--output", f"{path.name!r} is not a {' or '.join(suffixes)} file", "rename it")


def folder(path: Path) -> None:
    """Refuse an output folder that is a file or holds something.

    Raises:
        SpecError: if so.
    """
    if path.is_file() or (path.is_dir() and any(path.iterdir())):
        raise SpecError("--output", f"{path} is there already", "name a new folder")

"""Attempts to matrix: a pure function. A later attempt with the same key replaces an earlier one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from fugu_lite.chat import Json
from fugu_lite.errors import DataError
from fugu_lite.rewards import attempts as log
from fugu_lite.rewards.attempts import Attempt, Status
from fugu_lite.rewards.matrix import RewardMatrix, row_of
from fugu_lite.rewards.utility import best_of, utility, utility_of
from fugu_lite.tasks import Task
from fugu_lite.workers import UtilitySpec

Array = NDArray[np.float64]
STATUSES: tuple[str, ...] = get_args(Status)


class Cells:
    """The numbers of every attempt, without its texts: memory is a few bytes per call.

    Attributes:
        status: (tasks, workers, repetitions); 0 = not returned yet, otherwise 1 + the position in `STATUSES`.
        quality, cost, latency: same shape.
        strangers: attempts of tasks or workers that are not in this matrix.
    """

    def __init__(self, tasks: Sequence[Task], worker_ids: Sequence[str], repetitions: int = 1) -> None:
        self.tasks, self.worker_ids = tuple(tasks), tuple(worker_ids)
        self._row = {task.task_id: i for i, task in enumerate(self.tasks)}
        self._column = {name: j for j, name in enumerate(self.worker_ids)}
        shape = (len(self.tasks), len(self.worker_ids), repetitions)
        self._numbers: Array = np.full((3, *shape), np.nan)  # quality, cost, latency
        self.status = np.zeros(shape, dtype=np.int8)
        self._answered = np.zeros(shape, dtype=np.bool_)
        self.strangers = 0

    @property
    def repetitions(self) -> int:
        """Repetitions that fit at present; grows with what is put in."""
        return self.status.shape[2]

    @property
    def quality(self) -> Array:
        """Grades; NaN = not graded."""
        return np.asarray(self._numbers[0])

    @property
    def cost(self) -> Array:
        """USD; NaN = unknown."""
        return np.asarray(self._numbers[1])

    @property
    def latency(self) -> Array:
        """Seconds; NaN = not measured."""
        return np.asarray(self._numbers[2])

    def put(self, attempt: Attempt) -> int | None:
        """Take one attempt in; return its row, None when it belongs to no row or column."""
        i, j = self._row.get(attempt.task_id), self._column.get(attempt.worker_id)
        if i is None or j is None:
            self.strangers += 1
            return None
        self._reserve(attempt.repetition + 1)
        at = i, j, attempt.repetition
        self.status[at] = STATUSES.index(attempt.status) + 1
        self._answered[at] = attempt.answered
        for k, value in enumerate((attempt.quality, attempt.cost_usd, attempt.latency_s)):
            self._numbers[(k, *at)] = math.nan if value is None else value
        return i

    def _reserve(self, repetitions: int) -> None:
        extra = repetitions - self.repetitions
        if extra > 0:
            pad = ((0, 0), (0, 0), (0, extra))
            self._numbers = np.pad(self._numbers, ((0, 0), *pad), constant_values=np.nan)
            self.status = np.pad(self.status, pad)
            self._answered = np.pad(self._answered, pad)

    def answered(self) -> NDArray[np.bool_]:
        """(tasks, workers, repetitions): whether the worker's own behaviour was seen, so that it is not asked again."""
        return self._answered.copy()

    def matrix(self, spec: UtilitySpec, rows: NDArray[np.intp] | None = None) -> RewardMatrix:
        """Return the matrix: means over repetitions, then the utility of the means.

        Args:
            spec: weights and scales.
            rows: positions of the tasks to include; None takes all.
        """
        picked = np.arange(len(self.tasks)) if rows is None else rows
        quality, cost, latency = _mean(self._numbers[:, picked])
        chosen = tuple(self.tasks[int(i)] for i in picked)
        return RewardMatrix(
            chosen, self.worker_ids, utility(spec, quality, cost, latency), quality, cost, latency, self._notes()
        )

    def row(self, spec: UtilitySpec, i: int) -> Json:
        """Return one row of the matrix file: that of `matrix`, without the arrays that a single row does not need."""
        qualities, costs, latencies = ([_mean_of(seen) for seen in kind] for kind in self._numbers[:, i].tolist())
        rewards = [utility_of(spec, *answer) for answer in zip(qualities, costs, latencies, strict=True)]
        cells = {"rewards": rewards, "qualities": qualities, "costs": costs, "latencies": latencies}
        return row_of(self.tasks[i], self.worker_ids, cells, best_of(rewards))

    def _notes(self) -> tuple[str, ...]:
        if not self.strangers:
            return ()
        return (f"{self.strangers} attempts belong to tasks or workers that are not in this matrix",)

    def counts(self) -> dict[str, dict[str, int]]:
        """Return worker -> status -> number of attempts; `ungraded` counts answers without a grade."""
        result = {}
        for j, name in enumerate(self.worker_ids):
            seen = Counter(self.status[:, j].ravel().tolist())
            counts = {status: seen[k] for k, status in enumerate(STATUSES, 1)}
            graded = ~np.isnan(self.quality[:, j])
            result[name] = {**counts, "ungraded": int((self.answered()[:, j] & ~graded).sum())}
        return result

    def flip_rates(self) -> dict[str, float | None]:
        """Return worker -> chance that two repetitions of one task are graded differently; None without such pairs."""
        return {name: _flip_rate(self.quality[:, j]) for j, name in enumerate(self.worker_ids)}


def matrix_from_attempts(
    attempts: Iterable[Attempt], tasks: Sequence[Task], worker_ids: Sequence[str], spec: UtilitySpec
) -> RewardMatrix:
    """Rebuild the matrix of the tasks that have at least one grade, in the order of `tasks`.

    Args:
        attempts: in file order.
        tasks: rows; tasks without a graded attempt are left out.
        worker_ids: columns, in this order.
        spec: how an answer is valued.
    """
    cells = cells_of(attempts, tasks, worker_ids)
    graded = np.flatnonzero((~np.isnan(cells.quality)).any(axis=(1, 2)))
    return cells.matrix(spec, graded)


def rebuild(
    path: Path, tasks: Sequence[Task], spec: UtilitySpec, worker_ids: Sequence[str] | None = None
) -> RewardMatrix:
    """Rebuild the matrix of an attempts file under another utility, without a call.

    Args:
        path: the attempts file.
        tasks: rows.
        spec: how an answer is valued.
        worker_ids: columns; None takes every worker of the file, in order of first appearance.

    Raises:
        DataError: for a malformed line, or when no attempt of these tasks and workers is graded.
    """
    ids = list(dict.fromkeys(attempt.worker_id for attempt in log.read(path))) if worker_ids is None else worker_ids
    matrix = matrix_from_attempts(log.read(path), tasks, ids, spec)
    if not len(matrix):
        raise DataError(str(path), "holds no graded attempt of these tasks and workers", "check --tasks")
    return matrix


def cells_of(attempts: Iterable[Attempt], tasks: Sequence[Task], worker_ids: Sequence[str]) -> Cells:
    """Return the numbers of `attempts`, arranged by task, worker and repetition."""
    cells = Cells(tasks, worker_ids)
    for attempt in attempts:
        cells.put(attempt)
    return cells


def _mean(values: Array) -> Array:
    """Mean over the last axis of what is known; NaN where nothing is."""
    known = ~np.isnan(values)
    count = known.sum(axis=-1)
    total = np.where(known, values, 0.0).sum(axis=-1)
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan))


def _mean_of(values: Sequence[float]) -> float:
    """Mean of what is known; NaN where nothing is."""
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan


def _flip_rate(quality: Array) -> float | None:
    """Share of unordered pairs of repetitions, over all tasks, whose grades differ."""
    pairs = flips = 0
    for a in range(quality.shape[1]):
        for b in range(a + 1, quality.shape[1]):
            both = ~np.isnan(quality[:, a]) & ~np.isnan(quality[:, b])
            pairs += int(both.sum())
            flips += int((both & (quality[:, a] != quality[:, b])).sum())
    return flips / pairs if pairs else None

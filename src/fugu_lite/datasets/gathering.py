"""Outcomes of a foreign file, joined by the names of tasks and workers; a missing cell stays missing."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fugu_lite.datasets.preferences import Preference
from fugu_lite.errors import DataError
from fugu_lite.rewards import Attempt, RewardMatrix, utility
from fugu_lite.tasks import Task
from fugu_lite.workers import UtilitySpec

Array = NDArray[np.float64]
NAN = float("nan")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one worker did with one task.

    Attributes:
        quality: in [0, 1]; None = missing.
        cost_usd, latency_s: None = unknown.
        call: further fields of an `Attempt`; None where the format keeps no record of the call.
    """

    quality: float | None
    cost_usd: float | None = None
    latency_s: float | None = None
    call: Mapping[str, Any] | None = None


class Gathering:
    """Collects outcomes one by one; memory is a few numbers per outcome, whatever the number of workers.

    Args:
        rename: worker name in the file -> worker id.
        score: which score of a log is the quality.
        by_served: a call belongs to the model that answered it, not to the name that was asked for.
    """

    def __init__(
        self, rename: Mapping[str, str] | None = None, score: str | None = None, by_served: bool = False
    ) -> None:
        self.score, self.by_served = score, by_served
        self.dropped: Counter[str] = Counter()
        self.renamed: dict[str, str] = {}
        self.attempts: list[Attempt] = []
        self.preferences: list[Preference] = []
        self._rename = dict(rename or {})
        self._tasks: dict[str, Task] = {}
        self._rows: dict[str, int] = {}
        self._columns: dict[str, int] = {}
        self._numbers = tuple(array("d") for _ in range(3))  # quality, cost, latency
        self._at = array("q"), array("q")
        self._repetitions: Counter[tuple[str, str]] = Counter()
        self._served: Counter[tuple[str, str]] = Counter()
        self._torn: set[str] = set()
        self._notes: dict[str, None] = {}

    @property
    def records(self) -> int:
        """Outcomes so far."""
        return len(self._at[0])

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Every task, in order of first appearance."""
        return tuple(self._tasks.values())

    @property
    def worker_ids(self) -> tuple[str, ...]:
        """Every worker, in order of first appearance."""
        return tuple(self._columns)

    def note(self, text: str) -> None:
        """Say something to the reader, once."""
        self._notes[text] = None

    def drop(self, reason: str) -> None:
        """Count something that is not used."""
        self.dropped[reason] += 1

    def worker(self, name: str) -> str:
        """Return the id of a worker that the file calls `name`, and remember its column."""
        found = self._rename.get(name, name)
        if found != name:
            self.renamed[name] = found
        self._columns.setdefault(found, len(self._columns))
        return found

    def task(self, task: Task, where: str) -> None:
        """Take a task in; the first record of it wins, and splits that contradict each other are emptied.

        Raises:
            DataError: if the id stands for another text already.
        """
        known = self._tasks.setdefault(task.task_id, task)
        self._rows.setdefault(task.task_id, len(self._rows))
        if known is task:
            return
        if None not in (known.prompt, task.prompt) and known.prompt != task.prompt:
            raise DataError(
                where, f"task {task.task_id!r} has two prompts", "import the files one by one, and give ids that differ"
            )
        if known.split and task.split and known.split != task.split:
            self._torn.add(task.task_id)
            self._tasks[task.task_id] = known.model_copy(update={"split": None})

    def put(self, task: Task, worker: str, outcome: Outcome, where: str) -> None:
        """Take one outcome in.

        The grade of a failed call is not kept: an outage is no wrong answer.

        Raises:
            DataError: if the task's id stands for another text already.
        """
        self.task(task, where)
        served = outcome.call.get("served_model") if outcome.call is not None and self.by_served else None
        worker_id, quality = self.worker(served or worker), outcome.quality
        if outcome.call is not None:
            if outcome.call.get("status") == "error" and quality is not None:
                quality = None
                self.drop("grades of failed calls")
            self._call(task.task_id, worker_id, outcome, quality)
        self._at[0].append(self._rows[task.task_id])
        self._at[1].append(self._columns[worker_id])
        for numbers, value in zip(self._numbers, (quality, outcome.cost_usd, outcome.latency_s), strict=True):
            numbers.append(NAN if value is None else value)

    def _call(self, task_id: str, worker_id: str, outcome: Outcome, quality: float | None) -> None:
        fields = dict(outcome.call or {})
        served = fields.get("served_model")
        if isinstance(served, str) and served != worker_id:
            self._served[worker_id, served] += 1
        key = task_id, worker_id
        fields.setdefault("status", "ok")
        self.attempts.append(
            Attempt(
                task_id=task_id,
                worker_id=worker_id,
                repetition=self._repetitions[key],
                quality=quality,
                cost_usd=outcome.cost_usd,
                latency_s=outcome.latency_s,
                **fields,
            )
        )
        self._repetitions[key] += 1

    def _sums(self, values: array[float]) -> tuple[Array, Array]:
        """Return (tasks, workers) sums and counts of the known values."""
        shape = len(self._rows), len(self._columns)
        known = ~np.isnan(numbers := np.array(values))
        at = tuple(np.array(index, dtype=np.intp)[known] for index in self._at)
        sums, counts = np.zeros(shape), np.zeros(shape)
        np.add.at(sums, at, numbers[known])
        np.add.at(counts, at, 1.0)
        return sums, counts

    def averaged(self) -> int:
        """Return how many cells have several grades."""
        return int((self._sums(self._numbers[0])[1] > 1).sum()) if self.records else 0

    def matrix(self, spec: UtilitySpec) -> RewardMatrix | None:
        """Return tasks and workers with a grade: means of the known values; None when nothing is graded."""
        if not self.records:
            return None
        sums = [self._sums(values) for values in self._numbers]
        quality, cost, latency = (np.where(n > 0, total / np.maximum(n, 1), np.nan) for total, n in sums)
        graded = ~np.isnan(quality)
        rows, columns = np.flatnonzero(graded.any(axis=1)), np.flatnonzero(graded.any(axis=0))
        if not len(rows):
            self.note("no record holds a quality: nothing is graded, so there is no matrix")
            return None
        if len(rows) < len(graded):
            self.note(f"{len(graded) - len(rows)} tasks have no grade and no row in the matrix")
        ids = self.worker_ids
        bare = [name for j, name in enumerate(ids) if j not in set(columns.tolist())]
        if bare:
            self.note(f"no grade for {', '.join(bare)}: no column in the matrix")
        if int(graded.sum()) == len(rows) and len(columns) > 1:
            self.note("one worker per task (partial feedback): somebody chose which cells exist; do not compare means")
        pick = np.ix_(rows, columns)
        quality, cost, latency = quality[pick], cost[pick], latency[pick]
        return RewardMatrix(
            tuple(self.tasks[i] for i in rows),
            tuple(ids[j] for j in columns),
            utility(spec, quality, cost, latency),
            quality,
            cost,
            latency,
        )

    def told(self) -> tuple[str, ...]:
        """Return the notes."""
        served = [f"{name} was served by {model} in {count} calls" for (name, model), count in self._served.items()]
        several = [name for name, count in Counter(name for name, _ in self._served).items() if count > 1]
        served += [f"{name} is a mixture of models: take the calls apart with --by-served" for name in several]
        torn = [f"{len(self._torn)} tasks stand in two splits: their split is left empty"] if self._torn else []
        return (*self._notes, *served, *torn)

"""The whole audit of a reward matrix: graders, stability of labels, prompts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from fugu_lite import splits, tasks
from fugu_lite.audit.flips import FlipRate, flip_rates
from fugu_lite.audit.grading import Opinion, Pair, draw, opinions, pairs
from fugu_lite.errors import DataError
from fugu_lite.rewards import attempts as log
from fugu_lite.rewards import matrix as matrices
from fugu_lite.rewards.attempts import Attempt
from fugu_lite.tasks import Task, leaked_answers

SAMPLE = 20


@dataclass(frozen=True)
class Audit:
    """What was found.

    Attributes:
        attempts: answers in force.
        opinions: answers on which another grader has an opinion.
        skipped: reason -> answers without one.
        drawn: the sample, `random` or `disagreement` with each answer.
        leaks: tasks whose answer stands in their prompt.
        duplicates: pairs of nearly the same prompt in different splits.
        notes: what could not be looked at, and why.
    """

    attempts: int
    opinions: list[Opinion]
    skipped: Counter[str]
    pairs: list[Pair]
    drawn: list[tuple[str, Opinion]]
    flips: list[FlipRate]
    leaks: list[Task]
    duplicates: list[tuple[Task, Task]]
    notes: list[str] = field(default_factory=list)

    @property
    def disagreements(self) -> int:
        """Answers that a second opinion contradicts."""
        return sum(bool(opinion.against) for opinion in self.opinions)


def inspect(data: Path, tasks_file: Path | None, sample: int = SAMPLE, seed: int = 0) -> Audit:
    """Audit a matrix and the attempts beside it; nothing is called and nothing is changed.

    Args:
        data: the matrix file; its attempts are `<stem>.attempts.jsonl` beside it.
        tasks_file: tasks with reference answers and graders; None looks for `tasks.jsonl` beside the matrix. Without
            them graders cannot be compared.
        sample: answers to draw, half of them disagreements.
        seed: of the sample and of the bootstrap.

    Raises:
        DataError: if there are no attempts beside the matrix.
    """
    beside = data.with_name("tasks.jsonl")
    tasks_file = tasks_file or (beside if beside.is_file() else None)
    known = tasks.load(tasks_file) if tasks_file is not None else []
    matrix = matrices.load(data, known)
    attempts = _attempts(data, {task.task_id for task in matrix.tasks}, set(matrix.worker_ids))
    rng = np.random.default_rng(seed)
    found, skipped = opinions(attempts, matrix.tasks)
    notes = list(matrix.notes)
    if tasks_file is None:
        notes.append("graders are not compared: give the tasks with --tasks, for their reference answers")
    told = [task for task in matrix.tasks if task.prompt is not None or task.messages]
    if len(told) < len(matrix):
        notes.append(f"{len(matrix) - len(told)} rows have no prompt and are not looked at for duplicates")
    return Audit(
        attempts=len(attempts),
        opinions=found,
        skipped=skipped,
        pairs=pairs(found),
        drawn=draw(found, sample, rng),
        flips=flip_rates(attempts, {task.task_id: task.group for task in matrix.tasks}, rng),
        leaks=leaked_answers(told),
        duplicates=splits.near_duplicates(told),
        notes=notes,
    )


def _attempts(data: Path, task_ids: set[str], worker_ids: set[str]) -> Sequence[Attempt]:
    path = log.path_beside(data)
    if not path.is_file():
        raise DataError(str(path), "no such file", "the audit reads the attempts that generate wrote beside the matrix")
    return [
        attempt
        for attempt in log.latest(log.read(path)).values()
        if attempt.task_id in task_ids and attempt.worker_id in worker_ids
    ]

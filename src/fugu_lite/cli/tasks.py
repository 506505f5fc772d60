"""`tasks build`: a balanced pool of tasks from local copies of public sources."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from fugu_lite import graders, jsonl, taskpool
from fugu_lite.cli._terminal import Shown
from fugu_lite.errors import SpecError
from fugu_lite.taskpool import report
from fugu_lite.tasks import Task

Count = Parameter(validator=Number(gte=1))


def build(
    *,
    sources: Path,
    output: Path,
    per_source: Annotated[int, Count] = 250,
    total: Annotated[int | None, Count] = None,
    split: str = "60,15,25",
    seed: int = 42,
    shown: Shown = Shown(),
) -> None:
    """Build a balanced pool of tasks from local copies of public sources; nothing is fetched.

    Args:
        sources: folder with copies of MATH-500, RLPR, MMLU-Pro, MMLU, ARC-Challenge, GSM8K, AIME 2025 I and II, as
            they are published, or as task files; what is not there is left out.
        output: tasks file to write.
        per_source: most tasks of one source.
        total: most tasks at all; unset cuts every domain to the size of the smallest.
        split: percentages of train, validation and test.
        seed: the same files and seed give the same pool.
    """
    if output.is_dir():
        raise SpecError("--output", f"{output} is a folder", "name a file in it")
    pool = taskpool.build(sources, _quality, per_source, total, taskpool.shares_of(split), seed)
    jsonl.write(output, [task.model_dump(mode="json", exclude_unset=True, exclude_none=True) for task in pool.tasks])
    shown.warn(pool.notes)
    notes = [f"not used: {line}" for line in pool.strangers]
    told = f"{len(pool.tasks)} tasks in {output}"
    shown.result({"output": str(output), **report.to_json(pool)}, *report.tables(pool), *notes, told)


def _quality(task: Task, response: str) -> float:
    return graders.build(task.grader, task.task_id).grade(response, task).quality

"""How to collect, and what is refused before the first call."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from fugu_lite import graders
from fugu_lite.errors import DataError, GradingError, InputError, SpecError
from fugu_lite.rewards import attempts as log
from fugu_lite.specs import Spec
from fugu_lite.tasks import Task
from fugu_lite.workers import Pool, WorkerSpec


class CollectOptions(Spec):
    """How to collect; None takes what the pool file says.

    Attributes:
        limit: ask only the first tasks.
        resume: continue the output that exists.
        max_cost_usd: stop when what is spent and in flight would pass it.
        only_workers: ask these only (the judge may be another worker of the pool).
        concurrency: calls in flight per worker, instead of each worker's `max_concurrency`.
    """

    limit: int | None = Field(None, gt=0)
    resume: bool = False
    max_cost_usd: float | None = Field(None, ge=0)
    only_workers: tuple[str, ...] | None = None
    repetitions: int | None = Field(None, gt=0)
    retries: int | None = Field(None, ge=0)
    allow_code: bool | None = None
    concurrency: int | None = Field(None, gt=0)


def check_output(output: Path, resume: bool) -> None:
    """Refuse an output that would be overwritten, or that cannot be appended to."""
    if output.suffix != ".jsonl":
        raise SpecError("--output", f"{output.name!r} does not end in .jsonl", "rows are appended while calls return")
    existing = next((path for path in (output, log.path_beside(output)) if path.exists() and path.stat().st_size), None)
    if existing is not None and not resume:
        raise SpecError(
            "--output", f"{existing} already exists", "add --resume to continue it, or name another --output"
        )


def check_tasks(tasks: Sequence[Task]) -> None:
    """Refuse, before money is spent, tasks whose answers could never be graded."""
    bad: list[str] = []
    for task in tasks:
        try:
            graders.build(task.grader, f"task {task.task_id!r}").check(task)
        except (GradingError, InputError) as error:
            bad.append(str(error))
    if bad:
        more = f" (and {len(bad) - 1} more tasks)" if len(bad) > 1 else ""
        raise DataError("tasks", f"cannot be graded: {bad[0]}{more}", "fix or remove them before paying for answers")


def asked(pool: Pool, options: CollectOptions) -> list[WorkerSpec]:
    """Return the entries of the workers to ask, in file order."""
    ids = options.only_workers
    unknown = [name for name in ids or () if name not in pool]
    if unknown:
        raise SpecError("--only-workers", f"no worker {unknown[0]!r}", f"known: {', '.join(pool)}")
    return [worker.spec for worker in pool.values() if ids is None or worker.id in ids]

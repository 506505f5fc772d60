"""`split`, `generate`, `regrade`, `rewards`, `publish`: from tasks to a reward matrix."""

from __future__ import annotations

import asyncio
import dataclasses
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter
from rich.table import Table

from fugu_lite import jsonl, specs, splits, tasks
from fugu_lite.cli._sources import names
from fugu_lite.cli._terminal import Shown, key_value_table
from fugu_lite.errors import SpecError
from fugu_lite.graders import GradingServices
from fugu_lite.rewards import attempts as log
from fugu_lite.rewards import publish as publishing
from fugu_lite.rewards import regrade as regrading
from fugu_lite.rewards.ask import judge_of
from fugu_lite.rewards.build import cells_of, rebuild
from fugu_lite.rewards.collect import CollectSummary, collect, dry_run
from fugu_lite.rewards.options import CollectOptions
from fugu_lite.rewards.plan import Estimate
from fugu_lite.rewards.regrade import RegradeSummary
from fugu_lite.tasks import Task
from fugu_lite.workers import Pool, PoolSpec, UtilitySpec
from fugu_lite.workers.environment import load_env

Flag = Parameter(negative=())


def split(
    tasks_file: Annotated[Path, Parameter(name="--tasks")],
    *,
    output: Path,
    train: float = 0.6,
    validation: float = 0.15,
    test: float = 0.25,
    seed: int = 42,
    shown: Shown = Shown(),
) -> None:
    """Assign splits by group, balanced over domain and difficulty.

    Args:
        tasks_file: tasks to read.
        output: tasks file to write; everything but `split` is kept.
        train: share of the tasks.
        validation: share of the tasks.
        test: share of the tasks.
        seed: the same seed gives the same splits, whatever the order of the rows.
    """
    _check_file(output)
    assigned = splits.assign(tasks.load(tasks_file), {"train": train, "validation": validation, "test": test}, seed)
    jsonl.write(output, [task.model_dump(mode="json", exclude_unset=True) | {"split": task.split} for task in assigned])
    counts = {name: sum(task.split == name for task in assigned) for name in ("train", "validation", "test")}
    shown.warn(splits.warnings_for(assigned))
    shown.result({"output": str(output), "counts": counts}, key_value_table(f"{len(assigned)} tasks", counts))


def _check_file(output: Path) -> None:
    """Refuse a folder where a file is to be written."""
    if output.is_dir():
        raise SpecError("--output", f"{output} is a folder", "name a file in it")


def generate(
    workers: Path,
    tasks_file: Annotated[Path, Parameter(name="--tasks")],
    *,
    output: Path,
    split: str | None = None,
    limit: int | None = None,
    resume: Annotated[bool, Flag] = False,
    repetitions: int | None = None,
    retries: int | None = None,
    concurrency: int | None = None,
    only_workers: str | None = None,
    max_cost_usd: float | None = None,
    allow_code: Annotated[bool | None, Flag] = None,
    dry_run: Annotated[bool, Flag] = False,
    shown: Shown = Shown(),
) -> None:
    """Call every worker on every task, grade the answers, and write the reward matrix.

    Args:
        workers: pool file.
        tasks_file: tasks to ask.
        output: matrix to write (.jsonl); attempts go to `<stem>.attempts.jsonl` beside it.
        split: ask the tasks of one split only.
        limit: ask only the first tasks.
        resume: continue an output that exists.
        repetitions: calls per task and worker; unset takes the pool file's.
        retries: tries after a failed call; unset takes the pool file's.
        concurrency: calls in flight per worker; unset takes each worker's max_concurrency.
        only_workers: comma-separated ids to ask.
        max_cost_usd: stop before the known cost passes this.
        allow_code: let the code grader run answers in the sandbox.
        dry_run: print calls and estimated cost, and stop.
    """
    shown.warn(load_env())
    _check_file(output)
    options = CollectOptions.parse(
        {
            "limit": limit,
            "resume": resume,
            "max_cost_usd": max_cost_usd,
            "only_workers": names(only_workers),
            "repetitions": repetitions,
            "retries": retries,
            "allow_code": allow_code,
            "concurrency": concurrency,
        },
        "flags",
    )
    chosen = tasks.in_split(tasks.load(tasks_file), split)
    pool = _bounded(Pool.load(workers), concurrency)
    if dry_run:
        _show_estimates(pool, chosen, options, output, shown)
        return
    if split is None and limit is None:
        shown.warn(splits.warnings_for(chosen, {task.split for task in chosen}))
    summary = _generated(pool, chosen, output, options, {"workers": workers, "tasks": tasks_file}, shown)
    shown.result({"output": str(output), **dataclasses.asdict(summary)}, _counts(summary), _summary(summary, output))
    _end(summary)


def _end(summary: CollectSummary) -> None:
    """Tell the shell: 130 when interrupted, 1 when calls are left that money or time did not stop."""
    if summary.status == "cancelled":
        raise KeyboardInterrupt
    if summary.status == "incomplete" or summary.never_answered:
        raise SystemExit(1)


def _bounded(pool: Pool, concurrency: int | None) -> Pool:
    """Return the pool with that many calls in flight per worker, so that its connections allow them too."""
    if concurrency is None:
        return pool
    entries = tuple(entry.model_copy(update={"max_concurrency": concurrency}) for entry in pool.spec.workers)
    return Pool(pool.spec.model_copy(update={"workers": entries}), pool.folder)


def _generated(
    pool: Pool,
    chosen: list[Task],
    output: Path,
    options: CollectOptions,
    inputs: dict[str, Path | str | None],
    shown: Shown,
) -> CollectSummary:
    """Collect inside a run folder, which records how it ended."""
    with shown.run("generate", options, inputs) as run:
        summary = asyncio.run(_collected(pool, chosen, output, options, run))
        run.output("matrix", output)
        run.output("attempts", log.path_beside(output))
        run.results.update(dataclasses.asdict(summary))
        if summary.status == "cancelled":
            run.cancel()
    return summary


async def _collected(pool: Pool, chosen: list[Task], output: Path, options: CollectOptions, run: Any) -> CollectSummary:
    async with pool:
        return await collect(pool, chosen, output, options, run)


def _show_estimates(pool: Pool, chosen: list[Task], options: CollectOptions, output: Path, shown: Shown) -> None:
    estimates = dry_run(pool, chosen, options, output)
    rows = [dataclasses.asdict(row) for row in estimates]
    columns = [field.name for field in dataclasses.fields(Estimate)]
    table = Table(*columns, title="what would be asked", title_justify="left")
    for row in rows:
        table.add_row(*("unknown" if row[name] is None else str(row[name]) for name in columns))
    known = [row["cost_usd"] for row in rows]
    total = None if None in known else sum(known)
    calls = sum(row["calls"] + row["judge_calls"] for row in rows)
    note = f"{calls} calls, estimated cost {'unknown (a price is missing)' if total is None else f'{total:.4f} USD'}"
    shown.result({"workers": rows, "calls": calls, "cost_usd": total}, table, note)


def _counts(summary: CollectSummary) -> Table:
    statuses = ("ok", "empty", "truncated", "refused", "error", "ungraded")
    table = Table("worker", *statuses, title="attempts", title_justify="left")
    for worker, counts in summary.counts.items():
        table.add_row(worker, *(str(counts.get(status, 0)) for status in statuses))
    return table


def _summary(summary: CollectSummary, output: Path) -> str:
    cost = f"{summary.spent_usd:.4f} USD" + (f" + {summary.unknown_costs} unknown" if summary.unknown_costs else "")
    lines = [f"{summary.status}: {summary.rows} of {summary.tasks} rows in {output}, {summary.done} calls, {cost}"]
    lines += [f"{worker} was given up: {why}" for worker, why in summary.stopped_workers.items()]
    failed = {name: why for name, why in summary.last_errors.items() if name not in summary.stopped_workers}
    lines += [f"{worker}: last failed call: {why}" for worker, why in failed.items()]
    lines += [f"{worker} has not answered a single call" for worker in summary.never_answered]
    if summary.left:
        lines.append(f"{summary.left} calls are left; the same command with --resume makes them")
    return "\n".join(lines)


def regrade(
    attempts: Path,
    tasks_file: Annotated[Path, Parameter(name="--tasks")],
    *,
    allow_code: Annotated[bool, Flag] = False,
    rejudge: Annotated[bool, Flag] = False,
    workers: Path | None = None,
    shown: Shown = Shown(),
) -> None:
    """Grade stored answers again with today's graders; no worker is asked. `rewards` then rebuilds the matrix.

    Args:
        attempts: attempts file that `generate` wrote; changed grades are appended, the old lines stay as history.
        tasks_file: tasks with their graders.
        allow_code: let the code grader run answers in the sandbox.
        rejudge: also call the judge again, once for every judged answer; needs `workers`.
        workers: pool file whose `reward.judge_model` judges.
    """
    if rejudge and workers is None:
        raise SpecError("--rejudge", "no judge is known", "add --workers with the pool file that names the judge")
    shown.warn(load_env())
    pool = Pool.load(workers) if rejudge and workers else None
    inputs: dict[str, Path | str | None] = {"attempts": attempts, "tasks": tasks_file, "workers": workers}
    with shown.run("regrade", {"allow_code": allow_code, "rejudge": rejudge}, inputs) as run:
        summary = asyncio.run(_regraded(attempts, tasks.load(tasks_file), allow_code, pool, run))
        run.results.update(dataclasses.asdict(summary))
    result = dataclasses.asdict(summary)
    shown.result({"attempts": str(attempts), **result}, key_value_table("regraded", result))


async def _regraded(attempts: Path, known: list[Task], allow_code: bool, pool: Pool | None, run: Any) -> RegradeSummary:
    if pool is None:
        return await regrading(attempts, known, GradingServices(allow_code=allow_code), reporter=run)
    async with pool:
        judge, model = judge_of(pool, pool.spec.collection.retries)
        services = GradingServices(judge, model, allow_code)
        return await regrading(attempts, known, services, rejudge=True, reporter=run)


def rewards(
    attempts: Path,
    tasks_file: Annotated[Path, Parameter(name="--tasks")],
    *,
    output: Path,
    workers: Path | None = None,
    only_workers: str | None = None,
    spec: Annotated[UtilitySpec, Parameter(name="*")] = UtilitySpec(),
    shown: Shown = Shown(),
) -> None:
    """Rebuild the reward matrix from attempts, under the weights given; no worker is called.

    Args:
        attempts: attempts file.
        tasks_file: tasks file.
        output: matrix to write.
        workers: pool file whose `reward:` section and worker order are used; flags win over it.
        only_workers: comma-separated columns.
    """
    pool = specs.load(PoolSpec, workers) if workers else None
    weights = UtilitySpec.parse({**(pool.reward.model_dump() if pool else {}), **spec.model_dump(exclude_unset=True)})
    _check_file(output)
    known = tasks.load(tasks_file)
    matrix = rebuild(attempts, known, weights, names(only_workers) or (pool.worker_ids if pool else None))
    matrix.save(output)
    flips = cells_of(log.read(attempts), known, matrix.worker_ids).flip_rates()
    means = {
        name: float(value) for name, value in zip(matrix.worker_ids, np.nanmean(matrix.rewards, axis=0), strict=True)
    }
    shown.warn(matrix.notes)
    result = {
        "output": str(output),
        "rows": len(matrix),
        "mean_reward": means,
        "flip_rate": flips,
        "weights": weights.model_dump(),
    }
    shown.result(result, key_value_table(f"{len(matrix)} rows, mean reward", means))


def publish(
    attempts: Path,
    tasks_file: Annotated[Path, Parameter(name="--tasks")],
    *,
    output: Path,
    only_workers: str | None = None,
    shown: Shown = Shown(),
) -> None:
    """Write the redistributable pair of datasets with a data card.

    Args:
        attempts: attempts file.
        tasks_file: tasks with their licences.
        output: folder to write.
        only_workers: comma-separated columns.
    """
    result = dataclasses.asdict(publishing(attempts, tasks.load(tasks_file), output, names(only_workers)))
    shown.result({"output": str(output), **result}, key_value_table("published", result))

"""`benchmark`: every question embedded, routed, asked and graded live."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from fugu_lite import tasks
from fugu_lite.benchmark import BenchmarkOptions, BenchmarkResult, run_benchmark, tables
from fugu_lite.checkpoints import Checkpoint
from fugu_lite.cli._sources import CheckpointSource, Execution
from fugu_lite.cli._terminal import Shown
from fugu_lite.guard import Mode
from fugu_lite.router import Router
from fugu_lite.runs import Run
from fugu_lite.tasks import Task
from fugu_lite.workers import Pool
from fugu_lite.workers.environment import load_env

Flag = Parameter(negative=())


@Parameter(name="*")
@dataclass(frozen=True)
class Asking:
    """How the workers are asked.

    Attributes:
        timeout_s: seconds one try of a call may take.
        max_tokens: for every worker; unset takes what the checkpoint records, else the pool file's.
        temperature: for every worker; unset as above.
        top_p: for every worker; unset as above.
        limit: ask only the first questions.
        concurrency: calls in flight per worker; unset takes each worker's max_concurrency.
        max_cost_usd: stop before the known cost passes this.
        allow_condition_mismatch: run although workers are not set as they were when their rewards were measured.
        allow_code: let the code grader run answers in the sandbox.
    """

    timeout_s: float = 30.0
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    limit: int | None = None
    concurrency: int | None = None
    max_cost_usd: float | None = None
    allow_condition_mismatch: Annotated[bool, Flag] = False
    allow_code: Annotated[bool | None, Flag] = None


def benchmark(
    checkpoint: CheckpointSource,
    *,
    workers: Path,
    tasks_file: Annotated[Path, Parameter(name="--tasks")],
    output: Path,
    split: str | None = None,
    compare: str | None = None,
    guard: Mode | None = None,
    resume: Annotated[bool, Flag] = False,
    asking: Asking = Asking(),
    execution: Execution = Execution(),
    shown: Shown = Shown(),
) -> None:
    """Run a benchmark live: embed, route, call and grade every question.

    Args:
        workers: pool file.
        tasks_file: questions with their graders; prompts are sent as they are.
        output: folder for attempts.jsonl, decisions.jsonl, benchmark.json and benchmark.md.
        split: ask the questions of one split only.
        compare: also ask one worker every question: best-fixed (the checkpoint's comparator), or a worker's id.
        guard: off, novelty or full; unset takes the checkpoint's.
        resume: continue an output that exists; nothing that was answered is asked again.
    """
    shown.warn(load_env())
    options = BenchmarkOptions.parse({**asdict(asking), "compare": compare, "resume": resume}, "flags")
    loaded, pool = checkpoint.load(), Pool.load(workers)
    chosen = tasks.in_split(tasks.load(tasks_file), split)
    router = loaded.router(None, guard=guard, **execution.placed)  # live: no embedding comes from the cache
    inputs: dict[str, Path | str | None] = {
        "checkpoint": checkpoint.checkpoint,
        "workers": workers,
        "tasks": tasks_file,
    }
    with shown.run("benchmark", options, inputs) as run:
        result = asyncio.run(_ran(loaded, router, pool, chosen, output, options, run, shown.runs))
        run.output("benchmark", output)
        run.results.update({name: value for name, value in result.to_json().items() if name != "questions"})
        if result.status == "cancelled":
            run.cancel()
    shown.result(result.to_json(), *tables.terminal(result), tables.sentence(result), *tables.remarks(result))
    _end(result)


async def _ran(
    loaded: Checkpoint,
    router: Router,
    pool: Pool,
    chosen: list[Task],
    output: Path,
    options: BenchmarkOptions,
    run: Run,
    runs: Path,
) -> BenchmarkResult:
    async with pool:
        return await run_benchmark(loaded.manifest, router, pool, chosen, output, options, run, runs=runs)


def _end(result: BenchmarkResult) -> None:
    """Tell the shell: 130 when interrupted, 1 when questions are left that money did not stop."""
    if result.status == "cancelled":
        raise KeyboardInterrupt
    if result.status == "incomplete":
        raise SystemExit(1)

"""Collection: every worker x task x repetition asked, graded and written as it returns."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from fugu_lite import jsonl
from fugu_lite.engines import Engine, Lane, LocalEngine
from fugu_lite.errors import CallError
from fugu_lite.graders import GradingServices
from fugu_lite.rewards import attempts as log
from fugu_lite.rewards import conditions
from fugu_lite.rewards.answer import answer_facts, failed, grade, status_of
from fugu_lite.rewards.ask import Asker, judge_of
from fugu_lite.rewards.attempts import Attempt, AttemptLog
from fugu_lite.rewards.build import Cells
from fugu_lite.rewards.matrix import RewardMatrix
from fugu_lite.rewards.options import CollectOptions, asked, check_output, check_tasks
from fugu_lite.rewards.plan import Call, Estimate, calls_of, estimate, expected_cost, judge_estimate, prompt_sha
from fugu_lite.rewards.progress import Budget, Progress
from fugu_lite.runs import Reporter, Silent
from fugu_lite.specs import digest_of
from fugu_lite.tasks import Task
from fugu_lite.workers import Pool


@dataclass(frozen=True)
class CollectSummary:
    """How a collection ended.

    Attributes:
        status: `complete`, `incomplete` (failed calls or workers given up), `budget` or `cancelled`.
        planned, done: calls of this run.
        left: calls that are still unanswered; `--resume` asks them.
        rows, tasks: rows in the matrix file, and tasks there are.
        counts: worker -> status -> attempts in the file, earlier runs included; `ungraded` too.
        spent_usd: known costs of this run, judges included; a lower bound when `unknown_costs` > 0.
        stopped_workers: worker -> why it was given up.
        last_errors: worker -> its last failed call of this run, kind and message.
        never_answered: workers of which every call that returned has failed.
    """

    status: str
    planned: int
    done: int
    left: int
    rows: int
    tasks: int
    counts: dict[str, dict[str, int]]
    spent_usd: float
    unknown_costs: int
    stopped_workers: dict[str, str]
    last_errors: dict[str, str]
    never_answered: tuple[str, ...]
    seconds: float


async def collect(
    pool: Pool,
    tasks: Sequence[Task],
    output: Path,
    options: CollectOptions | None = None,
    reporter: Reporter | None = None,
    engine: Engine | None = None,
) -> CollectSummary:
    """Ask every worker every task, grade at once, and write attempts and rows as they complete.

    Attempts are appended to `<stem>.attempts.jsonl`, which is the truth; the matrix file gets a row when a task's last
    call has returned and is rewritten in task order at the end. Cancelling (Ctrl-C) stops the calls in flight, keeps
    what is done and returns a summary with status `cancelled`.

    Raises:
        SpecError, DataError: before any call, when the output exists without `resume`, or a task cannot be graded.
        MissingExtraError, MissingWeightsError: before any call, when a worker lacks what it needs to start.
        MismatchError: when resuming under other conditions, or without tasks or workers that the output holds.
        LockedError: when another process writes the same output.
    """
    options = options or CollectOptions()
    check_output(output, options.resume)
    check_tasks(tasks)
    attempts = log.path_beside(output)
    with AttemptLog(attempts) as appender:
        job = Collection(pool, tasks, output, options, reporter or Silent(), appender)
        await job.start()
        job.save(job.settled_rows())  # a row of an earlier run whose failed calls are asked again would stand twice
        with jsonl.Appender(output) as rows:
            cancelled = await job.run(rows, engine or LocalEngine())
        return job.finish(cancelled)


def dry_run(
    pool: Pool, tasks: Sequence[Task], options: CollectOptions | None = None, output: Path | None = None
) -> list[Estimate]:
    """Estimate what a collection would ask and cost, worker by worker and for the judge, without a call.

    Args:
        output: with `options.resume`, only what is missing there is counted.
    """
    options = options or CollectOptions()
    specs = asked(pool, options)
    repetitions = options.repetitions or pool.spec.collection.repetitions
    if output is not None and options.resume:
        cells = conditions.restore(output, tasks, specs, repetitions)
    else:
        cells = Cells(tasks, [spec.id for spec in specs], repetitions)
    answered = cells.answered()[: options.limit]
    estimates = [estimate(spec, tasks[: options.limit], answered[:, j]) for j, spec in enumerate(specs)]
    judge = pool.spec.reward.judge_model
    if judge is not None and judge in pool and any(each.judge_calls for each in estimates):
        estimates.append(judge_estimate(pool[judge].spec, estimates))
    return estimates


class Collection:
    """One collection: what is known so far, and how one call becomes one attempt."""

    def __init__(
        self,
        pool: Pool,
        tasks: Sequence[Task],
        output: Path,
        options: CollectOptions,
        reporter: Reporter,
        appender: AttemptLog,
    ) -> None:
        defaults = pool.spec.collection
        self.pool, self.tasks, self.output, self.options = pool, tasks, output, options
        self.reporter, self._appender = reporter, appender
        self.specs = {spec.id: spec for spec in asked(pool, options)}
        repetitions = options.repetitions or defaults.repetitions
        self.cells = conditions.restore(output, tasks, list(self.specs.values()), repetitions)
        conditions.record(output, self.specs.values())
        self._open = ~self.cells.answered()
        self._beyond = np.arange(len(tasks)) >= (len(tasks) if options.limit is None else options.limit)
        self._open[self._beyond] = False
        self._waiting = self._open.sum(axis=(1, 2))
        self.planned = int(self._waiting.sum())
        self.progress = Progress(reporter, self.planned, defaults.preflight_calls)
        self.budget = Budget(options.max_cost_usd)
        self._hashes = {name: digest_of(spec.conditions()) for name, spec in self.specs.items()}
        retries = defaults.retries if options.retries is None else options.retries
        self._askers = {name: Asker(pool[name], retries, on_retry=self.progress.retried) for name in self.specs}
        self._services = self._grading(retries)

    def _grading(self, retries: int) -> GradingServices:
        """Prepare the judge, if a task needs one, and the leave to run code."""
        allowed = self.options.allow_code
        allow_code = self.pool.spec.collection.allow_code if allowed is None else allowed
        if not allow_code and any((task.grader or {}).get("type") == "code" for task in self.tasks):
            self.reporter.log("tasks with the code grader stay ungraded: running code is not allowed (--allow-code)")
        if not any((task.grader or {}).get("type") == "llm_judge" for task in self.tasks):
            return GradingServices(allow_code=allow_code)
        judge, model = judge_of(self.pool, retries, self.progress.retried)
        return GradingServices(judge, model, allow_code)

    async def start(self) -> None:
        """Start whom this run asks, so that what is missing is said before the first call.

        A worker that cannot be reached is no reason to stop: its calls fail, and the others go on.
        """
        needed = [self._askers[name].worker for j, name in enumerate(self.specs) if self._open[:, j].any()]
        judge = self._services.judge
        if needed and isinstance(judge, Asker):
            needed.append(judge.worker)
        for worker in needed:
            try:
                await worker.start()
            except CallError as error:
                self.reporter.log(f"worker {worker.id!r} does not start: {error}")

    async def run(self, rows: jsonl.Appender, engine: Engine) -> bool:
        """Make the planned calls; return whether the work was cancelled."""
        self._rows = rows
        lanes = {
            name: Lane(self._calls(name, j), self.options.concurrency or spec.max_concurrency)
            for j, (name, spec) in enumerate(self.specs.items())
        }
        try:
            await engine.run(lanes, self._work, self._deliver)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None:
                task.uncancel()  # what is done is kept and reported; the caller reads status `cancelled`
            return True
        return False

    def _calls(self, worker_id: str, column: int) -> Iterator[tuple[Call, float]]:
        """Yield a worker's open calls with what is set aside for each, until it is given up or the money is spent."""
        spec, bounded = self.specs[worker_id], self.budget.limit_usd is not None
        for call in calls_of(worker_id, self.tasks, ~self._open[:, column]):
            if worker_id in self.progress.stopped:
                return
            reserved = self.budget.reserve(worker_id, expected_cost(call.task, spec) if bounded else None)
            if reserved is None:
                return
            yield call, reserved

    async def _work(self, planned: tuple[Call, float]) -> tuple[Attempt, float]:
        call, reserved = planned
        return await self.attempt(call), reserved

    async def attempt(self, call: Call) -> Attempt:
        """Ask, classify and grade; a failure is an attempt too."""
        spec = self.specs[call.worker_id]
        common: dict[str, Any] = {
            "task_id": call.task.task_id,
            "worker_id": call.worker_id,
            "repetition": call.repetition,
            "conditions": self._hashes[call.worker_id],
            "started_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "prompt_sha": prompt_sha(call.task),
        }
        try:
            completion = await self._askers[call.worker_id].complete(call.request(spec))
        except CallError as error:
            return Attempt.model_validate({**common, **failed(error)})
        status = status_of(completion)
        facts = {**common, **answer_facts(completion), "status": status}
        if status != "refused":
            facts |= await grade(completion.text, call.task, self._services)
        return Attempt.model_validate(facts)

    def _deliver(self, result: tuple[Attempt, float]) -> None:
        """Write one attempt through, and its row when it was the task's last."""
        attempt, reserved = result
        self._appender.append(attempt)
        self.budget.settle(attempt, reserved)
        row = self.cells.put(attempt)
        if row is not None:
            self._waiting[row] -= 1
            if self._waiting[row] == 0:
                self._rows.append(self.cells.row(self.pool.spec.reward, row))
        self.progress.took(attempt)

    def _matrix(self, rows: Sequence[int]) -> RewardMatrix:
        return self.cells.matrix(self.pool.spec.reward, np.asarray(rows, dtype=np.intp))

    def finish(self, cancelled: bool) -> CollectSummary:
        """Rewrite the matrix file in task order and sum up."""
        rows = self._complete_rows()
        self.save(rows)
        self.progress.report()
        return self._summary(cancelled, len(rows))

    def save(self, rows: Sequence[int]) -> None:
        """Replace the matrix file by these rows."""
        self._matrix(rows).save(self.output)

    def settled_rows(self) -> list[int]:
        """Tasks that have attempts and of which nothing is asked in this run."""
        return [i for i in self._complete_rows() if self._waiting[i] == 0]

    def _complete_rows(self) -> list[int]:
        """Tasks of which every call has returned, or will not be made (worker given up, task past the limit).

        A task past the limit counts as soon as it has an attempt: its row may stand in the file from an earlier run.
        """
        given_up = np.array([name in self.progress.stopped for name in self.specs])
        returned = (self.cells.status != 0).all(axis=2)
        begun = (self.cells.status != 0).any(axis=(1, 2))
        return np.flatnonzero(((returned | given_up).all(axis=1) | self._beyond) & begun).tolist()

    def _summary(self, cancelled: bool, rows: int) -> CollectSummary:
        progress = self.progress
        answered = self.cells.answered()
        left = int((self._open & ~answered).sum())
        mute = (self.cells.status != 0).any(axis=(0, 2)) & ~answered.any(axis=(0, 2))
        unfinished = "cancelled" if cancelled else "budget" if self.budget.exhausted else "incomplete"
        return CollectSummary(
            unfinished if left else "complete",
            self.planned,
            progress.done,
            left,
            rows,
            len(self.tasks),
            self.cells.counts(),
            progress.spent_usd,
            progress.unknown_costs,
            dict(progress.stopped),
            dict(progress.last_errors),
            tuple(name for j, name in enumerate(self.specs) if mute[j]),
            progress.seconds,
        )

"""A benchmark run: every question is embedded, routed, asked and graded live; what is done survives a kill."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fugu_lite import jsonl
from fugu_lite.benchmark import plan as planning
from fugu_lite.benchmark import results, tables
from fugu_lite.benchmark.ledger import Ledger, Routed, check_folder
from fugu_lite.benchmark.plan import BenchmarkOptions
from fugu_lite.benchmark.results import BenchmarkResult
from fugu_lite.benchmark.rows import question_rows
from fugu_lite.checkpoints import Manifest
from fugu_lite.engines import Engine, Lane, LocalEngine
from fugu_lite.errors import CallError, FuguLiteError
from fugu_lite.evaluation import looks
from fugu_lite.graders import GradingServices
from fugu_lite.rewards.answer import answer_facts, failed, grade, status_of
from fugu_lite.rewards.ask import Asker, judge_of
from fugu_lite.rewards.attempts import Attempt
from fugu_lite.rewards.options import check_tasks
from fugu_lite.rewards.plan import Call, expected_cost, prompt_sha
from fugu_lite.rewards.progress import Budget, Progress
from fugu_lite.router import Decision, Router
from fugu_lite.runs import Reporter, Silent
from fugu_lite.specs import digest_of
from fugu_lite.tasks import Task
from fugu_lite.workers import Pool

AHEAD = 4  # questions under way per call in flight, so that a busy worker does not keep the others waiting


async def run_benchmark(
    manifest: Manifest,
    router: Router,
    pool: Pool,
    tasks: Sequence[Task],
    folder: Path,
    options: BenchmarkOptions | None = None,
    reporter: Reporter | None = None,
    engine: Engine | None = None,
    runs: Path | None = None,
) -> BenchmarkResult:
    """Route every question, ask whom the router picks (and the comparator), grade, and sum up.

    Decisions and attempts are appended to `decisions.jsonl` and `attempts.jsonl` as they are made, and are the truth;
    the result is a function of them. A worker that fails is not replaced by another: the question is missing then.
    Cancelling (Ctrl-C) keeps what is done and returns a result with status `cancelled`.

    Args:
        manifest: of the checkpoint, with comparator and the conditions of the rewards.
        router: decides.
        pool: whom to ask; belongs to the caller, and its judge judges.
        tasks: the questions with their graders; a prompt is sent as it is.
        folder: where the facts go, and `benchmark.json` and `benchmark.md` at the end.
        options, reporter, engine: how to ask, whom to tell, where the calls run.
        runs: folder of the runs, in which looks at these questions are counted; None counts none.

    Raises:
        SpecError, DataError: before any call, when the folder exists without `resume`, or a task cannot be graded.
        MismatchError: before any call, when conditions differ from those of the rewards, or from those of the folder.
        MissingExtraError, MissingWeightsError: before any call, when backbone or a worker lacks what it needs.
        LockedError: when another process writes the folder.
    """
    options = options or BenchmarkOptions()
    reporter = reporter or Silent()
    check_folder(folder, options.resume)
    chosen = tasks[: options.limit]
    check_tasks(chosen)
    plan = planning.make(manifest, planning.routing_of(router), pool, options)
    for note in plan.notes:
        reporter.log(note)
    async with planning.asked_pool(pool, plan) as asked:
        with Ledger(folder, chosen, plan) as ledger:
            job = _Run(router, asked, pool, chosen, ledger, options, reporter)
            cancelled = await job.run(engine or LocalEngine())
            result = job.finish(cancelled)
            if runs is not None:
                digest = digest_of(sorted(task.task_id for task in chosen))
                result = result.looked_at(looks.count(digest, "benchmark", manifest.name, runs))
            save(folder, result)
            return result


def save(folder: Path, result: BenchmarkResult) -> None:
    """Write `benchmark.json` and `benchmark.md`."""
    jsonl.write_json(folder / "benchmark.json", result.to_json())
    jsonl.write_bytes(folder / "benchmark.md", tables.markdown(result).encode())


@dataclass
class Tally(Progress):
    """Running totals of a benchmark; progress counts questions, not calls."""

    questions: int = 0
    finished: int = 0
    right: float = 0.0
    no_decision: int = 0

    def report(self) -> None:
        """Tell the reporter now."""
        self._told = time.monotonic()
        self.reporter.progress(
            "benchmark",
            self.finished,
            self.questions,
            correct=self.right,
            failed=self.statuses["error"] + self.statuses["refused"],
            empty=self.statuses["empty"],
            no_decision=self.no_decision,
            spent_usd=self.spent_usd,
            unknown_costs=self.unknown_costs,
            retries=self.retries,
        )


class _Run:
    """One run: what is open, and how a question becomes a decision and attempts."""

    def __init__(
        self,
        router: Router,
        asked: Pool,
        pool: Pool,
        tasks: Sequence[Task],
        ledger: Ledger,
        options: BenchmarkOptions,
        reporter: Reporter,
    ) -> None:
        self.router, self.pool, self.tasks, self.ledger, self.reporter = router, pool, tasks, ledger, reporter
        self.open = [task for task in tasks if ledger.open_calls(task.task_id) != []]
        self.tally = Tally(reporter, total=-1, questions=len(self.open))
        self.budget = Budget(options.max_cost_usd)
        retries = pool.spec.collection.retries
        self._askers = {name: Asker(worker, retries, on_retry=self.tally.retried) for name, worker in asked.items()}
        self._room = {name: asyncio.Semaphore(worker.spec.max_concurrency) for name, worker in asked.items()}
        self._services = self._grading(options, retries)
        # one thread: the backbone uses all cores by itself, and deciding must not hold up the calls in flight
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="fugu-lite-route")

    def _grading(self, options: BenchmarkOptions, retries: int) -> GradingServices:
        """Prepare the judge, if a task needs one, and the leave to run code."""
        allow_code = self.pool.spec.collection.allow_code if options.allow_code is None else options.allow_code
        types = {(task.grader or {}).get("type") for task in self.tasks}
        if "code" in types and not allow_code:
            self.reporter.log("tasks with the code grader stay ungraded: running code is not allowed (--allow-code)")
        if "llm_judge" not in types:
            return GradingServices(allow_code=allow_code)
        judge, model = judge_of(self.pool, retries, self.tally.retried)
        return GradingServices(judge, model, allow_code)

    async def run(self, engine: Engine) -> bool:
        """Go through the open questions; return whether the work was cancelled."""
        if not self.open:
            return False
        await self._start()
        limit = AHEAD * sum(asker.worker.spec.max_concurrency for asker in self._askers.values())
        lanes = {"questions": Lane(self._questions(), min(limit, len(self.open)))}
        try:
            await engine.run(lanes, self._question, self._finished)
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if current is not None:
                current.uncancel()  # what is done is kept and reported; the caller reads status `cancelled`
            return True
        finally:
            self._thread.shutdown(wait=False, cancel_futures=True)
        return False

    async def _start(self) -> None:
        """Load backbone and workers, so that what is missing is said before the first call.

        A worker that cannot be reached is no reason to stop: its calls fail, and the others go on.
        """
        await self._routed("")
        judge = self._services.judge
        for asker in (*self._askers.values(), *((judge,) if isinstance(judge, Asker) else ())):
            try:
                await asker.worker.start()
            except CallError as error:
                self.reporter.log(f"worker {asker.worker.id!r} does not start: {error}")

    def _questions(self) -> Iterator[Task]:
        """Yield the open questions until the money is spent."""
        for task in self.open:
            if self.budget.exhausted:
                return
            yield task

    async def _question(self, task: Task) -> Task:
        """Route one question, and ask whom it needs at the same time."""
        if self.ledger.open_calls(task.task_id) is None:
            await self._decide(task)
        picked = self.ledger.decisions[task.task_id].worker_id
        async with asyncio.TaskGroup() as group:
            for name in self.ledger.wanted(picked):
                if not self.ledger.has_answer(task.task_id, name):
                    group.create_task(self._call(task, name))
        return task

    async def _decide(self, task: Task) -> None:
        """Embed and route; a failure is recorded as no decision, which is never a wrong answer."""
        common: dict[str, Any] = {"task_id": task.task_id, "prompt_sha": prompt_sha(task)}
        try:
            decision, route_s = await self._routed(task.routing_text)
            routed = {**decision.to_json(), "route_s": route_s}
        except Exception as error:  # whatever a backbone raises, the other questions go on
            told = f": {error}" if isinstance(error, FuguLiteError) else ""
            routed = {"error": f"{type(error).__name__}{told}"}
            self.tally.no_decision += 1
            self.reporter.log(f"no decision for {task.task_id!r}: {routed['error']}")
        self.ledger.decided(Routed.model_validate({**routed, **common}))

    async def _routed(self, text: str) -> tuple[Decision, float]:
        """Return the decision and the seconds it took, without the wait for its turn."""

        def timed() -> tuple[Decision, float]:
            begun = time.perf_counter()
            decision = self.router.decide(text, None)
            return decision, time.perf_counter() - begun

        return await asyncio.get_running_loop().run_in_executor(self._thread, timed)

    async def _call(self, task: Task, worker_id: str) -> None:
        """Make one call, unless its worker was given up or the money is spent."""
        asker = self._askers[worker_id]
        async with self._room[worker_id]:
            if worker_id in self.tally.stopped:
                return
            reserved = self.budget.reserve(worker_id, expected_cost(task, asker.worker.spec))
            if reserved is None:
                return
            attempt = await self._attempt(task, asker)
        self.ledger.answered(attempt)
        self.budget.settle(attempt, reserved)
        if worker_id == self.ledger.decisions[task.task_id].worker_id:
            self.tally.right += attempt.quality or 0.0
        self.tally.took(attempt)

    async def _attempt(self, task: Task, asker: Asker) -> Attempt:
        """Ask, classify and grade; a failure is an attempt too."""
        name, spec = asker.worker.id, asker.worker.spec
        facts: dict[str, Any] = {
            "task_id": task.task_id,
            "worker_id": name,
            "repetition": 0,
            "conditions": self.ledger.plan.settings[name].conditions,
            "started_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "prompt_sha": prompt_sha(task),
        }
        try:
            completion = await asker.complete(Call(task, name, 0).request(spec))
        except CallError as error:
            return Attempt.model_validate({**facts, **failed(error)})
        status = status_of(completion)
        facts |= {**answer_facts(completion), "status": status}
        if status != "refused":
            facts |= await grade(completion.text, task, self._services)
        return Attempt.model_validate(facts)

    def _finished(self, _task: Task) -> None:
        self.tally.finished += 1
        if self.tally.finished == len(self.open):
            self.tally.report()

    def finish(self, cancelled: bool) -> BenchmarkResult:
        """Sum up what the ledger holds, earlier runs included."""
        rows = question_rows(self.tasks, self.ledger)
        left = sum(self.ledger.open_calls(task.task_id) != [] for task in self.tasks)
        unfinished = "cancelled" if cancelled else "budget" if self.budget.exhausted else "incomplete"
        notes = [*self.ledger.plan.notes, *self._endings()]
        return results.assess(rows, self.ledger.plan, unfinished if left else "complete", left, notes)

    def _endings(self) -> list[str]:
        """Say what went wrong on the way."""
        stopped = self.tally.stopped
        notes = [f"worker {name!r} was given up: {why}" for name, why in stopped.items()]
        failed = {name: why for name, why in self.tally.last_errors.items() if name not in stopped}
        notes += [f"worker {name!r}, last failed call: {why}" for name, why in failed.items()]
        if self.ledger.outside:
            notes.append(f"{self.ledger.outside} stored decisions are of questions outside this selection: not counted")
        return notes + results.served_otherwise(self.ledger)

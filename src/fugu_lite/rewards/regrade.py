"""Grading again what was answered: no worker is called, and a judge only when asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fugu_lite import graders
from fugu_lite.errors import DataError
from fugu_lite.graders import GradingServices
from fugu_lite.rewards import attempts as log
from fugu_lite.rewards.answer import grade
from fugu_lite.rewards.attempts import Attempt, AttemptLog
from fugu_lite.runs import Reporter, Silent
from fugu_lite.tasks import Task

GRADE_FIELDS = ("quality", "extracted", "grader", "judge", "grade_reason", "grader_error")


@dataclass
class RegradeSummary:
    """What grading again did.

    Attributes:
        read: attempts in force (the last line of every key).
        regraded: of them, graded again.
        changed: of them, with another quality than before.
        ungraded: of them, still without a grade.
        ungradable: graded attempts that could not be graded now (code not allowed, no sandbox, judge out of reach);
            their grade stays in force.
        last_error: why the last of those could not be graded.
        no_task: attempts whose task is not in the tasks file; left as they are.
        judge_calls: attempts that need a judge. Left as they are unless `rejudge`; this many calls would be made.
        judge_cost_usd: what judges cost in this run, as far as known.
    """

    read: int = 0
    regraded: int = 0
    changed: int = 0
    ungraded: int = 0
    ungradable: int = 0
    last_error: str | None = None
    no_task: int = 0
    judge_calls: int = 0
    judge_cost_usd: float = 0.0


async def regrade(
    path: Path,
    tasks: Sequence[Task],
    services: GradingServices | None = None,
    rejudge: bool = False,
    reporter: Reporter | None = None,
) -> RegradeSummary:
    """Append a regraded line for every attempt whose grade or grader differs; the old lines stay as history.

    Args:
        path: the attempts file.
        tasks: with the graders and reference answers to use now.
        services: leave to run code, and the judge for `rejudge`.
        rejudge: also ask the judge again, one call per judged attempt.

    Raises:
        DataError: for a malformed line, naming it.
        LockedError: while another process writes the file.
    """
    _check_exists(path)
    services, reporter = services or GradingServices(), reporter or Silent()
    by_id = {task.task_id: task for task in tasks}
    summary = RegradeSummary()
    with AttemptLog(path) as appender:
        in_force = {attempt.key: position for position, attempt in enumerate(log.read(path))}
        summary.read = len(in_force)
        before = max(in_force.values(), default=-1)
        for position, attempt in enumerate(log.read(path)):
            if position > before:
                break  # what this run appended
            if in_force[attempt.key] == position:
                fresh = await _again(attempt, by_id.get(attempt.task_id), services, rejudge, summary)
                if fresh is not None:
                    appender.append(fresh)
    reporter.log(f"{summary.regraded} attempts graded again, {summary.changed} changed")
    if summary.ungradable:
        reporter.log(f"{summary.ungradable} could not be graded now and keep their grade: {summary.last_error}")
    return summary


def _check_exists(path: Path) -> None:
    if not path.is_file():
        raise DataError(str(path), "no such file", "give the attempts file that generate wrote")


async def _again(
    attempt: Attempt, task: Task | None, services: GradingServices, rejudge: bool, summary: RegradeSummary
) -> Attempt | None:
    """Return the attempt with its new grade; None when nothing about it changes."""
    if attempt.response is None or not attempt.answered or attempt.status == "refused":
        return None
    if task is None:
        summary.no_task += 1
        return None
    judged = not graders.build(task.grader, f"task {task.task_id!r}").deterministic
    summary.judge_calls += judged
    if judged and not rejudge:
        return None
    row = attempt.model_dump(mode="json")
    kept = {name: value for name, value in row.items() if name not in GRADE_FIELDS}
    fresh = Attempt.model_validate({**kept, **await grade(attempt.response, task, services)})
    if fresh.quality is None and attempt.quality is not None:
        summary.ungradable += 1
        summary.last_error = (fresh.model_extra or {}).get("grader_error")
        return None  # nothing was found out about the answer, so what was known of it stays
    summary.regraded += 1
    summary.changed += fresh.quality != attempt.quality
    summary.ungraded += fresh.quality is None
    summary.judge_cost_usd += (fresh.judge or {}).get("cost_usd") or 0.0
    return None if _grade_of(fresh) == _grade_of(attempt) else fresh


def _grade_of(attempt: Attempt) -> list[object]:
    row = attempt.model_dump(mode="json")
    return [row.get(name) for name in GRADE_FIELDS]

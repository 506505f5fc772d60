"""One row per question: what was decided, what was answered, and whether it was right."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from fugu_lite.benchmark.ledger import Ledger
from fugu_lite.rewards.attempts import Attempt
from fugu_lite.tasks import Task

MISSING = ("no_decision", "not_asked", "error", "refused", "ungraded")  # statuses without a quality


@dataclass(frozen=True)
class QuestionRow:
    """One question of the table.

    Attributes:
        worker: who was picked; None without a decision.
        probabilities: worker -> routing probability.
        reason: why, as the router says.
        status: `ok`, `truncated` or `empty` (graded); `refused`, `error`, `ungraded`, `no_decision`, `not_asked`
            (missing: no quality).
        answer: what the grader read out of the answer, or the answer.
        quality: in [0, 1]; None = missing, which is never wrong.
        correct: whether quality is 1; None = missing.
        truncated_input: whether the router read the question without its middle.
        error: why it is missing, as far as known.
        comparator_answer, comparator_quality: of the comparator's own call, or of the same call when it was picked.
    """

    task_id: str
    question: str
    difficulty: str | None
    domain: str | None
    language: str | None
    group: str
    worker: str | None
    probabilities: dict[str, float]
    reason: str | None
    status: str
    answer: str | None
    quality: float | None
    correct: bool | None
    cost_usd: float | None
    latency_s: float | None
    route_s: float | None
    truncated_input: bool
    error: str | None
    comparator_status: str | None = None
    comparator_answer: str | None = None
    comparator_quality: float | None = None
    comparator_cost_usd: float | None = None
    comparator_latency_s: float | None = None


def question_rows(tasks: Iterable[Task], ledger: Ledger) -> list[QuestionRow]:
    """Return one row per question, in order."""
    return [_row(task, ledger) for task in tasks]


def _row(task: Task, ledger: Ledger) -> QuestionRow:
    routed = ledger.decisions.get(task.task_id)
    worker = routed.worker_id if routed else None
    attempt = ledger.attempts.get((task.task_id, worker)) if worker is not None else None
    comparator = ledger.plan.comparator
    other = ledger.attempts.get((task.task_id, comparator)) if comparator is not None else None
    quality = attempt.quality if attempt else None
    return QuestionRow(
        task_id=task.task_id,
        question=task.text,
        difficulty=task.difficulty,
        domain=task.domain,
        language=task.language,
        group=task.group,
        worker=worker,
        probabilities=routed.probabilities if routed else {},
        reason=routed.reason if routed else None,
        status="no_decision" if routed and worker is None else status_of(attempt),
        answer=_answer(attempt),
        quality=quality,
        correct=None if quality is None else quality == 1,
        cost_usd=attempt.cost_usd if attempt else None,
        latency_s=attempt.latency_s if attempt else None,
        route_s=routed.route_s if routed else None,
        truncated_input=bool(routed and routed.truncated),
        error=_error(attempt) or (routed.error if routed else None),
        **({} if comparator is None else _compared(other)),
    )


def _compared(other: Attempt | None) -> dict[str, Any]:
    return {
        "comparator_status": status_of(other),
        "comparator_answer": _answer(other),
        "comparator_quality": other.quality if other else None,
        "comparator_cost_usd": other.cost_usd if other else None,
        "comparator_latency_s": other.latency_s if other else None,
    }


def status_of(attempt: Attempt | None) -> str:
    """Return how a call ended: an empty body that the provider is to blame for is an `error`, not `empty`."""
    if attempt is None:
        return "not_asked"
    if not attempt.answered:
        return "error"
    return "ungraded" if attempt.quality is None and attempt.status != "refused" else attempt.status


def _answer(attempt: Attempt | None) -> str | None:
    if attempt is None:
        return None
    return attempt.extracted if attempt.extracted is not None else attempt.response


def _error(attempt: Attempt | None) -> str | None:
    if attempt is None:
        return None
    if attempt.error is not None:
        return f"{attempt.error.get('kind')}: {attempt.error.get('message')}"
    told = (attempt.model_extra or {}).get("grader_error")
    return None if told is None else str(told)

"""What came of a benchmark: a pure function of decisions, attempts and tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from fugu_lite.benchmark.ledger import Ledger
from fugu_lite.benchmark.plan import Plan
from fugu_lite.benchmark.rows import MISSING, QuestionRow
from fugu_lite.benchmark.scores import Comparison, Routing, Score, compare, routing_of, score, slices

COLLAPSED = 0.9  # one worker answering more than this share of enough questions is worth a warning
ENOUGH = 20


@dataclass(frozen=True)
class BenchmarkResult:
    """A whole benchmark.

    Attributes:
        head: stable name of the checkpoint.
        status: `complete`, `incomplete` (failed calls or decisions), `budget` or `cancelled`.
        left: questions that `resume` would ask again or for the first time.
        overall: the score.
        score_if_missing_wrong: the score if every missing question had been answered wrong: a lower bound.
        statuses: status -> questions.
        error_kinds: kind of a failed call -> questions of the router's that it left missing.
        cost_usd: known costs of the router's answers; a lower bound when `unknown_costs` > 0; None when none is known.
        workers: one row per worker of the head.
        reasons: reason of the decision -> questions.
        languages: nothing when all questions are in one.
        settings: how each worker was asked, as recorded in `plan.json`.
        looks: how often this set of questions was looked at with this runs folder; None when not counted.
    """

    head: str
    status: str
    left: int
    overall: Score
    score_if_missing_wrong: float | None
    statuses: dict[str, int]
    error_kinds: dict[str, int]
    cost_usd: float | None
    unknown_costs: int
    latency_p50_s: float | None
    latency_p95_s: float | None
    route_p50_s: float | None
    comparison: Comparison | None
    workers: tuple[Routing, ...]
    reasons: dict[str, int]
    difficulties: tuple[Score, ...]
    domains: tuple[Score, ...]
    languages: tuple[Score, ...]
    questions: tuple[QuestionRow, ...]
    settings: dict[str, Any]
    notes: tuple[str, ...]
    looks: int | None = None

    def looked_at(self, looks: int) -> BenchmarkResult:
        """Return the result with the number of looks."""
        return replace(self, looks=looks)

    def to_json(self) -> dict[str, Any]:
        """Return the metrics file: flat keys first, then the tables; null = not known."""
        rest = asdict(self)
        overall, statuses = rest.pop("overall"), rest.pop("statuses")
        renamed = {"low": "score_low", "high": "score_high", "questions": "n_questions"}
        overall = {renamed.get(name, name): value for name, value in overall.items()}
        overall.pop("name")
        found = rest.pop("comparison")
        counts = {name: statuses.get(name, 0) for name in (*MISSING, "empty", "truncated")}
        return {"head": rest.pop("head"), **overall, **counts, "comparison": found, **rest}


def assess(rows: Sequence[QuestionRow], plan: Plan, status: str, left: int, notes: Iterable[str]) -> BenchmarkResult:
    """Sum up.

    Args:
        rows: every question, asked or not.
        plan: how they were asked.
        status, left: how the run ended, and how many questions are unfinished.
        notes: what a reader must know.
    """
    overall = score("overall", rows)
    workers = routing_of(rows, plan.manifest.worker_ids)
    known = [row.cost_usd for row in rows if row.cost_usd is not None]
    answered = [row for row in rows if row.status not in ("no_decision", "not_asked", "error")]
    failed = Counter(str(row.error).partition(":")[0] for row in rows if row.status == "error")
    return BenchmarkResult(
        head=plan.manifest.name,
        status=status,
        left=left,
        overall=overall,
        score_if_missing_wrong=overall.correct / len(rows) if rows else None,
        statuses=dict(Counter(row.status for row in rows)),
        error_kinds=dict(failed),
        cost_usd=sum(known) if known else None,
        unknown_costs=len(answered) - len(known),
        latency_p50_s=_quantile([row.latency_s for row in rows], 0.5),
        latency_p95_s=_quantile([row.latency_s for row in rows], 0.95),
        route_p50_s=_quantile([row.route_s for row in rows], 0.5),
        comparison=None if plan.comparator is None else compare(rows, plan.comparator),
        workers=workers,
        reasons=dict(Counter(row.reason for row in rows if row.reason is not None)),
        difficulties=slices(rows, "difficulty"),
        domains=slices(rows, "domain"),
        languages=slices(rows, "language") if len({row.language for row in rows}) > 1 else (),
        questions=tuple(rows),
        settings={name: setting.to_json() for name, setting in plan.settings.items()},
        notes=(*notes, *_collapse(workers)),
    )


def _quantile(values: Iterable[float | None], level: float) -> float | None:
    kept = [value for value in values if value is not None]
    return float(np.quantile(kept, level)) if kept else None


def _collapse(workers: Sequence[Routing]) -> list[str]:
    """Warn of a router that sends nearly everything to one worker: it is that worker, at the price of a router."""
    decided = sum(row.questions for row in workers)
    most = max(workers, key=lambda row: row.questions)
    if len(workers) < 2 or decided < ENOUGH or most.questions <= COLLAPSED * decided:
        return []
    return [f"{most.questions} of {decided} questions went to {most.worker!r}: the router hardly routes here"]


def served_otherwise(ledger: Ledger) -> list[str]:
    """Name workers that another model answered for than when their rewards were measured."""
    measured = {entry.id: entry.served_model for entry in ledger.plan.manifest.workers if entry.served_model}
    found: dict[str, set[str]] = {}
    for (_, worker), attempt in ledger.attempts.items():
        if worker in measured and attempt.served_model and attempt.served_model != measured[worker]:
            found.setdefault(worker, set()).add(attempt.served_model)
    return [
        f"worker {name!r} was served by {', '.join(sorted(models))}; its rewards were measured with {measured[name]}"
        for name, models in found.items()
    ]

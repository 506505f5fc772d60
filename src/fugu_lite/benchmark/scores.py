"""Scores, shares and the paired comparison: pure functions of question rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fugu_lite.benchmark.rows import QuestionRow
from fugu_lite.intervals import Interval, Verdict, mcnemar_exact, paired_bootstrap, wilson

SEED = 0  # of the bootstrap: the same facts give the same interval
ORDER = {"easy": "0", "medium": "1", "hard": "2"}


@dataclass(frozen=True)
class Score:
    """The mean quality of some questions, over those that have one.

    Attributes:
        name: which questions.
        score, low, high: mean with its 95 % interval; None without a graded question.
        correct: sum of qualities.
        graded: questions with a quality; what the mean is over.
        questions: all of them.
        missing: questions without a quality.
        interval: `wilson` when every quality is 0 or 1, else `bootstrap` (over task groups).
    """

    name: str
    score: float | None
    low: float | None
    high: float | None
    correct: float
    graded: int
    questions: int
    missing: int
    interval: str


@dataclass(frozen=True)
class Routing:
    """One worker's part.

    Attributes:
        questions: routed to it.
        share: of the questions with a decision; None without one.
        score, graded: mean quality where it was picked, and over how many; the questions differ between workers.
        empty, errors: how many of its answers were empty, and how many of its calls failed.
    """

    worker: str
    questions: int
    share: float | None
    score: float | None
    graded: int
    empty: int
    errors: int


@dataclass(frozen=True)
class Comparison:
    """Router against comparator, on the questions that both have a quality for.

    Attributes:
        pairs, left_out: questions compared, and left out because one of the two is missing.
        same: pairs where the router picked the comparator: one call, no difference.
        gain, gain_low, gain_high: mean difference with its paired 95 % bootstrap interval over task groups.
        router_only, comparator_only, mcnemar_p: right alone, and the exact test; None unless every quality is 0 or 1.
        router_cost_usd, comparator_cost_usd: of the compared answers; None when one of the costs is unknown.
    """

    comparator: str
    pairs: int
    left_out: int
    same: int
    router_score: float | None
    comparator_score: float | None
    gain: float | None
    gain_low: float | None
    gain_high: float | None
    verdict: Verdict
    router_only: int | None
    comparator_only: int | None
    mcnemar_p: float | None
    router_cost_usd: float | None
    comparator_cost_usd: float | None


def score(name: str, rows: Sequence[QuestionRow]) -> Score:
    """Return the score of some questions."""
    kept = [row for row in rows if row.quality is not None]
    qualities = np.array([row.quality for row in kept], dtype=np.float64)
    binary = bool(np.isin(qualities, (0.0, 1.0)).all())
    if binary:
        found = wilson(int(qualities.sum()), len(kept))
    else:
        found = paired_bootstrap(qualities, [row.group for row in kept], np.random.default_rng(SEED))
    mean, low, high = _numbers(found) if kept else (None, None, None)
    method = "wilson" if binary else "bootstrap"
    total = float(qualities.sum())
    return Score(name, mean, low, high, total, len(kept), len(rows), len(rows) - len(kept), method)


def slices(rows: Sequence[QuestionRow], label: str) -> tuple[Score, ...]:
    """Return one score per label; nothing when no question is labelled.

    Args:
        rows: the questions.
        label: `difficulty`, `domain` or `language`.
    """
    labels = [getattr(row, label) for row in rows]
    if not any(labels):
        return ()
    names = sorted({each or "(none)" for each in labels}, key=lambda each: ORDER.get(each, each))
    parts = {
        name: [row for row, each in zip(rows, labels, strict=True) if (each or "(none)") == name] for name in names
    }
    return tuple(score(name, part) for name, part in parts.items())


def routing_of(rows: Sequence[QuestionRow], worker_ids: Sequence[str]) -> tuple[Routing, ...]:
    """Return one row per worker of the head, in its order."""
    decided = sum(row.worker is not None for row in rows)
    return tuple(_routing(name, [row for row in rows if row.worker == name], decided) for name in worker_ids)


def _routing(name: str, rows: Sequence[QuestionRow], decided: int) -> Routing:
    found = score(name, rows)
    empty, errors = (sum(row.status == status for row in rows) for status in ("empty", "error"))
    return Routing(name, len(rows), len(rows) / decided if decided else None, found.score, found.graded, empty, errors)


def compare(rows: Sequence[QuestionRow], comparator: str) -> Comparison:
    """Compare the router's answers with the comparator's, question by question."""
    kept = [row for row in rows if row.quality is not None and row.comparator_quality is not None]
    router = np.array([row.quality for row in kept], dtype=np.float64)
    other = np.array([row.comparator_quality for row in kept], dtype=np.float64)
    found = paired_bootstrap(router - other, [row.group for row in kept], np.random.default_rng(SEED))
    binary = bool(kept) and bool(np.isin([router, other], (0.0, 1.0)).all())
    alone = (int((router > other).sum()), int((other > router).sum())) if binary else None
    gain, low, high = _numbers(found)
    return Comparison(
        comparator,
        len(kept),
        len(rows) - len(kept),
        sum(row.worker == comparator for row in kept),
        float(router.mean()) if kept else None,
        float(other.mean()) if kept else None,
        gain,
        low,
        high,
        found.verdict,
        alone[0] if alone else None,
        alone[1] if alone else None,
        mcnemar_exact(*alone) if alone else None,
        _sum([row.cost_usd for row in kept]),
        _sum([row.comparator_cost_usd for row in kept]),
    )


def _numbers(found: Interval) -> tuple[float | None, float | None, float | None]:
    """Return mean and bounds; unknown is None, not NaN."""
    mean, low, high = (None if np.isnan(value) else value for value in (found.mean, found.low, found.high))
    return mean, low, high


def _sum(values: Sequence[float | None]) -> float | None:
    """Return the sum; None when a part of it is unknown, or there is nothing to add."""
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None

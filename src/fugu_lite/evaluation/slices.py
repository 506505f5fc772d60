"""The rows of the report's tables: one per worker, per slice of the tasks, per baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fugu_lite.evaluation.judged import Judged, paired
from fugu_lite.evaluation.policy import Array, Policy, outcomes
from fugu_lite.rewards.matrix import RewardMatrix

ENOUGH_ROWS = 20  # a slice smaller than this gets no interval


@dataclass(frozen=True)
class WorkerRow:
    """One worker: measured numbers over all given rows, shares over the judged rows. None = not known.

    Attributes:
        n, missing: rows with and without a reward.
        quality, reward: means over the n rows.
        routed, oracle: share of rows sent to it; share where it is among the best, ties included.
        unique_wins: judged rows where it alone is best.
        cost_usd: mean per task, over the tasks whose cost is known.
    """

    worker: str
    n: int
    missing: int
    quality: float | None
    reward: float | None
    routed: float
    oracle: float
    unique_wins: int
    cost_usd: float | None
    latency_p50_s: float | None
    latency_p95_s: float | None


@dataclass(frozen=True)
class SliceRow:
    """One domain, difficulty or language. The interval is None under `ENOUGH_ROWS` rows."""

    name: str
    n: int
    router: float
    comparator: float
    oracle: float
    gain: float
    gain_low: float | None
    gain_high: float | None


@dataclass(frozen=True)
class BaselineRow:
    """One baseline on the judged rows where its own pick was measured; `gain` is over the comparator."""

    name: str
    n: int
    utility: float | None
    gain: float | None
    gain_low: float | None
    gain_high: float | None


def known(value: float) -> float | None:
    """Return None for NaN: unknown is not a number."""
    return None if np.isnan(value) else float(value)


def _mean(values: Array) -> float | None:
    kept = values[~np.isnan(values)]
    return float(kept.mean()) if len(kept) else None


def quantile(values: Array, level: float) -> float | None:
    """Return a quantile of what is known; None when nothing is."""
    kept = values[~np.isnan(values)]
    return float(np.quantile(kept, level)) if len(kept) else None


def worker_rows(judged: Judged, matrix: RewardMatrix) -> tuple[WorkerRow, ...]:
    """Return one row per worker, by name.

    Args:
        judged: for the shares.
        matrix: all given rows.
    """
    alone = judged.best & (judged.best.sum(axis=1, keepdims=True) == 1)
    rows = []
    for name in sorted(matrix.worker_ids):
        column = matrix.worker_ids.index(name)
        rewards, latencies = matrix.rewards[:, column], matrix.latencies[:, column]
        row = WorkerRow(
            worker=name,
            n=int((~np.isnan(rewards)).sum()),
            missing=int(np.isnan(rewards).sum()),
            quality=_mean(matrix.qualities[:, column]),
            reward=_mean(rewards),
            routed=float(judged.weights[:, column].mean()),
            oracle=float(judged.best[:, column].mean()),
            unique_wins=int(alone[:, column].sum()),
            cost_usd=_mean(matrix.costs[:, column]),
            latency_p50_s=quantile(latencies, 0.5),
            latency_p95_s=quantile(latencies, 0.95),
        )
        rows.append(row)
    return tuple(rows)


def slice_rows(
    judged: Judged, labels: Sequence[str | None], rng: np.random.Generator, draws: int
) -> tuple[SliceRow, ...]:
    """Return one row per label, by name; nothing when no row is labelled.

    Args:
        judged: the compared rows.
        labels: (tasks,), None or empty = not labelled (shown as `(none)` beside labelled ones).
        rng, draws: for the intervals.
    """
    if not any(labels):
        return ()
    names = np.array([label or "(none)" for label in labels])
    return tuple(_slice(judged, str(name), names == name, rng, draws) for name in np.unique(names))


def _slice(judged: Judged, name: str, mask: NDArray[np.bool_], rng: np.random.Generator, draws: int) -> SliceRow:
    n = int(mask.sum())
    router, comparator = judged.router[mask], judged.comparator[mask]
    groups = [group for group, inside in zip(judged.matrix.groups, mask, strict=True) if inside]
    interval = paired(router, comparator, groups, rng, draws) if n >= ENOUGH_ROWS else None
    return SliceRow(
        name,
        n,
        float(router.mean()),
        float(comparator.mean()),
        float(judged.oracle[mask].mean()),
        float((router - comparator).mean()),
        known(interval.low) if interval else None,
        known(interval.high) if interval else None,
    )


def baseline_outcomes(policy: Policy, judged: Judged) -> Array:
    """Return (judged tasks,) what a baseline gets, NaN where its pick was not measured; it decides all given rows."""
    policy = policy.aligned(judged.matrix.worker_ids).rows(judged.index)
    return outcomes(policy.weights(~np.isnan(judged.matrix.rewards)), judged.matrix.rewards)


def baseline_row(policy: Policy, judged: Judged, rng: np.random.Generator, draws: int) -> BaselineRow:
    """Compare one baseline with the comparator."""
    got = baseline_outcomes(policy, judged)
    interval = paired(got, judged.comparator, judged.matrix.groups, rng, draws)
    return BaselineRow(
        policy.name, interval.n, _mean(got), known(interval.mean), known(interval.low), known(interval.high)
    )

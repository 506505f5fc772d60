"""What choosing a worker per task can gain over the best fixed worker, as far as repeated answers show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from fugu_lite.rewards.fixed import fixed_utilities

Array = NDArray[np.float64]

EQUAL = 1e-6  # differences below this are ties, which go to the worker that is better overall
CHUNK = 2_000_000  # resampling counts drawn at a time: 16 MB


@dataclass(frozen=True)
class Gain:
    """A gain over the best fixed worker of the same rows, with its interval. Never floored at 0.

    Attributes:
        name: whose gain.
        mean: the estimate; NaN when no row could be compared.
        low, high: bounds; NaN with fewer than two groups.
        error: standard error (bootstrap).
        n, groups: rows compared, independent units among them.
        level: coverage of the interval.
    """

    name: str
    mean: float
    low: float
    high: float
    error: float
    n: int
    groups: int
    level: float


def mean_over_repetitions(utilities: Array) -> Array:
    """Return (tasks, workers) means of what is known over (tasks, workers, repetitions); NaN where nothing is."""
    known = ~np.isnan(utilities)
    counts = known.sum(axis=2)
    totals = np.where(known, utilities, 0.0).sum(axis=2)
    return np.asarray(np.where(counts > 0, totals / np.maximum(counts, 1), np.nan))


def naive_oracle(utilities: Array) -> Array:
    """Return (tasks,) the best mean of every row: too good in expectation, since luck is chosen with it.

    Args:
        utilities: (tasks, workers, repetitions); NaN = missing.
    """
    means = mean_over_repetitions(utilities)
    filled = np.where(np.isnan(means), -np.inf, means).max(axis=1)
    return np.asarray(np.where(np.isfinite(filled), filled, np.nan))


def crossfitted_oracle(utilities: Array) -> Array:
    """Return (tasks,) what each task's winner on the other repetitions gets on the one left out, averaged.

    In expectation it is at most the best true mean of the row: the choice never saw what it is scored on. Ties go to
    the worker with the better overall mean on those other repetitions.

    Args:
        utilities: (tasks, workers, repetitions); NaN = missing. A worker takes part in a fold where it has both the
            repetition left out and another one.

    Returns:
        NaN for a row without any such worker.
    """
    known = ~np.isnan(utilities)
    cells = np.where(known, utilities, 0.0)
    rows = np.arange(len(utilities))
    scored = np.full((utilities.shape[2], len(utilities)), np.nan)
    for left_out in range(utilities.shape[2]):
        counts = known.sum(axis=2) - known[:, :, left_out]
        totals = cells.sum(axis=2) - cells[:, :, left_out]
        others = np.where(counts > 0, totals / np.maximum(counts, 1), np.nan)
        taking_part = known[:, :, left_out] & (counts > 0)
        scores = np.where(taking_part, others + EQUAL * _overall(others), -np.inf)
        got = utilities[rows, scores.argmax(axis=1), left_out]
        scored[left_out] = np.where(taking_part.any(axis=1), got, np.nan)
    return mean_over_repetitions(scored.T[:, None, :])[:, 0]


def _overall(rewards: Array) -> Array:
    """Return (workers,) fixed utilities; a worker that was measured too rarely ranks last."""
    values = fixed_utilities(rewards)
    known = values[~np.isnan(values)]
    return np.nan_to_num(values, nan=float(known.min()) if len(known) else 0.0)


def losses_without(utilities: Array) -> Array:
    """Return (workers,) how much the mean oracle falls when one worker is taken away; about 0 = not missed.

    With two repetitions or more the oracle is cross-fitted; a loss below 0 says that the worker was picked for luck.
    """
    oracle = crossfitted_oracle if utilities.shape[2] > 1 else naive_oracle
    whole = oracle(utilities)
    losses = np.full(utilities.shape[1], np.nan)
    for worker in range(utilities.shape[1]) if utilities.shape[1] > 1 else ():
        lost = whole - oracle(np.delete(utilities, worker, axis=1))
        losses[worker] = np.nanmean(lost) if not np.isnan(lost).all() else np.nan
    return losses


def gain_over_best_fixed(
    name: str,
    outcomes: Array,
    rewards: Array,
    groups: Sequence[str],
    rng: np.random.Generator,
    draws: int = 2000,
    level: float = 0.95,
) -> Gain:
    """Return the mean difference to the best fixed worker, with bounds that hold whichever worker is the best one.

    The gain over the best fixed worker is the smallest of the gains d_j over each worker j, and every draw compares
    with all of them. It lies above the smallest of their lower bounds, each at the full level (intersection-union), and
    below the smallest of upper bounds that hold jointly (max-t). Taking the luckiest worker of every draw instead would
    count its luck twice: the upper bound then fails two to four times too often when workers are close.
    Few rows that differ are no certainty: t quantiles have one degree of freedom less than the groups that differ, and
    what was never seen in n groups may happen in up to -ln(.025) / n of them.

    Args:
        outcomes: (tasks,) what the policy got; NaN = not measured, left out.
        rewards: (tasks, workers); NaN = missing. A difference is taken over the rows where both are known.
        groups: (tasks,) unit of the bootstrap of each row; whole groups are resampled.
        rng: source of the draws.
        draws: resamples.
        level: coverage, in (0, 1).

    Source: Berger (1982), Technometrics 24, for the lower bound; Westfall and Young (1993) for the upper one.
    """
    sums = _Sums.of(outcomes, rewards, groups)
    mean = sums.means(np.ones((1, len(sums.totals))))[0]
    if np.isnan(mean).all():
        return Gain(name, np.nan, np.nan, np.nan, np.nan, 0, 0, level)
    best = int(np.nanargmin(mean))
    n, used = int(sums.counts[:, best].sum()), int((sums.counts[:, best] > 0).sum())
    if used < 2:
        return Gain(name, float(mean[best]), np.nan, np.nan, np.nan, n, used, level)
    tail = (1 - level) / 2
    drawn = _resampled(sums, rng, draws)
    errors = np.nanstd(drawn, axis=0)
    quantiles = stdtrit(np.maximum((np.abs(sums.totals) > EQUAL).sum(axis=0) - 1, 1), 1 - tail)
    lows = np.minimum(np.nanquantile(drawn, tail, axis=0), mean - quantiles * errors)
    shortfalls = (mean - drawn) / np.where(errors > 0, errors, np.inf)
    joint = float(np.quantile(np.nanmax(shortfalls, axis=1), 1 - tail))
    highs = mean + np.maximum(joint * quantiles / ndtri(1 - tail), quantiles) * errors
    unseen = -np.log(tail) / used * _span(rewards)
    high = max(float(np.nanmin(highs)), float(mean[best]) + unseen)
    return Gain(name, float(mean[best]), float(np.nanmin(lows)), high, float(errors[best]), n, used, level)


def _span(rewards: Array) -> float:
    """Return how far apart rewards lie, 1 when they are all alike: what one row can gain."""
    return float(np.nanmax(rewards) - np.nanmin(rewards)) or 1.0


def _resampled(sums: _Sums, rng: np.random.Generator, draws: int) -> Array:
    """Return (draws, workers) the mean differences of every draw."""
    size = len(sums.totals)
    step = max(1, CHUNK // size)
    parts = []
    for start in range(0, draws, step):
        counts = rng.multinomial(size, np.full(size, 1 / size), size=min(step, draws - start))
        parts.append(sums.means(counts.astype(np.float64)))
    return np.concatenate(parts)


@dataclass(frozen=True)
class _Sums:
    """Differences of a policy to every worker, added up by group, so that a draw is one product of matrices.

    Attributes:
        totals: (groups, workers).
        counts: (groups, workers) rows in them.
    """

    totals: Array
    counts: Array

    @classmethod
    def of(cls, outcomes: Array, rewards: Array, groups: Sequence[str]) -> _Sums:
        """Add up the rows of each group. A worker measured in less than half as many rows as another is no rival."""
        known = ~np.isnan(rewards) & ~np.isnan(outcomes)[:, None]
        rivals = 2 * known.sum(axis=0) >= known.sum(axis=0).max(initial=0)
        known &= rivals
        differences = np.where(known, outcomes[:, None] - rewards, 0.0)
        names, index = np.unique(np.asarray(groups, dtype=np.str_), return_inverse=True)
        totals, counts = (np.zeros((len(names), rewards.shape[1])) for _ in range(2))
        np.add.at(totals, index, differences)
        np.add.at(counts, index, known.astype(np.float64))
        seen = counts.sum(axis=1) > 0
        return cls(totals[seen], counts[seen])

    def means(self, weights: Array) -> Array:
        """Return (draws, workers) mean differences; NaN for a worker without a row.

        Args:
            weights: (draws, groups) how often each group was drawn.
        """
        n = weights @ self.counts
        return np.asarray(np.where(n > 0, weights @ self.totals / np.maximum(n, 1), np.nan))

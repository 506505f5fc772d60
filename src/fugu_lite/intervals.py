"""Intervals and exact tests: pure functions of arrays and counts."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, betaincinv

from fugu_lite.errors import InputError

Array = NDArray[np.float64]
Verdict = Literal["better", "worse", "cannot tell"]

ROUNDING = 1e-12  # a bound this near to 0 is 0: sums of thirds do not cancel exactly
ENOUGH_CLUSTERS = 20  # below this a bootstrap of a few equal differences looks certain; it is not
CHUNK = 1_000_000  # numbers drawn at a time: 8 MB
FEW_KINDS = 64


@dataclass(frozen=True)
class Interval:
    """A mean with a confidence interval.

    Attributes:
        mean: the estimate; NaN without observations.
        low, high: bounds; NaN where fewer than two clusters leave nothing to resample.
        n: observations.
        clusters: independent units among them.
    """

    mean: float
    low: float
    high: float
    n: int
    clusters: int

    @property
    def verdict(self) -> Verdict:
        """Whether a gain is real: the interval excludes 0, over enough independent units to be believed."""
        if self.clusters < ENOUGH_CLUSTERS:
            return "cannot tell"
        return "better" if self.low > ROUNDING else "worse" if self.high < -ROUNDING else "cannot tell"


def paired_bootstrap(
    differences: NDArray[np.floating],
    clusters: Sequence[Hashable] | None,
    rng: np.random.Generator,
    draws: int = 2000,
    level: float = 0.95,
) -> Interval:
    """Return the mean of paired differences with its percentile interval, resampling whole clusters.

    Every draw is a ratio of sums (differences over rows), so that a large cluster weighs what it holds.

    Args:
        differences: (n,), one per row; missing rows are left out by the caller.
        clusters: (n,), the group of each row; None = every row stands alone.
        rng: source of the draws. The order of rows does not matter.
        draws: resamples.
        level: coverage, in (0, 1).

    Raises:
        InputError: if a difference is not finite, or the lengths differ.
    """
    values = np.asarray(differences, dtype=np.float64)
    if not np.isfinite(values).all():
        raise InputError("differences", "hold a value that is not finite", "leave missing rows out first")
    if clusters is not None and len(clusters) != len(values):
        raise InputError("clusters", f"{len(clusters)} labels for {len(values)} differences", "give one per row")
    sums, sizes = _by_cluster(values, clusters)
    mean = float(values.mean()) if len(values) else math.nan
    if len(sums) < 2:
        return Interval(mean, math.nan, math.nan, len(values), len(sums))
    tails = (1 - level) / 2
    low, high = np.quantile(_resampled_means(sums, sizes, rng, draws), [tails, 1 - tails])
    return Interval(mean, float(low), float(high), len(values), len(sums))


def _by_cluster(values: Array, clusters: Sequence[Hashable] | None) -> tuple[Array, Array]:
    """Return the sum and the size of every cluster."""
    if clusters is None:
        return values, np.ones(len(values))
    numbers: dict[Hashable, int] = {}
    index = np.array([numbers.setdefault(name, len(numbers)) for name in clusters], dtype=np.intp)
    ones = np.ones(len(values))
    sums, sizes = (np.bincount(index, weights, len(numbers)) for weights in (values, ones))
    return sums.astype(np.float64), sizes.astype(np.float64)


def _resampled_means(sums: Array, sizes: Array, rng: np.random.Generator, draws: int) -> Array:
    """Return (draws,) means of clusters drawn with replacement.

    Clusters with equal sum and size are one category of a multinomial, which makes 0/1 rewards nearly free; with many
    different ones it is quicker to draw cluster numbers.
    """
    kinds, counts = np.unique(np.column_stack([sums, sizes]), axis=0, return_counts=True)
    few = len(kinds) <= FEW_KINDS
    sums, sizes = np.repeat(kinds, counts, axis=0).T.copy()  # sorted, so that the order of rows does not matter
    step = max(1, CHUNK // len(sums))
    means = []
    for start in range(0, draws, step):
        size = min(step, draws - start)
        if few:
            totals, rows = (rng.multinomial(len(sums), counts / len(sums), size=size) @ kinds).T
        else:
            drawn = rng.integers(0, len(sums), size=(size, len(sums)))
            totals, rows = sums[drawn].sum(axis=1), sizes[drawn].sum(axis=1)
        means.append(totals / rows)
    return np.concatenate(means)


def wilson(successes: int, n: int, level: float = 0.95) -> Interval:
    """Return the Wilson score interval of a share; [0, 1] when nothing was tried.

    Source: Wilson (1927), Journal of the American Statistical Association 22.
    """
    _check_counts(successes, n)
    if n == 0:
        return Interval(math.nan, 0.0, 1.0, 0, 0)
    z = NormalDist().inv_cdf((1 + level) / 2)
    share, scale = successes / n, 1 + z * z / n
    centre = (share + z * z / (2 * n)) / scale
    half = z / scale * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low = 0.0 if successes == 0 else centre - half
    high = 1.0 if successes == n else centre + half
    return Interval(share, low, high, n, n)


def clopper_pearson(successes: int, n: int, level: float = 0.95) -> Interval:
    """Return the exact interval of a share: never covers less than `level`, often more; [0, 1] when nothing was tried.

    Source: Clopper and Pearson (1934), Biometrika 26.
    """
    _check_counts(successes, n)
    if n == 0:
        return Interval(math.nan, 0.0, 1.0, 0, 0)
    tail = (1 - level) / 2
    low = 0.0 if successes == 0 else float(betaincinv(successes, n - successes + 1, tail))
    high = 1.0 if successes == n else float(betaincinv(successes + 1, n - successes, 1 - tail))
    return Interval(successes / n, low, high, n, n)


def _check_counts(successes: int, n: int) -> None:
    if not 0 <= successes <= n:
        raise InputError("successes", f"{successes} of {n}", "give a count between 0 and n")


def mcnemar_exact(a_only: int, b_only: int) -> float:
    """Return the two-sided p-value that A and B are right equally often, from the rows where just one is right.

    Args:
        a_only: rows that A alone got right.
        b_only: rows that B alone got right.
    """
    if min(a_only, b_only) < 0:
        raise InputError("counts", f"{a_only} and {b_only}", "give counts of rows")
    if a_only + b_only == 0:
        return 1.0
    return min(1.0, 2 * float(bdtr(min(a_only, b_only), a_only + b_only, 0.5)))

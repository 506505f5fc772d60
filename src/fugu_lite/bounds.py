"""A lower confidence bound for a mean of bounded values that holds at every sample size, by betting.

A bettor stakes a share of a capital of 1 on the mean being above m. If it is not, the capital is a fair or losing game,
and reaches 1 / level at any time with a chance of at most `level` (Ville). Every m at which it does is excluded. No
normal approximation enters, which matters for gains that are mostly 0.

Source: Waudby-Smith and Ramdas (2024), "Estimating means of bounded random variables by betting", JRSS B 86.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fugu_lite.errors import InputError

Array = NDArray[np.float64]

LARGEST_STAKE = 0.75  # share of the capital that one value may cost; below 1, so that no single value ruins it
HALVINGS = 60
GRID = 400


def lower_bound(values: NDArray[np.floating], level: float = 0.05) -> float:
    """Return a one-sided lower confidence bound for the mean of independent values.

    Args:
        values: (n,) in [-1, 1], in an order that was chosen without looking at them. An empty array excludes nothing.
        level: chance, in (0, 1), that the bound lies above the true mean.

    Returns:
        The bound, in [-1, 1]; above 0 the mean is shown to be positive.

    Raises:
        InputError: if a value is not in [-1, 1], or the level is not in (0, 1).
    """
    shares = (_checked(values, level) + 1) / 2
    stakes = _stakes(shares, level)
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):  # the capital falls as m rises, so what is excluded is an interval from below
        middle = (low + high) / 2
        if _log_capital(shares, stakes, middle) >= -math.log(level):
            low = middle
        else:
            high = middle
    return 2 * low - 1


def values_needed(values: NDArray[np.floating], level: float = 0.05) -> int | None:
    """Estimate how many values like these would show a mean above 0.

    It is the number at which the capital of the best constant bet is expected to reach 1 / level: there the chance of
    showing it is about even.

    Args:
        values: (n,) in [-1, 1].
        level: see `lower_bound`.

    Returns:
        The number, at least 1; None when the mean of the values is not positive.

    Raises:
        InputError: as `lower_bound`.
    """
    found = _checked(values, level)
    if not len(found) or found.mean() <= 0:
        return None
    kinds, counts = np.unique(found, return_counts=True)
    bets = np.linspace(0, LARGEST_STAKE, GRID + 1)[1:]
    # the best bet for a small mean lies near mean / variance, which the even grid may step over
    small = found.mean() / max(float((found**2).mean()), 1e-300)
    bets = np.append(bets, min(LARGEST_STAKE, small))
    growth = float((np.log1p(bets[:, None] * kinds) @ (counts / len(found))).max())
    return max(1, math.ceil(-math.log(level) / growth)) if growth > 0 else None


def _checked(values: NDArray[np.floating], level: float) -> Array:
    found = np.asarray(values, dtype=np.float64)
    if not 0 < level < 1:
        raise InputError("level", f"{level} is not between 0 and 1", "give e.g. 0.05")
    outside = found[~(np.abs(found) <= 1)]  # NaN is outside too
    if len(outside):
        raise InputError("values", f"{outside[0]} is not in [-1, 1]", "leave missing rows out and rescale the rest")
    return found


def _stakes(shares: Array, level: float) -> Array:
    """Return (n,) bets; each is set by the values before it (predictable plug-in), from a prior of 1/2 and 1/4."""
    count = np.arange(1, len(shares) + 1)
    means = (0.5 + np.cumsum(shares)) / (count + 1)
    variances = (0.25 + np.cumsum((shares - means) ** 2)) / (count + 1)
    before = np.concatenate([[0.25], variances[:-1]]) if len(shares) else variances
    return np.asarray(np.sqrt(2 * -math.log(level) / (len(shares) * before)))


def _log_capital(shares: Array, stakes: Array, m: float) -> float:
    """Return the highest log capital that was reached while betting on a mean above m."""
    factors = np.log1p(np.minimum(stakes, LARGEST_STAKE / m) * (shares - m))
    return float(np.cumsum(factors).max(initial=0.0))


__all__ = ["lower_bound", "values_needed"]

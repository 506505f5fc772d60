"""The best fixed worker: what every router must beat."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fugu_lite.errors import DataError
from fugu_lite.rewards.matrix import RewardMatrix

Array = NDArray[np.float64]
TIE = 1e-9


def fixed_utilities(rewards: Array) -> Array:
    """Return (workers,) the mean reward of always calling one worker, comparable between workers.

    A worker that was not measured on the hard rows must not look good for it: its mean distance from the row mean is
    added to the mean of all rows. Without missing cells this is the plain mean.

    Args:
        rewards: (tasks, workers); NaN = missing.

    Returns:
        NaN for a worker measured on fewer than half as many rows as the best measured one.
    """
    observed = ~np.isnan(rewards)
    kept = observed.any(axis=1)
    observed, cells = observed[kept], np.where(observed, rewards, 0.0)[kept]
    if not len(cells):
        return np.full(rewards.shape[1], np.nan)
    counts = observed.sum(axis=0)
    if counts.min() == len(cells):
        return np.asarray(cells.mean(axis=0))
    row_means = cells.sum(axis=1) / observed.sum(axis=1)
    distances = np.where(observed, cells - row_means[:, None], 0.0).sum(axis=0)
    enough = 2 * counts >= counts.max()
    return np.where(enough, distances / np.maximum(counts, 1) + row_means.mean(), np.nan)


def best_fixed(matrix: RewardMatrix) -> str:
    """Return the worker with the highest `fixed_utilities`; equal ones go by name order.

    Raises:
        DataError: if no reward was measured.
    """
    values = fixed_utilities(matrix.rewards)
    if np.isnan(values).all():
        raise DataError("rewards", "no reward was measured in these rows", "check the split, or collect first")
    top = np.nanmax(values)
    return min(name for name, value in zip(matrix.worker_ids, values, strict=True) if value >= top - TIE)


def fixed_order(matrix: RewardMatrix) -> tuple[str, ...]:
    """Return the workers from best to worst by `fixed_utilities`, equal ones by name; one measured too rarely is last.

    Raises:
        DataError: if no reward was measured.
    """
    first = best_fixed(matrix)
    values = np.nan_to_num(fixed_utilities(matrix.rewards), nan=-np.inf)
    ranked = sorted(zip(matrix.worker_ids, values, strict=True), key=lambda each: (-each[1], each[0]))
    return (first, *(name for name, _ in ranked if name != first))

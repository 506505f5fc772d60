"""The utility of an answer: quality minus what it cost in money and time."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fugu_lite.workers import UtilitySpec

TIE = 1e-9
CAP = 5.0  # cost and latency count at most this many scales, so that one outlier cannot drown the quality

Array = NDArray[np.float64]


def utility(spec: UtilitySpec, quality: Array, cost_usd: Array, latency_s: Array) -> Array:
    """Return U = w_q Q - w_c min(C / C0, 5) - w_l min(L / L0, 5), elementwise.

    Args:
        spec: weights and scales.
        quality: (tasks, workers) in [0, 1]; NaN = missing.
        cost_usd: same shape, USD; NaN = unknown.
        latency_s: same shape, seconds; NaN = unknown.

    Returns:
        Same shape. NaN where quality is missing, or where a *weighted* cost or latency is unknown: an unknown price is
        not a price of zero.
    """
    total = spec.quality_weight * quality
    if spec.cost_weight:
        total = total - spec.cost_weight * np.minimum(cost_usd / spec.cost_scale_usd, CAP)
    if spec.latency_weight:
        total = total - spec.latency_weight * np.minimum(latency_s / spec.latency_scale_s, CAP)
    return np.asarray(total, dtype=np.float64)


def utility_of(spec: UtilitySpec, quality: float, cost_usd: float, latency_s: float) -> float:
    """Return the utility of one answer; see `utility`, of which this is one element."""
    total = spec.quality_weight * quality
    if spec.cost_weight:
        total -= spec.cost_weight * min(cost_usd / spec.cost_scale_usd, CAP)  # min keeps a NaN that comes first
    if spec.latency_weight:
        total -= spec.latency_weight * min(latency_s / spec.latency_scale_s, CAP)
    return total


def best_of(rewards: Sequence[float], tolerance: float = TIE) -> list[bool]:
    """Return which workers reach the best reward of one row; see `best_workers`."""
    top = max((reward for reward in rewards if not math.isnan(reward)), default=math.inf)
    return [reward >= top - tolerance for reward in rewards]


def best_workers(rewards: Array, tolerance: float = TIE) -> NDArray[np.bool_]:
    """Return which workers reach the row's best reward, ties included; all False in an empty row.

    Args:
        rewards: (tasks, workers); NaN = missing.
        tolerance: differences up to this are ties.
    """
    filled = np.where(np.isnan(rewards), -np.inf, rewards)
    top = filled.max(axis=1, keepdims=True)
    return np.asarray((filled >= top - tolerance) & np.isfinite(filled))

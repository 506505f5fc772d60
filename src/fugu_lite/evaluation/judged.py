"""The rows on which a policy and its comparator were both measured; everything else is counted, never scored 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fugu_lite.errors import DataError, MismatchError
from fugu_lite.evaluation import baselines
from fugu_lite.evaluation.policy import Array, Picks, Policy, expected, outcomes
from fugu_lite.intervals import Interval, paired_bootstrap
from fugu_lite.rewards.matrix import RewardMatrix
from fugu_lite.rewards.utility import best_workers


@dataclass(frozen=True)
class Judged:
    """Rows that can be compared, with what each side got.

    Attributes:
        index: (tasks,) positions of these rows among those given.
        matrix: these rows.
        policy: these rows.
        weights: (tasks, workers) where the policy goes; rows sum to 1.
        best: (tasks, workers) which workers tie for the best reward.
        router, comparator, oracle, random: (tasks,) utilities, without NaN.
        dropped: reason -> rows left out.
    """

    index: Picks
    matrix: RewardMatrix
    policy: Policy
    weights: Array
    best: NDArray[np.bool_]
    router: Array
    comparator: Array
    oracle: Array
    random: Array
    dropped: dict[str, int]

    def __len__(self) -> int:
        return len(self.index)


def judge(policy: Policy, matrix: RewardMatrix, comparator: str) -> Judged:
    """Pair a policy with a fixed worker on the rows where both were measured.

    Raises:
        MismatchError: if the policy has other rows or workers than the matrix.
        DataError: if no row can be judged.
    """
    if len(policy) != len(matrix):
        raise MismatchError(policy.name, f"{len(policy)} decisions for {len(matrix)} rows", "route the same rows")
    policy = policy.aligned(matrix.worker_ids)
    observed = ~np.isnan(matrix.rewards)
    router = outcomes(policy.weights(observed), matrix.rewards)
    reference = outcomes(baselines.fixed(matrix, comparator).weights(observed), matrix.rewards)
    empty, no_router, no_reference = ~observed.any(axis=1), np.isnan(router), np.isnan(reference)
    reasons = {
        "no worker was measured": empty,
        "the router's pick was not measured": no_router & ~empty,
        "the comparator was not measured": no_reference & ~no_router,
    }
    index = np.flatnonzero(~(no_router | no_reference))
    if not len(index):
        raise DataError(policy.name, f"none of {len(matrix)} rows has a reward for both its pick and {comparator!r}")
    kept, chosen = matrix.rows(index), policy.rows(index)
    uniform = np.full(kept.rewards.shape, 1 / len(kept.worker_ids))
    return Judged(
        index,
        kept,
        chosen,
        chosen.weights(observed[index]),
        best_workers(kept.rewards),
        router[index],
        reference[index],
        np.asarray(np.nanmax(kept.rewards, axis=1)),
        expected(uniform, kept.rewards),
        {reason: int(mask.sum()) for reason, mask in reasons.items() if mask.any()},
    )


def paired(first: Array, second: Array, groups: Sequence[str], rng: np.random.Generator, draws: int = 2000) -> Interval:
    """Return the interval of first - second over the rows where neither is NaN, resampling groups."""
    both = np.flatnonzero(~(np.isnan(first) | np.isnan(second)))
    return paired_bootstrap((first - second)[both], [groups[int(i)] for i in both], rng, draws)

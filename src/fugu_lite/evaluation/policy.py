"""A policy is what is judged: routers, baselines and published results meet the same code here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from fugu_lite.errors import MismatchError

Array = NDArray[np.float64]
Picks = NDArray[np.intp]


@dataclass(frozen=True)
class Policy:
    """Which worker each task goes to.

    Attributes:
        name: what the report calls it.
        worker_ids: one per column.
        probabilities: (tasks, workers), rows summing to 1.
        picks: (tasks,) column of the greedy choice; None = judged in expectation over `probabilities`.

    Raises:
        MismatchError: if the shapes disagree or a probability is not a finite number >= 0.
    """

    name: str
    worker_ids: tuple[str, ...]
    probabilities: Array
    picks: Picks | None

    def __post_init__(self) -> None:
        shape = self.probabilities.shape
        if len(shape) != 2 or shape[1] != len(self.worker_ids):
            raise MismatchError(self.name, f"probabilities {shape} for {len(self.worker_ids)} workers")
        if not (np.isfinite(self.probabilities).all() and (self.probabilities >= 0).all()):
            raise MismatchError(self.name, "a probability is negative or not finite")
        if self.picks is not None and self.picks.shape != shape[:1]:
            raise MismatchError(self.name, f"{self.picks.shape} picks for {shape[0]} tasks")

    def __len__(self) -> int:
        return len(self.probabilities)

    @classmethod
    def greedy(
        cls, name: str, worker_ids: tuple[str, ...], scores: NDArray[np.floating], probabilities: Array | None = None
    ) -> Self:
        """Pick the highest score per row; equal scores go to the first worker by name.

        Args:
            name: what the report calls it.
            worker_ids: one per column.
            scores: (tasks, workers); -inf = never.
            probabilities: same shape; None = 1 for the pick.
        """
        order = np.argsort(np.array(worker_ids))
        picks = order[np.asarray(scores)[:, order].argmax(axis=1)]
        return cls(name, worker_ids, np.eye(len(worker_ids))[picks] if probabilities is None else probabilities, picks)

    @classmethod
    def from_probabilities(cls, name: str, worker_ids: tuple[str, ...], probabilities: Array) -> Self:
        """Pick the most probable worker per row."""
        return cls.greedy(name, worker_ids, probabilities, probabilities)

    def aligned(self, worker_ids: tuple[str, ...]) -> Policy:
        """Return the same policy with its columns in another order; columns are matched by name.

        Raises:
            MismatchError: if the names differ.
        """
        if set(worker_ids) != set(self.worker_ids):
            raise MismatchError(
                self.name,
                f"routes to {sorted(self.worker_ids)} but the matrix holds {sorted(worker_ids)}",
                "choose the matrix columns of the router's pool (--only-workers)",
            )
        columns = np.array([self.worker_ids.index(name) for name in worker_ids], dtype=np.intp)
        picks = None if self.picks is None else np.argsort(columns)[self.picks]
        return replace(self, worker_ids=worker_ids, probabilities=self.probabilities[:, columns], picks=picks)

    def rows(self, index: NDArray[np.intp]) -> Policy:
        """Return some rows, by position."""
        picks = None if self.picks is None else self.picks[index]
        return replace(self, probabilities=self.probabilities[index], picks=picks)

    def weights(self, observed: NDArray[np.bool_]) -> Array:
        """Return (tasks, workers): 1 at the pick, or the probabilities over the workers that were observed.

        A greedy pick is not moved to an observed worker: where it was not measured, it cannot be judged.
        """
        if self.picks is not None:
            return np.eye(len(self.worker_ids))[self.picks]
        kept = np.where(observed, self.probabilities, 0.0)
        totals = kept.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(kept, totals, out=np.zeros_like(kept), where=totals > 0))


def outcomes(weights: Array, values: Array) -> Array:
    """Return (tasks,) what a policy gets; NaN where a needed value is missing or nothing is chosen.

    Args:
        weights: (tasks, workers), see `Policy.weights`.
        values: same shape: rewards, costs or latencies; NaN = missing.
    """
    totals = np.where(weights > 0, weights * values, 0.0).sum(axis=1)
    return np.asarray(np.where(weights.sum(axis=1) > 0, totals, np.nan))


def expected(probabilities: Array, rewards: Array) -> Array:
    """Return (tasks,) the mean reward of sampling a worker among the observed ones; NaN in an empty row."""
    sampled = Policy("sampled", tuple(str(i) for i in range(rewards.shape[1])), probabilities, None)
    return outcomes(sampled.weights(~np.isnan(rewards)), rewards)

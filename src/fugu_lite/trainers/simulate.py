"""Planted matrices: the best possible router is known exactly, so a trainer can be held to it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, pi, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.special import ndtr

from fugu_lite.trainers.contract import Array, TrainingSet, greedy_utility


@dataclass(frozen=True)
class Planted:
    """A simulated pool and some of its tasks.

    Attributes:
        features: (tasks, dimension).
        rewards: (tasks, workers), mean of some graded repetitions.
        probabilities: (tasks, workers), the true chance of success of each cell.
        directions: (dimension, workers); worker `argmax(x @ directions)` is the right one for features x.
        bayes_optimal: expected reward of the best rule that sees the features.
        best_fixed: expected reward of any single worker.
    """

    features: Array
    rewards: Array
    probabilities: Array
    directions: Array
    bayes_optimal: float
    best_fixed: float

    @property
    def training_set(self) -> TrainingSet:
        """The rows as trainers take them, workers named `w0`, `w1`, ..."""
        return TrainingSet(self.features, self.rewards, tuple(f"w{i}" for i in range(self.rewards.shape[1])))

    def value(self, scores: NDArray[np.floating]) -> float:
        """Return the true expected reward of choosing the highest score in every row."""
        return greedy_utility(scores, self.probabilities)

    def captured(self, scores: NDArray[np.floating]) -> float:
        """Return the share of the gap that a policy captures: 0 = best fixed, 1 = Bayes-optimal.

        Both ends are measured on the same rows as the policy, so that the luck of the rows cancels.
        """
        fixed = float(self.probabilities.mean(axis=0).max())
        optimal = self.value(self.features @ self.directions)
        return (self.value(scores) - fixed) / (optimal - fixed)

    def shuffled(self, rng: np.random.Generator) -> Planted:
        """Return the same rewards in another order: features say nothing, so nothing beats the best fixed worker."""
        order = rng.permutation(len(self.features))
        return replace(
            self, rewards=self.rewards[order], probabilities=self.probabilities[order], bayes_optimal=self.best_fixed
        )


def planted(
    rng: np.random.Generator,
    tasks: int,
    workers: int = 4,
    dimension: int = 16,
    gap: float = 0.15,
    separation: float = 3.0,
    noise: float = 0.1,
    repetitions: int = 3,
    directions: Array | None = None,
) -> Planted:
    """Draw tasks of one domain per worker; features tell the domain, up to noise.

    The features of domain k are `separation * directions[:, k]` plus a standard normal. The worker of the domain
    succeeds with a chance that is higher by one and the same amount. With equal domains and equal noise the best rule
    given the features is linear, `argmax(x @ directions)`, and it beats every fixed worker by exactly `gap`.

    Args:
        rng: source of everything random.
        tasks: rows.
        workers: columns, at most `dimension`.
        dimension: length of a feature vector.
        gap: Bayes-optimal minus best fixed, in expected reward.
        separation: distance of a domain's centre from 0, in standard deviations of the noise around it.
        noise: half-width of a uniform change of each cell's chance that no feature tells.
        repetitions: graded calls per cell; the reward is their mean.
        directions: the rule of an earlier draw, for more rows of the same pool.
    """
    if directions is None:
        directions = np.linalg.qr(rng.normal(size=(dimension, workers)))[0]
    workers = directions.shape[1]
    domain = rng.integers(workers, size=tasks)
    features = separation * directions.T[domain] + rng.normal(size=(tasks, len(directions)))
    found = recognised(separation, workers)
    spread = gap / (found - 1 / workers)
    low = 0.5 - spread / 2
    if not noise <= low <= 1 - spread - noise:
        raise ValueError(f"gap {gap} and noise {noise} leave the range of a probability; lower one of them")
    means = low + spread * (np.arange(workers) == domain[:, None])
    chances = means + rng.uniform(-noise, noise, size=means.shape)
    rewards = rng.binomial(repetitions, chances) / repetitions
    return Planted(features, rewards, chances, directions, low + spread * found, low + spread / workers)


def recognised(separation: float, workers: int) -> float:
    """Return the chance that the best rule finds the domain: its own noisy coordinate is the largest of all.

    It is the integral of phi(z - separation) Phi(z)^(workers - 1): .5 for two workers at separation 0.
    """
    value, _ = quad(lambda z: exp(-((z - separation) ** 2) / 2) * ndtr(z) ** (workers - 1), -10, 10 + separation)
    return float(value) / sqrt(2 * pi)

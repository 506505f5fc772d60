"""Two workers, one dear and one cheap: APGR on RouteLLM's own cached answers, five folds pooled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bench.routing.data import Matrix
from bench.routing.fitting import FAMILIES, SEED, fit
from fugu_lite.trainers.contract import Array

DRAWS = 1000


@dataclass(frozen=True)
class Apgr:
    """Average performance gap recovered, with a 95 % bootstrap interval over rows."""

    set: str
    encoder: str
    policy: str
    n: int
    apgr: float
    low: float
    high: float


def run(matrix: Matrix, encoder: str, features: Array, names: list[str], told: Callable[[str], None]) -> list[Apgr]:
    """Score each fold by a head fitted on the four others, pool the scores, take the area."""
    strong, found = int(matrix.rewards.mean(axis=0).argmax()), []
    for name in names:
        scores = np.zeros(len(matrix))
        for fold in sorted(set(matrix.splits)):
            fitted, asked = np.flatnonzero(matrix.splits != fold), np.flatnonzero(matrix.splits == fold)
            model = fit(FAMILIES[name], matrix, features, fitted, None)
            predicted = model.head.scores(model.normalised(features[asked]))
            scores[asked] = predicted[:, strong] - predicted[:, 1 - strong]
        told(f"{matrix.name} {encoder} {name}")
        rng = np.random.default_rng(SEED)
        draws = [
            apgr(scores[index], matrix.rewards[index], strong)
            for index in (rng.integers(0, len(matrix), len(matrix)) for _ in range(DRAWS))
        ]
        low, high = np.quantile(draws, [0.025, 0.975])
        value = apgr(scores, matrix.rewards, strong)
        found.append(Apgr(matrix.name, encoder, name, len(matrix), value, float(low), float(high)))
    return found


def apgr(scores: Array, rewards: Array, strong: int) -> float:
    """Return the mean share of the gap strong - weak recovered, over every share of strong calls from none to all.

    Rows with equal scores are sent to the strong worker in expectation, not in file order.

    Args:
        scores: (rows,) predicted advantage of the strong worker.
        rewards: (rows, 2).
        strong: its column.

    Source: Ong et al. (2024), RouteLLM, arXiv 2406.18665, section 2.
    """
    gap = (rewards[:, strong] - rewards[:, 1 - strong]).mean()
    advantage = rewards[:, strong] - rewards[:, 1 - strong]
    _, which, counts = np.unique(-scores, return_inverse=True, return_counts=True)
    mean = np.bincount(which.ravel(), advantage) / counts
    recovered = np.concatenate([[0.0], np.cumsum(mean[which.ravel()][np.argsort(-scores, kind="stable")])])
    return float(np.trapezoid(recovered / len(rewards) / gap, dx=1 / len(rewards)))

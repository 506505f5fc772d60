"""Baselines as policies: what a router must beat, judged on the same rows by the same code."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fugu_lite.errors import DataError, MismatchError
from fugu_lite.evaluation import fitted
from fugu_lite.evaluation.policy import Array, Policy
from fugu_lite.rewards.fixed import best_fixed, fixed_utilities
from fugu_lite.rewards.matrix import RewardMatrix

TIE = 1e-9
NEIGHBOURS = (5, 10, 20, 40, 80)


def fit_rows(matrix: RewardMatrix) -> RewardMatrix:
    """Return the rows that a baseline may learn from: train and validation.

    Raises:
        DataError: if the file holds neither.
    """
    mask = np.array([task.split in ("train", "validation") for task in matrix.tasks], dtype=bool)
    if not mask.any():
        raise DataError("split", "no row has split 'train' or 'validation'", "name the comparator, or give those rows")
    return matrix.rows(mask)


def fixed(matrix: RewardMatrix, worker: str, name: str | None = None) -> Policy:
    """Always one worker.

    Raises:
        MismatchError: if the matrix has no such column.
    """
    if worker not in matrix.worker_ids:
        columns = ", ".join(matrix.worker_ids)
        raise MismatchError("worker", f"the matrix has no column {worker!r}", f"columns: {columns}")
    return _by_name(matrix, [worker] * len(matrix), name or f"always {worker}")


def _by_name(matrix: RewardMatrix, workers: Sequence[str], name: str) -> Policy:
    picks = np.array([matrix.worker_ids.index(worker) for worker in workers], dtype=np.intp)
    return Policy(name, matrix.worker_ids, np.eye(len(matrix.worker_ids))[picks], picks)


def uniform(matrix: RewardMatrix) -> Policy:
    """Any measured worker with equal probability, judged in expectation: exact, no seeds."""
    count = len(matrix.worker_ids)
    return Policy("random", matrix.worker_ids, np.full((len(matrix), count), 1 / count), None)


def oracle(matrix: RewardMatrix) -> Policy:
    """The best measured worker of every row: an upper bound that no router reaches."""
    filled = np.where(np.isnan(matrix.rewards), -np.inf, matrix.rewards)
    return Policy.greedy("oracle", matrix.worker_ids, filled)


def domain_table(matrix: RewardMatrix, fit: RewardMatrix, comparator: str) -> Policy:
    """The best fixed worker of each row's domain, label given; unseen or unlabelled domains go to the comparator."""
    domains = np.array(fit.domains)
    table = {name: _best_or(fit.rows(domains == name), comparator) for name in set(fit.domains) - {""}}
    return _by_name(matrix, [table.get(name, comparator) for name in matrix.domains], "domain table")


def _best_or(matrix: RewardMatrix, comparator: str) -> str:
    return comparator if np.isnan(matrix.rewards).all() else best_fixed(matrix)


def cheapest(matrix: RewardMatrix, fit: RewardMatrix) -> Policy | None:
    """Always the worker with the lowest mean cost; None unless a cost is known for every worker."""
    known = ~np.isnan(fit.costs)
    if not len(fit) or not known.any(axis=0).all():
        return None
    means = np.where(known, fit.costs, 0.0).sum(axis=0) / known.sum(axis=0)
    return fixed(matrix, min(zip(means, fit.worker_ids, strict=True))[1], "cheapest")


def knn(
    matrix: RewardMatrix,
    features: NDArray[np.floating],
    fit: RewardMatrix,
    fit_features: NDArray[np.floating],
    sizes: Sequence[int] = NEIGHBOURS,
) -> Policy:
    """Mean reward among the nearest fitted rows (cosine); the number of neighbours is chosen on validation rows.

    Args:
        matrix: rows to route.
        features: (tasks, dimension) of those rows.
        fit: train and validation rows. Without validation rows the middle of the usable `sizes` is taken.
        fit_features: (fitted tasks, dimension).
        sizes: numbers of neighbours to choose from; those above the number of train rows are left out.
    """
    validation = np.array([task.split == "validation" for task in fit.tasks], dtype=bool)
    train = ~validation if not validation.all() else validation
    usable = sorted({min(size, int(train.sum())) for size in sizes})
    chosen = usable[len(usable) // 2]
    if validation.any() and train is not validation:
        tried = _neighbour_scores(fit_features[train], fit.rewards[train], fit_features[validation], usable)
        kept = fit.rewards[validation]
        chosen = max(usable, key=lambda size: (_greedy_mean(tried[size], kept), -size))
    scores = _neighbour_scores(fit_features, fit.rewards, features, [chosen])[chosen]
    return Policy.greedy(f"kNN (k = {chosen})", matrix.worker_ids, scores)


def _neighbour_scores(
    known: NDArray[np.floating], rewards: Array, asked: NDArray[np.floating], sizes: Sequence[int]
) -> dict[int, Array]:
    """Return size -> (asked, workers) mean observed reward of that many neighbours."""
    from sklearn.neighbors import NearestNeighbors

    nearest = NearestNeighbors(n_neighbors=max(sizes), metric="cosine", algorithm="brute").fit(known)
    neighbours = rewards[nearest.kneighbors(asked, return_distance=False)]
    overall = np.where(np.isnan(fixed_utilities(rewards)), -np.inf, fixed_utilities(rewards))
    return {size: _observed_means(neighbours[:, :size], overall) for size in sizes}


def _observed_means(neighbours: Array, overall: Array) -> Array:
    """Return (asked, workers) means over (asked, neighbours, workers); `overall` where no neighbour was measured."""
    observed = ~np.isnan(neighbours)
    counts = observed.sum(axis=1)
    totals = np.where(observed, neighbours, 0.0).sum(axis=1)
    return np.where(counts > 0, totals / np.maximum(counts, 1), overall)


def _greedy_mean(scores: Array, rewards: Array) -> float:
    """Return the mean reward of the highest score per row; rows where it was not measured are left out."""
    got = rewards[np.arange(len(rewards)), scores.argmax(axis=1)]
    return float(np.nanmean(got)) if not np.isnan(got).all() else -np.inf


def standard(
    matrix: RewardMatrix,
    fit: RewardMatrix | None,
    comparator: str,
    features: NDArray[np.floating] | None = None,
    fit_features: NDArray[np.floating] | None = None,
) -> list[Policy]:
    """Return every baseline that the data allow, in the order of the report.

    Args:
        matrix: the evaluated rows.
        fit: train and validation rows, same columns; None leaves out what must be fitted.
        comparator: the best fixed worker chosen beforehand.
        features, fit_features: (tasks, dimension) of both; None leaves out what is fitted on prompts.
    """
    policies = [fixed(matrix, worker) for worker in sorted(matrix.worker_ids)]
    policies += [uniform(matrix), fixed(matrix, comparator, f"best fixed ({comparator})")]
    policies.append(fixed(matrix, best_fixed(matrix), "best fixed in hindsight"))
    if fit is not None:
        fit = fit.only(matrix.worker_ids)
        policies += [domain_table(matrix, fit, comparator)] if any(matrix.domains) else []
        cheap = cheapest(matrix, fit)
        policies += [cheap] if cheap else []
        if features is not None and fit_features is not None:
            policies.append(knn(matrix, features, fit, fit_features))
            policies += fitted.families(fit, features, fit_features)
            policies.append(fitted.prompt_length(matrix, fit))
    return [*policies, oracle(matrix)]

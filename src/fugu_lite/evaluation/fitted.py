"""Baselines that are fitted: value families with settings fixed beforehand, and a rule that sees only the length."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fugu_lite.evaluation.policy import Policy
from fugu_lite.heads import Labels, ValueHeadSpec
from fugu_lite.heads.values import cell_means, value_kind
from fugu_lite.rewards.matrix import RewardMatrix

SEED = 0  # of the clusterings: a baseline is the same in every report
LENGTH_BINS = 5
ROWS_PER_CLUSTER = 12
FAMILIES = {
    "k-means table": ValueHeadSpec(type="cluster", clusters=32, seeds=5),
    "ridge": ValueHeadSpec(type="ridge", penalty=3.0),
    "logistic": ValueHeadSpec(type="logistic", penalty=0.1),
}


def families(fit: RewardMatrix, features: NDArray[np.floating], fit_features: NDArray[np.floating]) -> list[Policy]:
    """Return one policy per family of `FAMILIES`; no setting is chosen on any row.

    Args:
        fit: train and validation rows; rows without a reward are left out.
        features: (tasks, dimension) of the rows to route, normalised; `fit_features` of the fitted ones.
    """
    kept = fit.observed.any(axis=1)
    if not kept.any():
        return []
    labels = Labels(fit.worker_ids, ("reward",), fit.rewards[kept])
    found = []
    for name, spec in FAMILIES.items():
        if spec.clusters is not None:
            count = max(1, min(spec.clusters, len(labels) // ROWS_PER_CLUSTER))
            spec, name = spec.model_copy(update={"clusters": count}), f"{name} (k = {count})"
        head = value_kind(spec).fit(spec, fit_features[kept], labels, np.random.default_rng(SEED))
        found.append(Policy.greedy(name, fit.worker_ids, head.scores(features)))
    return found


def prompt_length(matrix: RewardMatrix, fit: RewardMatrix) -> Policy:
    """The best worker of each fifth of prompt lengths (characters), means shrunk to the overall one."""
    known, asked = (np.array([len(text) for text in rows.prompts], dtype=np.float64) for rows in (fit, matrix))
    edges = np.quantile(known, np.linspace(0, 1, LENGTH_BINS + 1)[1:-1])
    table = cell_means(fit.rewards, np.searchsorted(edges, known), LENGTH_BINS)
    return Policy.greedy("prompt length", fit.worker_ids, table[np.searchsorted(edges, asked)])

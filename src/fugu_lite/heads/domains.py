"""Which domain a text belongs to: multinomial logistic regression on its features, learned from the labelled rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fugu_lite.heads.contract import Array, softmax

PENALTY = 0.05  # per row, on z-scored features


@dataclass(frozen=True)
class DomainModel:
    """P(domain | features).

    Attributes:
        names: domains, sorted.
        weights: (dimension, domains); bias: (domains,).
    """

    names: tuple[str, ...]
    weights: NDArray[Any]
    bias: NDArray[Any]

    @classmethod
    def fit(cls, features: NDArray[Any], domains: Sequence[str], penalty: float = PENALTY) -> Self:
        """Learn from the rows that have a label; with one domain there is nothing to tell apart.

        Args:
            features: (tasks, dimension), normalised.
            domains: label per task, "" = none.
            penalty: of the squared weights, per row.
        """
        labels = np.array(domains)
        names = tuple(sorted(set(domains) - {""}))
        dimension = features.shape[1]
        if len(names) < 2:
            return cls(names, np.zeros((dimension, len(names))), np.zeros(len(names)))
        from sklearn.linear_model import LogisticRegression

        kept = labels != ""
        inverse = 1.0 / (penalty * kept.sum())
        model = LogisticRegression(C=inverse, max_iter=200, tol=1e-3).fit(features[kept], labels[kept])
        if len(names) == 2:  # sklearn keeps one column for two classes
            zero = np.zeros_like(model.coef_)
            return cls(names, np.concatenate([zero, model.coef_]).T, np.concatenate([[0.0], model.intercept_]))
        return cls(names, model.coef_.T, model.intercept_)

    def probabilities(self, features: NDArray[Any]) -> Array:
        """Return (tasks, domains)."""
        return softmax(features @ self.weights + self.bias)

    def entropy(self, features: NDArray[Any]) -> Array:
        """Return (tasks,) entropy of the predicted domain, in nats: high where a text fits none of them."""
        p = self.probabilities(features)
        return np.asarray(-(p * np.log(np.maximum(p, 1e-12))).sum(axis=1))

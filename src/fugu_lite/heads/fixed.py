"""`fixed`: the same values for every text. The head that always calls the best single worker."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fugu_lite.heads.contract import Array, Domains
from fugu_lite.heads.values import Labels, ValueHead, ValueHeadSpec, column_means, fitted_spec


class FixedHead(ValueHead):
    """Mean outputs of the training rows. Parameters: `mean` (outputs,)."""

    kind = "fixed"
    columns = frozenset({"mean"})

    @classmethod
    def fit(cls, spec: ValueHeadSpec, features: NDArray[Any], labels: Labels, rng: np.random.Generator) -> Self:
        """Take the mean of every column."""
        return cls(fitted_spec(spec, labels), labels.worker_ids, {"mean": column_means(labels.outputs)})

    def outputs(self, features: NDArray[Any], domains: Domains | None = None) -> Array:
        """Return the means, once per row."""
        return np.tile(self.parameters["mean"].astype(np.float64), (len(features), 1))

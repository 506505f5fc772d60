"""`ridge`: one ridge regression per worker and target, all solved together."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fugu_lite.heads.contract import Array, Domains
from fugu_lite.heads.values import Labels, ValueHead, ValueHeadSpec, by_pattern, fitted_spec

PENALTIES = (10.0, 3.0, 1.0, 0.3, 0.1)


class RidgeHead(ValueHead):
    """outputs = x @ W + b. Parameters: `W` (dimension, outputs), `b` (outputs,)."""

    kind = "ridge"
    columns = frozenset({"W", "b"})

    @classmethod
    def candidates(cls, spec: ValueHeadSpec, rows: int) -> list[ValueHeadSpec]:
        """Penalties from strong to weak."""
        if spec.penalty is not None:
            return [spec]
        return [spec.model_copy(update={"penalty": value}) for value in PENALTIES]

    @classmethod
    def fit(cls, spec: ValueHeadSpec, features: NDArray[Any], labels: Labels, rng: np.random.Generator) -> Self:
        """Solve (X'X / n + penalty I) W = X'Y / n on centred rows, for the rows on which each column was measured."""
        weights, bias = solved(features, labels.outputs, spec.penalty or PENALTIES[0])
        return cls(fitted_spec(spec, labels), labels.worker_ids, {"W": weights, "b": bias})

    def outputs(self, features: NDArray[Any], domains: Domains | None = None) -> Array:
        """Return x @ W + b."""
        return np.asarray(features @ self.parameters["W"] + self.parameters["b"], dtype=np.float64)


def solved(features: NDArray[Any], outputs: Array, penalty: float) -> tuple[Array, Array]:
    """Return W (dimension, columns) and b (columns,); a column that was never measured is 0."""
    weights, bias = np.zeros((features.shape[1], outputs.shape[1])), np.zeros(outputs.shape[1])
    for rows, columns in by_pattern(outputs):
        if not rows.any():
            continue
        x, y = np.asarray(features[rows], dtype=np.float64), outputs[np.ix_(rows, columns)]
        mean_x, mean_y = x.mean(axis=0), y.mean(axis=0)
        x = x - mean_x
        gram = x.T @ x / len(x)
        gram[np.diag_indices_from(gram)] += penalty
        weights[:, columns] = np.linalg.solve(gram, x.T @ (y - mean_y) / len(x))
        bias[columns] = mean_y - mean_x @ weights[:, columns]
    return weights, bias

"""`logistic`: one logistic regression per worker and target, fractional labels allowed."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from fugu_lite.heads.contract import Array, Domains
from fugu_lite.heads.values import Labels, ValueHead, ValueHeadSpec, fitted_spec

PENALTIES = (0.3, 0.1, 0.03, 0.01)


class LogisticHead(ValueHead):
    """outputs = low + span * sigmoid(x @ W + b); the range is that of the training labels, so that costs fit too.

    Parameters: `W` (dimension, outputs), `b`, `low`, `span` (outputs,).
    """

    kind = "logistic"
    columns = frozenset({"W", "b", "low", "span"})

    @classmethod
    def candidates(cls, spec: ValueHeadSpec, rows: int) -> list[ValueHeadSpec]:
        """Penalties from strong to weak."""
        if spec.penalty is not None:
            return [spec]
        return [spec.model_copy(update={"penalty": value}) for value in PENALTIES]

    @classmethod
    def fit(cls, spec: ValueHeadSpec, features: NDArray[Any], labels: Labels, rng: np.random.Generator) -> Self:
        """Minimise the cross-entropy of all columns at once with L-BFGS; cells that were not measured do not count."""
        outputs = labels.outputs
        measured = ~np.isnan(outputs)
        low = np.where(measured.any(axis=0), np.nanmin(np.where(measured, outputs, np.inf), axis=0), 0.0)
        high = np.where(measured.any(axis=0), np.nanmax(np.where(measured, outputs, -np.inf), axis=0), 0.0)
        span = np.where(high > low, high - low, 1.0)
        share = np.where(measured, (outputs - low) / span, 0.0)
        weights, bias = descended(np.asarray(features, dtype=np.float64), share, measured, spec.penalty or PENALTIES[0])
        parameters = {"W": weights, "b": bias, "low": low, "span": np.where(high > low, span, 0.0)}
        return cls(fitted_spec(spec, labels), labels.worker_ids, parameters)

    def outputs(self, features: NDArray[Any], domains: Domains | None = None) -> Array:
        """Return the expected outputs."""
        p = self.parameters
        return np.asarray(p["low"] + p["span"] * expit(features @ p["W"] + p["b"]), dtype=np.float64)


def descended(x: Array, share: Array, measured: NDArray[np.bool_], penalty: float) -> tuple[Array, Array]:
    """Return the W (dimension, columns) and b (columns,) of least penalised cross-entropy.

    Args:
        x: (tasks, dimension).
        share: (tasks, columns) in [0, 1].
        measured: (tasks, columns); other cells are ignored.
        penalty: times |W|^2 / 2, per row.
    """
    dimension, columns = x.shape[1], share.shape[1]
    counts = np.maximum(measured.sum(axis=0), 1)

    def loss(flat: Array) -> tuple[float, Array]:
        weights, bias = flat[:-columns].reshape(dimension, columns), flat[-columns:]
        logits = x @ weights + bias
        error = np.where(measured, expit(logits) - share, 0.0) / counts
        entropy = np.where(measured, np.logaddexp(0.0, logits) - share * logits, 0.0) / counts
        value = entropy.sum() + penalty * (weights**2).sum() / 2
        gradient = x.T @ error + penalty * weights
        return float(value), np.concatenate([gradient.ravel(), error.sum(axis=0)])

    start = np.zeros(dimension * columns + columns)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 150, "ftol": 1e-7})
    return found.x[:-columns].reshape(dimension, columns), found.x[-columns:]

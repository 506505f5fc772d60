"""`extended`: a value head and one more worker, learned from a few labelled probe tasks.

The new worker is described by what the known workers are predicted to do and by which part of the feature space a text
lies in: a regression on few coordinates, so that a few dozen probes say something. The known workers' columns stay.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fugu_lite.errors import DataError, MismatchError
from fugu_lite.heads.cluster import nearest
from fugu_lite.heads.contract import Array, Domains
from fugu_lite.heads.values import CompositeHead, Labels, ValueHead, ValueHeadSpec

FEWEST_PROBES = 20
CLUSTERS = 8
PENALTIES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


class ExtendedHead(CompositeHead):
    """The member's workers first, the new one last.

    Parameters: the member's, `centres` (clusters, dimension), `coefficients` (coordinates + 1, targets): the last row
    is the intercept.
    """

    kind = "extended"

    @property
    def member_workers(self) -> tuple[str, ...]:
        """All but the new one."""
        return self.worker_ids[:-1]

    @classmethod
    def fit(cls, spec: ValueHeadSpec, features: NDArray[Any], labels: Labels, rng: np.random.Generator) -> Self:
        """Refused: an extended head starts from a fitted one."""
        raise MismatchError("head", "'extended' is not trained from scratch", "train a value head, then add a worker")

    @classmethod
    def join(
        cls,
        head: ValueHead,
        name: str,
        features: NDArray[Any],
        outcomes: dict[str, NDArray[Any]],
        reference: NDArray[Any],
        rng: np.random.Generator,
    ) -> Self:
        """Add a worker.

        Args:
            head: a value head of the known workers.
            name: id of the new worker.
            features: (probes, dimension).
            outcomes: target -> (probes,) measured; NaN = not measured. A target that is missing here cannot be
                predicted and is refused.
            reference: (rows, dimension) features of training rows, which say where texts lie.
            rng: source of the clustering.

        Raises:
            DataError: for fewer than 20 measured probes.
            MismatchError: if the worker is known already, or a target was not measured.
        """
        if name in head.worker_ids:
            raise MismatchError("workers", f"{name!r} is already a worker of the head")
        centres = centres_of(np.concatenate([reference, features]), rng)
        known = coordinates(head, centres, features)
        columns = []
        for target in head.spec.targets:
            measured = outcomes.get(target, np.full(len(features), np.nan))
            kept = ~np.isnan(measured)
            if kept.sum() < FEWEST_PROBES:
                raise DataError(
                    "probes",
                    f"{int(kept.sum())} of {len(features)} rows have a {target} of {name!r}",
                    f"at least {FEWEST_PROBES} are needed",
                )
            columns.append(regressed(known[kept], np.asarray(measured[kept], dtype=np.float64)))
        base = {f"0.{part}": value for part, value in head.parameters.items()}
        spec = ValueHeadSpec(type="extended", members=(head.spec,), targets=head.spec.targets)
        parameters: dict[str, NDArray[Any]] = {**base, "centres": centres, "coefficients": np.stack(columns, axis=1)}
        return cls(spec, (*head.worker_ids, name), parameters)

    def outputs(self, features: NDArray[Any], domains: Domains | None = None) -> Array:
        """Return the member's outputs with the new worker's beside them, target by target."""
        base = self.members[0]
        known = base.outputs(features, domains)
        size, count = len(base.worker_ids), len(self.spec.targets)
        inputs = coordinates(base, self.parameters["centres"], features, known)
        new = inputs @ self.parameters["coefficients"][:-1] + self.parameters["coefficients"][-1]
        blocks = [np.column_stack([known[:, i * size : (i + 1) * size], new[:, i]]) for i in range(count)]
        return np.concatenate(blocks, axis=1)

    def only(self, worker_ids: Sequence[str]) -> ValueHead:
        """Refused for a smaller pool: the new worker is described by the known ones."""
        if tuple(worker_ids) == self.worker_ids:
            return self
        if set(worker_ids) <= set(self.worker_ids[:-1]):
            return self.members[0].only(worker_ids)
        raise MismatchError(
            "workers",
            f"{self.worker_ids[-1]!r} is described by the other workers of the head",
            "mask workers at request time, or train again",
        )


def centres_of(features: NDArray[Any], rng: np.random.Generator) -> Array:
    """Return (clusters, dimension) k-means centres."""
    from sklearn.cluster import KMeans

    count = min(CLUSTERS, len(features))
    found = KMeans(count, n_init=4, random_state=int(rng.integers(2**31))).fit(np.asarray(features, dtype=np.float32))
    return np.asarray(found.cluster_centers_, dtype=np.float64)


def coordinates(head: ValueHead, centres: NDArray[Any], features: NDArray[Any], outputs: Array | None = None) -> Array:
    """Return (tasks, workers + clusters): predicted rewards of the known workers, and where the text lies."""
    rewards = (head.outputs(features) if outputs is None else outputs)[:, : len(head.worker_ids)]
    return np.concatenate([rewards, np.eye(len(centres))[nearest(features, centres)]], axis=1)


def regressed(inputs: Array, outcome: Array) -> Array:
    """Return (coordinates + 1,) ridge coefficients; the penalty with the least leave-one-out error is taken."""
    mean, centre = outcome.mean(), inputs.mean(axis=0)
    x, y = inputs - centre, outcome - mean
    best = math.inf, np.zeros(x.shape[1] + 1)
    for penalty in PENALTIES:
        gram = x.T @ x + penalty * np.eye(x.shape[1])
        solved = np.linalg.solve(gram, x.T)
        leverage = np.einsum("ij,ji->i", x, solved) + 1 / len(x)
        weights = solved @ y
        error = float((((y - x @ weights) / np.maximum(1 - leverage, 1e-6)) ** 2).mean())
        if error < best[0]:
            best = error, np.append(weights, mean - centre @ weights)
    return best[1]

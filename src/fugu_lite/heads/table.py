"""`table`: mean values per domain, the domain given with the request or predicted from its features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fugu_lite.errors import DataError
from fugu_lite.heads.contract import Array, Domains
from fugu_lite.heads.domains import DomainModel
from fugu_lite.heads.values import Labels, ValueHead, ValueHeadSpec, cell_means, fitted_spec


class TableHead(ValueHead):
    """A row of means per domain.

    Parameters: `table` (domains, outputs), `domain_weights` (dimension, domains), `domain_bias` (domains,).
    """

    kind = "table"
    columns = frozenset({"table"})

    @classmethod
    def candidates(cls, spec: ValueHeadSpec, rows: int) -> list[ValueHeadSpec]:
        """Soft and hard use of the predicted domain."""
        if spec.soft is not None:
            return [spec]
        return [spec.model_copy(update={"soft": soft}) for soft in (True, False)]

    @classmethod
    def fit(cls, spec: ValueHeadSpec, features: NDArray[Any], labels: Labels, rng: np.random.Generator) -> Self:
        """Average per domain and learn to tell the domains apart.

        Raises:
            DataError: if no row has a domain.
        """
        if not any(labels.domains):
            raise DataError("domain", "no training row has a domain", "label the tasks, or use cluster, knn or ridge")
        model = DomainModel.fit(features, labels.domains)
        kept = np.array([name != "" for name in labels.domains])
        cells = np.array([model.names.index(name) for name in labels.domains if name], dtype=np.intp)
        parameters = {
            "table": cell_means(labels.outputs[kept], cells, len(model.names)),
            "domain_weights": model.weights,
            "domain_bias": model.bias,
        }
        return cls(fitted_spec(spec, labels, domains=model.names), labels.worker_ids, parameters)

    @property
    def model(self) -> DomainModel:
        """What predicts the domain."""
        return DomainModel(self.spec.domains, self.parameters["domain_weights"], self.parameters["domain_bias"])

    def outputs(self, features: NDArray[Any], domains: Domains | None = None) -> Array:
        """Return the rows of the table, weighted by what is known of the domain."""
        return np.asarray(self.shares(features, domains) @ self.parameters["table"].astype(np.float64))

    def shares(self, features: NDArray[Any], domains: Domains | None = None) -> Array:
        """Return (tasks, domains) weights of the table's rows, summing to 1."""
        shares = self.model.probabilities(features)
        if self.spec.soft is False:
            shares = np.eye(shares.shape[1])[shares.argmax(axis=1)]
        if self.spec.domain == "given" and domains is not None:
            known = dict(zip(self.spec.domains, np.eye(shares.shape[1]), strict=True))
            for i, name in enumerate(domains):
                if name in known:
                    shares[i] = known[name]
        return shares

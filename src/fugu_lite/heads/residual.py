"""`residual`: a domain table, plus a ridge regression on what the table leaves unexplained."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fugu_lite.heads.contract import Array, Domains
from fugu_lite.heads.ridge import RidgeHead
from fugu_lite.heads.table import TableHead
from fugu_lite.heads.values import CompositeHead, Labels, ValueHeadSpec

PENALTIES = (30.0, 10.0, 3.0, 1.0)


class ResidualHead(CompositeHead):
    """outputs = table + ridge. Members: a `table` and a `ridge`."""

    kind = "residual"

    @classmethod
    def candidates(cls, spec: ValueHeadSpec, rows: int) -> list[ValueHeadSpec]:
        """Penalties of the regression, from strong to weak."""
        if spec.penalty is not None:
            return [spec]
        return [spec.model_copy(update={"penalty": value}) for value in PENALTIES]

    @classmethod
    def fit(cls, spec: ValueHeadSpec, features: NDArray[Any], labels: Labels, rng: np.random.Generator) -> Self:
        """Fit the table, then the ridge on its residual under the true labels.

        The label and not the prediction is used there: the table under true labels has few parameters and cannot fit
        the training rows' noise, which a classifier that saw the same rows can.
        """
        soft = True if spec.soft is None else spec.soft
        table = TableHead.fit(ValueHeadSpec(type="table", domain=spec.domain, soft=soft), features, labels, rng)
        truth = TableHead(table.spec.model_copy(update={"domain": "given"}), labels.worker_ids, table.parameters)
        left = replace(labels, outputs=labels.outputs - truth.outputs(features, labels.domains))
        penalty = spec.penalty or PENALTIES[0]
        ridge = RidgeHead.fit(ValueHeadSpec(type="ridge", penalty=penalty), features, left, rng)
        return cls.of(spec, [table, ridge])

    def outputs(self, features: NDArray[Any], domains: Domains | None = None) -> Array:
        """Return the sum of both."""
        return np.asarray(sum(part.outputs(features, domains) for part in self.members))

"""`average`: the mean prediction of several families. It needs no tuning, and no member can dominate it."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fugu_lite.heads.contract import Array, Domains
from fugu_lite.heads.values import CompositeHead, Labels, ValueHeadSpec, value_kind

FAMILIES = ("cluster", "knn", "table", "residual")
WITHOUT_DOMAINS = ("cluster", "knn", "ridge")


class AverageHead(CompositeHead):
    """outputs = mean of the members' outputs."""

    kind = "average"

    @classmethod
    def fit(cls, spec: ValueHeadSpec, features: NDArray[Any], labels: Labels, rng: np.random.Generator) -> Self:
        """Fit every member on the same rows; without domain labels the default members do without tables."""
        parts = [value_kind(member).fit(member, features, labels, rng) for member in members_of(spec, labels)]
        return cls.of(spec, parts)

    def outputs(self, features: NDArray[Any], domains: Domains | None = None) -> Array:
        """Return the mean."""
        return np.asarray(np.mean([part.outputs(features, domains) for part in self.members], axis=0))


def members_of(spec: ValueHeadSpec, labels: Labels) -> tuple[ValueHeadSpec, ...]:
    """Return the members to fit: the spec's own, or the default families for these labels."""
    if spec.members:
        return spec.members
    names = FAMILIES if any(labels.domains) else WITHOUT_DOMAINS
    return tuple(ValueHeadSpec(type=name, domain=spec.domain, seeds=spec.seeds) for name in names)

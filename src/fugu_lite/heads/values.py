"""Value heads: predicted reward, quality, cost and latency per worker, fitted in closed form or by a few iterations.

All families have one shape, `outputs = f(x)` with one column per target and worker, so that a worker can leave (its
columns go), join (`extended`), be masked, and any cost weight be applied to the same predictions.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fugu_lite.errors import MismatchError
from fugu_lite.heads.contract import Array, Domains, Head, HeadSpec, Parameters, kind_of, softmax

TEMPERATURE = 0.05  # of routing probabilities: a difference of 5 points of reward is odds of e
PRIOR_ROWS = 8.0  # weight, in rows, of the overall mean in a small cell of a table


class ValueHeadSpec(HeadSpec):
    """Settings of a family of values. A family reads those that concern it; null lets the training rows choose.

    Attributes:
        type: `fixed`, `table`, `cluster`, `knn`, `ridge`, `logistic`, `residual` or `average`.
        domain: `predicted` from the text, or `given`: the request's label where it has one that is known, else
            predicted; of `table` and what is built on it.
        soft: weigh the table by the predicted domains' probabilities; false takes the likeliest domain alone.
        neighbours: of `knn`.
        clusters: of `cluster`, per seed.
        seeds: clusterings that `cluster` averages.
        penalty: of `ridge` and `logistic`, per training row and z-scored feature.
        members: parts of `average` and `residual`.
        targets: set by fitting: `reward`, and `quality`, `cost_usd`, `latency_s` where they were measured.
        domains: set by fitting: domains that a table knows, in the order of its rows.
    """

    type: str = "average"
    domain: Literal["predicted", "given"] = "predicted"
    soft: bool | None = None
    neighbours: int | None = Field(None, ge=1)
    clusters: int | None = Field(None, ge=1)
    seeds: int = Field(5, ge=1, le=64)
    penalty: float | None = Field(None, gt=0)
    members: tuple[ValueHeadSpec, ...] = ()
    targets: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()


@dataclass(frozen=True)
class Labels:
    """What a value head learns from.

    Attributes:
        worker_ids: workers, in column order.
        targets: what was measured, `reward` first.
        outputs: (tasks, targets * workers), the workers of one target side by side; NaN = not measured.
        domains: label per task, "" where there is none; empty when no task has one.
    """

    worker_ids: tuple[str, ...]
    targets: tuple[str, ...]
    outputs: Array
    domains: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.outputs)

    @property
    def rewards(self) -> Array:
        """(tasks, workers)."""
        return self.outputs[:, : len(self.worker_ids)]

    def rows(self, index: NDArray[Any]) -> Labels:
        """Return some rows, by mask or position."""
        picked = np.flatnonzero(index) if index.dtype == bool else index
        domains = tuple(self.domains[int(i)] for i in picked) if self.domains else ()
        return replace(self, outputs=self.outputs[picked], domains=domains)


class ValueHead(Head):
    """Predicts, for every worker, what its answer would be worth, cost and take.

    Attributes:
        columns: names of the parameters whose last axis runs over the outputs.
    """

    spec: ValueHeadSpec
    columns: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, spec: HeadSpec, worker_ids: tuple[str, ...], parameters: Parameters) -> None:
        if not isinstance(spec, ValueHeadSpec):
            raise MismatchError("head", f"a {self.kind!r} head needs the settings of a family of values")
        super().__init__(spec, worker_ids, parameters)

    @classmethod
    @abstractmethod
    def fit(cls, spec: ValueHeadSpec, features: NDArray[Any], labels: Labels, rng: np.random.Generator) -> Self:
        """Fit a head whose open settings are chosen, see `candidates`.

        Args:
            spec: settings; the fields of this kind are set.
            features: (tasks, dimension), normalised.
            labels: measured outputs of the same tasks.
            rng: source of whatever is random.
        """

    @classmethod
    def candidates(cls, spec: ValueHeadSpec, rows: int) -> list[ValueHeadSpec]:
        """Return the settings to choose from for `rows` training rows, the most cautious first."""
        del rows
        return [spec]

    @abstractmethod
    def outputs(self, features: NDArray[Any], domains: Domains | None = None) -> Array:
        """Return (tasks, targets * workers) predictions."""

    def values(self, features: NDArray[Any], domains: Domains | None = None) -> dict[str, Array]:
        """Return target name -> (tasks, workers)."""
        found = self.outputs(features, domains)
        size = len(self.worker_ids)
        return {name: found[:, i * size : (i + 1) * size] for i, name in enumerate(self.spec.targets)}

    def scores(self, features: NDArray[Any], domains: Domains | None = None) -> Array:
        """Return the predicted rewards."""
        return self.outputs(features, domains)[:, : len(self.worker_ids)]

    def probabilities(self, features: NDArray[Any], domains: Domains | None = None) -> Array:
        """Return a softmax of the predicted rewards: how clear the choice is, not the chance that it is right."""
        return softmax(self.scores(features, domains), TEMPERATURE)

    def only(self, worker_ids: Sequence[str]) -> ValueHead:
        """Return the head for some of its workers, in the order given; the others' columns are gone.

        Raises:
            MismatchError: for a worker that the head does not know.
        """
        unknown = [name for name in worker_ids if name not in self.worker_ids]
        if unknown:
            known = f"the head knows {', '.join(self.worker_ids)}"
            raise MismatchError("workers", f"the head has no worker {unknown[0]!r}", known)
        size = len(self.worker_ids)
        picked = [self.worker_ids.index(name) for name in worker_ids]
        index = [block * size + i for block in range(len(self.spec.targets)) for i in picked]
        return type(self)(self.spec, tuple(worker_ids), self._with_columns(index))

    def _with_columns(self, index: list[int]) -> dict[str, NDArray[Any]]:
        return {name: value[..., index] if self._is_column(name) else value for name, value in self.parameters.items()}

    def _is_column(self, name: str) -> bool:
        return name in self.columns


class CompositeHead(ValueHead):
    """A head made of others; a member's parameters carry its number: `0.table`."""

    @property
    def members(self) -> list[ValueHead]:
        """The parts."""
        parts: list[ValueHead] = []
        for number, spec in enumerate(self.spec.members):
            prefix = f"{number}."
            own = {k.removeprefix(prefix): v for k, v in self.parameters.items() if k.startswith(prefix)}
            parts.append(value_kind(spec)(spec, self.member_workers, own))
        return parts

    @property
    def member_workers(self) -> tuple[str, ...]:
        """Workers of the parts."""
        return self.worker_ids

    @classmethod
    def of(cls, spec: ValueHeadSpec, members: Sequence[ValueHead]) -> Self:
        """Put fitted parts together."""
        named = {f"{i}.{name}": value for i, part in enumerate(members) for name, value in part.parameters.items()}
        targets = members[0].spec.targets
        spec = spec.model_copy(update={"members": tuple(part.spec for part in members), "targets": targets})
        return cls(spec, members[0].worker_ids, named)

    def _is_column(self, name: str) -> bool:
        number, _, rest = name.partition(".")
        return self.members[int(number)]._is_column(rest)


def value_kind(spec: HeadSpec) -> type[ValueHead]:
    """Return the class of a value spec.

    Raises:
        MismatchError: for a policy kind.
    """
    kind = kind_of(spec)
    if not issubclass(kind, ValueHead):
        fix = "use table, cluster, knn, ridge, logistic, residual or average"
        raise MismatchError("head", f"{spec.type!r} is a policy: it has logits for one utility and no values", fix)
    return kind


def fitted_spec(spec: ValueHeadSpec, labels: Labels, **chosen: Any) -> ValueHeadSpec:
    """Return the spec as a fitted head records it."""
    return spec.model_copy(update={"targets": labels.targets, **chosen})


def column_means(outputs: Array) -> Array:
    """Return (columns,) means of what was measured; 0 for a column that never was."""
    observed = ~np.isnan(outputs)
    return np.asarray(np.where(observed, outputs, 0.0).sum(axis=0) / np.maximum(observed.sum(axis=0), 1))


def cell_means(outputs: Array, cells: NDArray[np.intp], count: int, prior_rows: float = PRIOR_ROWS) -> Array:
    """Return (count, columns) means per cell, shrunk towards the mean of all rows.

    Args:
        outputs: (tasks, columns); NaN = not measured.
        cells: (tasks,) number of each task's cell, below `count`.
        count: cells.
        prior_rows: rows that the overall mean counts for.
    """
    observed = ~np.isnan(outputs)
    member = np.zeros((count, len(outputs)))
    member[cells, np.arange(len(outputs))] = 1.0
    totals, counts = member @ np.where(observed, outputs, 0.0), member @ observed
    return np.asarray((totals + prior_rows * column_means(outputs)) / (counts + prior_rows))


def by_pattern(outputs: Array) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.intp]]]:
    """Yield (rows, columns): columns that were measured on the same rows, so that they can be solved together."""
    observed = ~np.isnan(outputs)
    patterns, which = np.unique(observed, axis=1, return_inverse=True)
    for number in range(patterns.shape[1]):
        yield patterns[:, number], np.flatnonzero(which.ravel() == number)

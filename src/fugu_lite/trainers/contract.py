"""What a trainer is. It sees arrays and a head, never a router, a file or a worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fugu_lite.embeddings.contract import EmbedderSpec
from fugu_lite.errors import DataError, MismatchError
from fugu_lite.guard import Mode
from fugu_lite.heads import Head, HeadSpec, Labels, PolicyHead
from fugu_lite.heads.contract import kind_of
from fugu_lite.registry import Registry
from fugu_lite.runs import Reporter
from fugu_lite.specs import Spec

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TrainingSet:
    """Rows of one split, ready to train on.

    Attributes:
        features: (tasks, dimension), already normalised.
        rewards: (tasks, workers) utilities; NaN = missing, masked in every loss and metric.
        worker_ids: one per column.
        groups: unit of resampling per row; empty = every row by itself.
        targets: quality, cost_usd and latency_s where they were measured, (tasks, workers) each.
        domains: label per row, "" = none; empty when no row has one.
    """

    features: Array
    rewards: Array
    worker_ids: tuple[str, ...]
    groups: Sequence[str] = ()
    targets: Mapping[str, Array] = field(default_factory=dict)
    domains: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.features)

    @property
    def observed(self) -> NDArray[np.bool_]:
        """(tasks, workers): which rewards were measured."""
        return np.asarray(~np.isnan(self.rewards))

    @property
    def labels(self) -> Labels:
        """What a value head learns from these rows."""
        outputs = np.concatenate([self.rewards, *self.targets.values()], axis=1)
        return Labels(self.worker_ids, ("reward", *self.targets), outputs, self.domains)

    def rows(self, index: NDArray[Any]) -> TrainingSet:
        """Return some rows, by mask or position."""
        picked = np.flatnonzero(index) if index.dtype == bool else index
        return TrainingSet(
            self.features[picked],
            self.rewards[picked],
            self.worker_ids,
            [self.groups[int(i)] for i in picked] if self.groups else (),
            {name: values[picked] for name, values in self.targets.items()},
            tuple(self.domains[int(i)] for i in picked) if self.domains else (),
        )

    def joined(self, other: TrainingSet | None) -> TrainingSet:
        """Return these rows and the other's below them."""
        if other is None:
            return self
        shared = [name for name in self.targets if name in other.targets]
        named = bool(self.domains or other.domains)
        grouped = bool(self.groups) and bool(other.groups)
        return TrainingSet(
            np.concatenate([self.features, other.features]),
            np.concatenate([self.rewards, other.rewards]),
            self.worker_ids,
            [*self.groups, *other.groups] if grouped else (),
            {name: np.concatenate([self.targets[name], other.targets[name]]) for name in shared},
            (*(self.domains or ("",) * len(self)), *(other.domains or ("",) * len(other))) if named else (),
        )

    def usable(self, name: str) -> TrainingSet:
        """Return the rows in which at least one worker was measured.

        Args:
            name: what the rows are, for messages: `train`, `validation`.

        Raises:
            DataError: if no such row is left, or a feature or reward is infinite.
        """
        if np.isinf(self.rewards).any() or not np.isfinite(self.features).all():
            raise DataError(
                f"{name} rows", "a feature or reward is not a finite number", "embed again, or null the cell"
            )
        kept: NDArray[np.bool_] = np.asarray(self.observed.any(axis=1))
        if not kept.any():
            raise DataError(
                f"{name} rows", f"none of {len(self)} rows has a measured reward", "collect more, or check --split"
            )
        return self if kept.all() else self.rows(kept)


class TrainerSpec(Spec):
    """What all trainers share.

    Attributes:
        backbone: what turns texts into features; read by the pipeline, ignored by trainers.
        normalise: z-score the features with the training rows' mean and deviation; read by the pipeline as well.
        head: shape of a head trained from scratch; a checkpoint to start from decides it otherwise.
        guard: what the router does with texts unlike its training rows; read by the pipeline, as is `guard_quantile`.
        guard_quantile: share of validation rows that each measure of novelty lets pass.
        seed: seed of everything random in the run.
        seeds: how many seeds are trained; validation picks the one that is kept.
    """

    backbone: EmbedderSpec = EmbedderSpec()
    normalise: bool = True
    head: HeadSpec = HeadSpec()
    guard: Mode = "novelty"
    guard_quantile: float = Field(0.99, gt=0, le=1)
    seed: int = Field(42, ge=0)
    seeds: int = Field(1, ge=1, le=64)


@dataclass(frozen=True)
class FitResult:
    """What a trainer returns.

    Attributes:
        head: the kept head (best validation utility, the start included when there was one).
        history: one entry per recorded step of the kept seed: `step`, `train`, `validation` (greedy utilities) and the
            trainer's own numbers.
        validation_utility: greedy utility of the kept head on validation; None without validation rows.
        kept_step: step of `history` that was kept.
        record: what else the manifest should say of how the head came about.
    """

    head: Head
    history: list[dict[str, float | None]]
    validation_utility: float | None
    kept_step: int
    record: dict[str, Any] = field(default_factory=dict)


class Trainer(Protocol):
    """One method of fitting a head; built from its spec."""

    def fit(
        self,
        train: TrainingSet,
        validation: TrainingSet | None,
        start: Head | None,
        reporter: Reporter,
    ) -> FitResult:
        """Fit a head on `train`, choosing among steps and seeds by `validation`.

        Args:
            train: rows to learn from.
            validation: rows that choose; None keeps the last step.
            start: head to start from; None starts from scratch.
            reporter: told every recorded step.
        """
        ...


def greedy_utility(scores: NDArray[Any], rewards: Array) -> float:
    """Return the mean reward of picking the highest score per row among observed workers.

    A worker whose reward is missing in a row cannot be picked there: it is masked, not scored 0. Rows without any
    reward are left out; NaN when none is left.
    """
    observed = ~np.isnan(rewards)
    if observed.size and observed.all():  # the usual case, in a quarter of the time: evolution asks thousands of times
        picked = scores.argmax(axis=1)
        return float(rewards[np.arange(len(picked)), picked].mean())
    kept = observed.any(axis=1)
    if not kept.any():
        return float("nan")
    picked = np.where(observed, scores, -np.inf)[kept].argmax(axis=1)
    return float(rewards[kept, :][np.arange(len(picked)), picked].mean())


def starting_head(
    spec: HeadSpec, train: TrainingSet, start: Head | None, rng: np.random.Generator, trainer: str
) -> PolicyHead:
    """Return the head to train: `start` after checking that it fits, or a new one.

    Raises:
        MismatchError: if `start` has other workers or another input size, or is no policy head.
    """
    dimension = train.features.shape[1]
    kind = kind_of(spec) if start is None else type(start)
    if not issubclass(kind, PolicyHead):
        raise MismatchError(trainer, f"head kind {kind.kind!r} predicts values, not a policy", "use linear or mlp")
    head = start if isinstance(start, PolicyHead) else kind.initial(spec, dimension, train.worker_ids, rng)
    if head.worker_ids != train.worker_ids:
        raise MismatchError(
            trainer,
            f"the head's workers {list(head.worker_ids)} differ from the matrix columns {list(train.worker_ids)}",
            "select the same workers in the same order",
        )
    inputs = len(head.parameters.get("W1", head.parameters["W"]))
    if inputs != dimension:
        raise MismatchError(
            trainer, f"the head takes {inputs} features, these rows have {dimension}", "use the head's own backbone"
        )
    return head


registry: Registry[type[Trainer]] = Registry(
    "trainer",
    {
        "sft": "fugu_lite.trainers.sft:SftTrainer",
        "bandit": "fugu_lite.trainers.bandit:BanditTrainer",
        "es": "fugu_lite.trainers.es:EsTrainer",
        "values": "fugu_lite.trainers.values:ValueTrainer",
    },
    "fugu_lite.trainers",
)

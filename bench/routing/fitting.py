"""Every family fitted the same way: settings chosen inside the fitted rows, a guard beside it, picks on the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.routing.data import Matrix
from fugu_lite.embeddings.normalise import Normaliser
from fugu_lite.guard import Guard
from fugu_lite.heads import Head, HeadSpec, ValueHeadSpec
from fugu_lite.heads.values import value_kind
from fugu_lite.runs import Silent
from fugu_lite.trainers import TrainerSpec
from fugu_lite.trainers.contract import Array, TrainingSet
from fugu_lite.trainers.crossfit import folds_of
from fugu_lite.trainers.sft import SftSpec
from fugu_lite.trainers.train import method_of
from fugu_lite.trainers.values import ValueSpec

SEED = 42
HELD = 5  # one part in five stops gradient training early and sets the guard's thresholds
QUANTILE = 0.99


def value(type: str, domain: str = "predicted") -> ValueSpec:
    """Return a family of values whose open settings the fitted rows choose."""
    return ValueSpec(head=ValueHeadSpec.parse({"type": type, "domain": domain}))


FAMILIES: dict[str, TrainerSpec] = {
    "table": value("table"),
    "cluster": value("cluster"),
    "knn": value("knn"),
    "ridge": value("ridge"),
    "logistic": value("logistic"),
    "residual": value("residual"),
    "linear": SftSpec(),
    "mlp": SftSpec(head=HeadSpec(type="mlp", head_hidden_dim=64), epochs=60),
    "average": value("average"),
}
LABEL_TABLE = "table, label given"


@dataclass(frozen=True)
class Fitted:
    """A head, what guards it, and the fixed worker chosen on the same rows.

    Attributes:
        best: column of the best fixed worker.
        rows: the fitted rows, for whoever fits something beside it.
    """

    head: Head
    guard: Guard
    normaliser: Normaliser
    best: int
    rows: TrainingSet

    def picks(self, features: Array, domains: tuple[str, ...] | None = None) -> NDArray[np.intp]:
        """Return (texts,) the head's own choice; raw features in."""
        return self.head.scores(self.normalised(features), domains).argmax(axis=1)

    def guarded(self, features: Array, picks: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the picks with unfamiliar texts sent to the best fixed worker."""
        return np.where(self.guard.novelty(self.normalised(features)) > 1, self.best, picks)

    def normalised(self, features: Array) -> Array:
        """Return z-scores."""
        return self.normaliser.apply(features).astype(np.float64)


def fit(spec: TrainerSpec, matrix: Matrix, features: Array, index: NDArray[np.intp], guard: Guard | None) -> Fitted:
    """Fit a family on some rows; `guard` is taken over from another family on the same rows, None fits it."""
    normaliser = Normaliser.fit(features[index].astype(np.float32))
    rows = matrix.training_set(features, index, normaliser)
    fold = folds_of(len(rows), rows.groups, HELD, np.random.default_rng(SEED))
    train, held = rows.rows(fold != 0), rows.rows(fold == 0)
    _, trainer = method_of(spec)
    head = trainer.fit(train, held, None, Silent()).head
    if guard is None:
        known, asked = (train.features, train.domains), (held.features, held.domains)
        guard = Guard.fit("novelty", QUANTILE, known, asked, np.random.default_rng(SEED))
    return Fitted(head, guard, normaliser, int(rows.rewards.mean(axis=0).argmax()), rows)


def label_table(matrix: Matrix, index: NDArray[np.intp], asked: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return (asked,) picks of the table that is given the label: the baseline to beat, with what it needs."""
    features = np.zeros((len(matrix), 1))
    spec = ValueHeadSpec(type="table", domain="given", soft=False)
    rows = matrix.training_set(features, index, Normaliser.identity(1))
    head = value_kind(spec).fit(spec, rows.features, rows.labels, np.random.default_rng(SEED))
    return head.scores(features[asked], tuple(matrix.domains[i] for i in asked)).argmax(axis=1)

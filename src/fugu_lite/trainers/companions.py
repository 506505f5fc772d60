"""What a checkpoint carries beside its head: the guard, a value model for the cost dial, and the measured curve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fugu_lite.checkpoints.manifest import CurvePoint, Manifest
from fugu_lite.errors import DataError
from fugu_lite.guard import Guard
from fugu_lite.heads import Head, ValueHead, ValueHeadSpec
from fugu_lite.heads.contract import Array
from fugu_lite.heads.values import value_kind
from fugu_lite.router import dialled
from fugu_lite.runs import Reporter
from fugu_lite.trainers.contract import TrainerSpec, TrainingSet
from fugu_lite.trainers.crossfit import folds_of, held_out
from fugu_lite.workers import UtilitySpec

AUXILIARY = ValueHeadSpec(type="ridge", penalty=3.0)
COST_WEIGHTS = (0.0, *(float(w) for w in np.round(np.geomspace(0.01, 10.0, 19), 6)))
FOLDS = 3


@dataclass(frozen=True)
class Companions:
    """Guard, value model and curve of one head.

    Attributes:
        guard: fitted on the training rows, thresholds on validation.
        values: None for a value head, which is its own value model.
        curve: empty where quality or cost was not measured.
    """

    guard: Guard
    values: ValueHead | None
    curve: tuple[CurvePoint, ...]

    def recorded(self, manifest: Manifest) -> Manifest:
        """Return the manifest with them in it."""
        spec = self.values.spec if self.values is not None else None
        return manifest.model_copy(update={"guard": self.guard.entry, "values": spec, "curve": self.curve})


def of(
    spec: TrainerSpec,
    head: Head,
    train: TrainingSet,
    validation: TrainingSet | None,
    utility: UtilitySpec | None,
    reporter: Reporter,
) -> Companions:
    """Fit them.

    Args:
        spec: the guard's settings and the seed.
        head: the trained head.
        train: the rows it learned from.
        validation: rows that chose among its settings; None = there were none.
        utility: scales of cost and latency; None takes the defaults.
        reporter: told what was left out.
    """
    rng = np.random.default_rng(spec.seed)
    known = train.features, train.domains or ("",) * len(train)
    asked = None if validation is None else (validation.features, validation.domains)
    guard = Guard.fit(spec.guard, spec.guard_quantile, known, asked, rng)
    rows = train.joined(validation).usable("train and validation")
    values = None if isinstance(head, ValueHead) else _auxiliary(rows, rng, reporter)
    family = head.spec if isinstance(head, ValueHead) else AUXILIARY
    return Companions(guard, values, measured_curve(family, rows, utility or UtilitySpec(), spec.seed))


def _auxiliary(rows: TrainingSet, rng: np.random.Generator, reporter: Reporter) -> ValueHead | None:
    try:
        return value_kind(AUXILIARY).fit(AUXILIARY, rows.features, rows.labels, rng)
    except (DataError, np.linalg.LinAlgError) as error:
        reporter.log(f"no value model beside the policy: {error}")
        return None


def measured_curve(spec: ValueHeadSpec, rows: TrainingSet, scales: UtilitySpec, seed: int) -> tuple[CurvePoint, ...]:
    """Return mean quality and cost of the picks at each cost weight, every row by a fit that did not see it.

    Args:
        spec: a value family with its settings chosen.
        rows: with quality and cost_usd among their targets; else the curve is empty.
        scales: cost and latency scales of the utility.
        seed: of the folds.
    """
    if not {"quality", "cost_usd"} <= rows.targets.keys() or len(rows) < 2 * FOLDS:
        return ()
    quality, cost = rows.targets["quality"], rows.targets["cost_usd"]
    fold = folds_of(len(rows), rows.groups, FOLDS, np.random.default_rng(seed))
    dials = [scales.model_copy(update={"cost_weight": weight, "latency_weight": 0.0}) for weight in COST_WEIGHTS]
    picks = np.zeros((len(dials), len(rows)), dtype=np.intp)
    for fitted, asked in held_out(fold):
        if not len(fitted):
            return ()
        part = rows.rows(fitted)
        head = value_kind(spec).fit(spec, part.features, part.labels, np.random.default_rng(seed))
        for i, dial in enumerate(dials):
            picks[i, asked] = dialled(head, dial, rows.features[asked]).argmax(axis=1)
    points = [_point(weight, row, quality, cost) for weight, row in zip(COST_WEIGHTS, picks, strict=True)]
    return tuple(point for point in points if point is not None)


def _point(
    weight: float, picks: np.ndarray[tuple[int], np.dtype[np.intp]], quality: Array, cost: Array
) -> CurvePoint | None:
    got, paid = (values[np.arange(len(picks)), picks] for values in (quality, cost))
    kept = ~(np.isnan(got) | np.isnan(paid))
    if not kept.any():
        return None
    return CurvePoint(cost_weight=weight, quality=float(got[kept].mean()), cost_usd=float(paid[kept].mean()))

"""`train-auto`: a hierarchy of policies in which complexity has to earn its place.

Layers are tried in an order fixed beforehand, from the best fixed worker upwards. Each is judged by cross-fitting over
train and validation rows and admitted only if its paired interval over the layer below clears 0, with the level shared
among all layers tried. One small validation split cannot separate layers; staying at a low one is a normal outcome.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from fugu_lite.errors import InputError, MismatchError
from fugu_lite.heads import Head, HeadSpec, ValueHeadSpec
from fugu_lite.heads.contract import Array
from fugu_lite.intervals import Interval, paired_bootstrap
from fugu_lite.runs import Reporter, Silent
from fugu_lite.trainers import TrainerSpec
from fugu_lite.trainers.bandit import BanditSpec
from fugu_lite.trainers.contract import FitResult, TrainingSet
from fugu_lite.trainers.crossfit import folds_of, held_out
from fugu_lite.trainers.train import method_of
from fugu_lite.trainers.values import ValueSpec

LEVEL = 0.95
DRAWS = 2000
INNER_FOLDS = 5  # one of them stops the gradient trainers early
NEEDS_DOMAINS = ("table", "residual")


def layers(domain: str = "predicted") -> dict[str, TrainerSpec]:
    """Return the layers in the order in which they are tried; a table's domain is `predicted` or `given`."""
    families = ("fixed", "table", "cluster", "knn", "ridge", "logistic", "residual")
    values: dict[str, TrainerSpec] = {
        name: ValueSpec(head=ValueHeadSpec.parse({"type": name, "domain": domain})) for name in families
    }
    policies: dict[str, TrainerSpec] = {
        "linear": BanditSpec(estimator="expected_reward", l2=0.001),
        "mlp": BanditSpec(estimator="expected_reward", head=HeadSpec(type="mlp", head_hidden_dim=64), seeds=3),
    }
    average: dict[str, TrainerSpec] = {"average": ValueSpec(head=ValueHeadSpec.parse({"domain": domain}))}
    return {**values, **policies, **average}


@dataclass(frozen=True)
class Step:
    """One layer, tried.

    Attributes:
        name: of the layer.
        utility: cross-fitted mean reward.
        over: name of the admitted layer below it; None for the first.
        gain: paired interval over that layer, at the shared level; None for the first.
        admitted: whether it became the layer to beat.
        why: in words.
    """

    name: str
    utility: float
    over: str | None
    gain: Interval | None
    admitted: bool
    why: str

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        gain = self.gain
        return {
            "layer": self.name,
            "utility": self.utility,
            "over": self.over,
            "gain": None if gain is None else gain.mean,
            "gain_low": None if gain is None or np.isnan(gain.low) else gain.low,
            "gain_high": None if gain is None or np.isnan(gain.high) else gain.high,
            "admitted": self.admitted,
            "why": self.why,
        }


@dataclass(frozen=True)
class Selection:
    """The outcome of a walk.

    Attributes:
        chosen: name of the last admitted layer.
        spec: how to train it.
        steps: every layer tried, in order.
        level: of each interval, so that all of them together err at most 5 % of the time.
        folds: of the cross-fitting.
        skipped: layers left out, and why.
    """

    chosen: str
    spec: TrainerSpec
    steps: tuple[Step, ...]
    level: float
    folds: int
    skipped: Mapping[str, str]

    def to_json(self, method: str) -> dict[str, Any]:
        """Return a JSON object; `method` names the trainer of the chosen layer."""
        return {
            "chosen": self.chosen,
            "method": method,
            "spec": self.spec.model_dump(mode="json", exclude={"backbone"}),
            "stopped": self.stopped,
            "level": self.level,
            "folds": self.folds,
            "skipped": dict(self.skipped),
            "layers": [step.to_json() for step in self.steps],
        }

    @property
    def stopped(self) -> str:
        """Why no layer above the chosen one was taken, in words."""
        above = [step.name for step in self.steps[[step.name for step in self.steps].index(self.chosen) + 1 :]]
        if not above:
            return f"{self.chosen} is the last layer"
        return f"no layer above {self.chosen} clears it: {', '.join(above)}"


class AutoSpec(TrainerSpec):
    """Settings of the walk; those of each layer are fixed beforehand, see `layers`.

    Attributes:
        folds: of the cross-fitting over train and validation rows.
        domain: of the layers built on a table: `predicted` from the text, or `given` with the request.
    """

    folds: int = Field(5, ge=2, le=20)
    domain: Literal["predicted", "given"] = "predicted"


class AutoTrainer:
    """Walks the layers, then fits the one that was admitted last on all rows."""

    name = "train-auto"
    spec_class: ClassVar[type[AutoSpec]] = AutoSpec

    def __init__(self, spec: AutoSpec) -> None:
        self.spec = spec

    def fit(
        self, train: TrainingSet, validation: TrainingSet | None, start: Head | None, reporter: Reporter
    ) -> FitResult:
        """Fit a head; see `Trainer.fit`. The record holds every layer tried.

        Raises:
            MismatchError: for a start head, or settings of a head or of seeds, which the layers fix.
        """
        if start is not None:
            raise MismatchError(self.name, "walks from the best fixed worker upwards", "leave --checkpoint out")
        if self.spec.head != HeadSpec() or self.spec.seeds != 1:
            fix = "leave head and seeds out, or train one family with train-value, train-sft or train-rl"
            raise MismatchError(self.name, "every layer brings its own head and seeds", fix)
        rows = train.joined(validation)
        tried = layers(self.spec.domain)
        found = select(rows, tried, folds=self.spec.folds, seed=self.spec.seed, reporter=reporter)
        reporter.log(f"chosen: {found.chosen}; {found.stopped}")
        method, trainer = method_of(found.spec.model_copy(update={"seed": self.spec.seed}))
        fit = trainer.fit(train, validation, None, reporter)
        return replace(fit, record={"selection": found.to_json(method)})


def select(
    rows: TrainingSet,
    specs: Mapping[str, TrainerSpec],
    *,
    folds: int = 5,
    seed: int = 42,
    reporter: Reporter | None = None,
) -> Selection:
    """Walk the layers.

    Args:
        rows: train and validation rows together.
        specs: layers in order; the first is the floor and needs no proof.
        folds: of the cross-fitting.
        seed: of folds, trainers and bootstrap.
        reporter: told each layer.

    Raises:
        InputError: if there are fewer than two groups of rows, or no layer.
    """
    reporter = reporter or Silent()
    rows = rows.usable("train and validation")
    fold = folds_of(len(rows), rows.groups, folds, np.random.default_rng(seed))
    if fold.max() < 1 or not specs:
        raise InputError("rows", "cannot be cross-fitted: there is one group of rows", "collect more tasks")
    unlabelled = not any(rows.domains)
    skipped = {n: "no row has a domain" for n in specs if unlabelled and n in NEEDS_DOMAINS}
    tried = {name: spec for name, spec in specs.items() if name not in skipped}
    level = 1 - (1 - LEVEL) / max(1, len(tried) - 1)
    steps: list[Step] = []
    best, held = "", np.zeros(len(rows))
    for number, (name, spec) in enumerate(tried.items()):
        got = outcomes(cross_fitted(spec, rows, fold, seed), rows.rewards)
        step = _judged(name, got, best, held, rows.groups, level, seed)
        steps.append(step)
        if step.admitted:
            best, held = name, got
        reporter.log(f"{name}: {step.utility:.4f}, {step.why}")
        reporter.progress("layers", number + 1, len(tried))
    return Selection(best, tried[best], tuple(steps), level, int(fold.max()) + 1, skipped)


def cross_fitted(spec: TrainerSpec, rows: TrainingSet, fold: np.ndarray[Any, np.dtype[np.intp]], seed: int) -> Array:
    """Return (tasks, workers) scores, each row by a head that saw neither it nor its group."""
    _, trainer = method_of(spec.model_copy(update={"seed": seed}))
    scores = np.zeros(rows.rewards.shape)
    for fitted, asked in held_out(fold):
        part, held = rows.rows(fitted), rows.rows(asked)
        inner = folds_of(len(part), part.groups, INNER_FOLDS, np.random.default_rng(seed))
        validation = None if inner.max() < 1 else part.rows(inner == 0)
        head = trainer.fit(part.rows(inner != 0) if validation else part, validation, None, Silent()).head
        scores[asked] = head.scores(held.features, held.domains or None)
    return scores


def outcomes(scores: Array, rewards: Array) -> Array:
    """Return (tasks,) rewards of the greedy picks among measured workers."""
    masked = np.where(np.isnan(rewards), -np.inf, scores)
    return np.asarray(rewards[np.arange(len(rewards)), masked.argmax(axis=1)])


def _judged(name: str, got: Array, below: str, held: Array, groups: Sequence[str], level: float, seed: int) -> Step:
    if not below:
        return Step(name, float(got.mean()), None, None, True, "the floor")
    rng = np.random.default_rng(seed)
    gain = paired_bootstrap(got - held, groups or None, rng, DRAWS, level)
    shown = f"{gain.mean:+.4f} [{gain.low:+.4f}, {gain.high:+.4f}] over {below}"
    if gain.verdict == "better":
        return Step(name, float(got.mean()), below, gain, True, f"admitted: {shown}")
    reason = "worse" if gain.verdict == "worse" else "not shown to be better"
    return Step(name, float(got.mean()), below, gain, False, f"{reason}: {shown}")

"""`train-value`: fit a family of values; its settings are chosen by cross-fitted reward, not by squared error."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from fugu_lite.errors import MismatchError
from fugu_lite.heads import Head, ValueHeadSpec
from fugu_lite.heads.average import members_of
from fugu_lite.heads.contract import Array
from fugu_lite.heads.values import value_kind
from fugu_lite.runs import Reporter
from fugu_lite.trainers.contract import FitResult, TrainerSpec, TrainingSet, greedy_utility
from fugu_lite.trainers.crossfit import folds_of, held_out

FEWEST_ROWS = 10  # below, nothing is chosen: the most cautious settings are taken


class ValueSpec(TrainerSpec):
    """Fitting of a value head.

    Attributes:
        head: its family: `fixed`, `table`, `cluster`, `knn`, `ridge`, `logistic`, `residual` or `average`; settings
            that are null are chosen.
        folds: parts of the train and validation rows for choosing; the head is then fitted on all of them.
    """

    head: ValueHeadSpec = ValueHeadSpec(type="average")
    folds: int = Field(3, ge=2, le=20)


class ValueTrainer:
    """Chooses the settings of a family by cross-fitting over train and validation rows, then fits on all of them.

    Few rows decide little: splitting off a validation part to choose by, and throwing it away when fitting, costs more
    than it protects. Every row is judged by a fit that did not see its group.
    """

    name = "train-value"
    spec_class: ClassVar[type[ValueSpec]] = ValueSpec

    def __init__(self, spec: ValueSpec) -> None:
        self.spec = spec

    def fit(
        self, train: TrainingSet, validation: TrainingSet | None, start: Head | None, reporter: Reporter
    ) -> FitResult:
        """Fit a head; see `Trainer.fit`. The validation utility is the cross-fitted one of the validation rows.

        Raises:
            MismatchError: for a start head: these families are fitted from scratch; or for a policy kind.
        """
        if start is not None:
            raise MismatchError(self.name, "a value head is fitted from scratch", "leave --checkpoint out")
        if self.spec.seeds != 1:
            raise MismatchError(self.name, "has no use for seeds", "set head.seeds for the clusterings of `cluster`")
        value_kind(self.spec.head)
        train = train.usable("train")
        rows = train.joined(validation.usable("validation") if validation is not None else None)
        rng = np.random.default_rng(self.spec.seed)
        chosen, history = self._chosen(self.spec.head, rows, rng, reporter)
        scores = self._cross_fitted(chosen, rows, rng)
        judged = slice(len(train), None) if validation is not None else slice(None)
        utility = greedy_utility(scores[judged], rows.rewards[judged]) if validation is not None else None
        head = value_kind(chosen).fit(chosen, rows.features, rows.labels, rng)
        fitted = greedy_utility(head.scores(rows.features, rows.domains or None), rows.rewards)
        history.append({"step": float(len(history)), "train": fitted, "validation": utility})
        return FitResult(head, history, utility, len(history) - 1)

    def _chosen(
        self, spec: ValueHeadSpec, rows: TrainingSet, rng: np.random.Generator, reporter: Reporter
    ) -> tuple[ValueHeadSpec, list[dict[str, float | None]]]:
        """Return the spec with every open setting chosen, members first, and what was tried."""
        history: list[dict[str, float | None]] = []
        if spec.type == "average":
            parts = []
            for member in members_of(spec, rows.labels):
                part, tried = self._chosen(member, rows, rng, reporter)
                parts.append(part)
                history += [{**entry, "step": float(len(history) + i)} for i, entry in enumerate(tried)]
            return spec.model_copy(update={"members": tuple(parts)}), history
        candidates = value_kind(spec).candidates(spec, len(rows))
        if len(candidates) == 1 or len(rows) < FEWEST_ROWS:
            return candidates[0], history
        found = []
        for number, candidate in enumerate(candidates):
            utility = greedy_utility(self._cross_fitted(candidate, rows, rng), rows.rewards)
            found.append(utility)
            history.append({"step": float(number), "train": None, "validation": utility})
            reporter.progress(f"choose {spec.type}", number + 1, len(candidates))
        best = int(np.argmax(found))  # the first of equals: candidates come most cautious first
        return candidates[best], history

    def _cross_fitted(self, spec: ValueHeadSpec, rows: TrainingSet, rng: np.random.Generator) -> Array:
        """Return (tasks, workers) predicted rewards, each row by a fit without its fold."""
        fold = folds_of(len(rows), rows.groups, self.spec.folds, np.random.default_rng(self.spec.seed))
        scores = np.zeros(rows.rewards.shape)
        for fitted, asked in held_out(fold):
            if not len(fitted):  # a single group: nothing can be held out
                fitted = asked
            part, held = rows.rows(fitted), rows.rows(asked)
            head = value_kind(spec).fit(spec, part.features, part.labels, rng)
            scores[asked] = head.scores(held.features, held.domains or None)
        return scores

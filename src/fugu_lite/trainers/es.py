"""`train-es`: separable CMA-ES on the last linear layer, from features computed once.

Source: Ros and Hansen 2008 (sep-CMA-ES), as `cmaes.SepCMA`; the set-up follows the Fugu-Lite README and the router-head
model card: sigma0 0.5, 60 generations, seed 42, W then b in one vector, the distribution mean kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from cmaes import SepCMA
from numpy.typing import NDArray
from pydantic import Field, model_validator

from fugu_lite.errors import SpecError
from fugu_lite.heads import Head, PolicyHead
from fugu_lite.runs import Reporter
from fugu_lite.trainers import es_state
from fugu_lite.trainers.contract import Array, FitResult, TrainerSpec, TrainingSet, greedy_utility, starting_head
from fugu_lite.trainers.objectives import Objective
from fugu_lite.trainers.objectives import registry as objectives

CELLS = 1 << 24  # scores held at once: 64 MiB of float32, whatever the number of rows and candidates
Entry = dict[str, float | None]


class EsSpec(TrainerSpec):
    """Evolution of the last layer.

    Attributes:
        sigma0: first step size, where the weights have a standard deviation near 1.
        generations: how many populations are tried.
        population: candidates per generation; null = 4 + floor(3 ln n) for n parameters.
        objective: what is maximised on the training rows: `mean_reward`, `soft_reward`, `worst_group`, or another
            registered name.
        l2: penalty on the mean squared parameter; 0 = none (the greedy choice does not depend on scale).
        patience: generations without a better validation before a seed stops; null = never.
        state: file that holds the search after every generation; null = none.
        resume: continue from `state` where it exists; the numbers are those of an uninterrupted run.
    """

    sigma0: float = Field(0.5, gt=0)
    generations: int = Field(60, ge=1)
    population: int | None = Field(None, ge=2)
    objective: str = "mean_reward"
    l2: float = Field(0.0, ge=0)
    patience: int | None = Field(None, ge=1)
    state: str | None = None
    resume: bool = False

    @model_validator(mode="after")
    def _resumable(self) -> Self:
        if self.resume and self.state is None:
            raise ValueError("resume needs state: the file in which an earlier run kept its search")
        return self


@dataclass(frozen=True)
class Problem:
    """Rows ready for evolution.

    Attributes:
        hidden: (tasks, inputs) float32, inputs of the last layer.
        rewards: (tasks, workers), NaN = missing.
        objective: goal, larger is better.
    """

    hidden: NDArray[np.float32]
    rewards: Array
    objective: Objective

    def values(self, candidates: Array) -> Array:
        """Return the goal of every candidate, (candidates,), by one matrix product per chunk of bounded memory.

        Args:
            candidates: (candidates, inputs * workers + workers), W then b.
        """
        workers = self.rewards.shape[1]
        size = max(1, CELLS // self.rewards.size)
        chunks = (candidates[i : i + size] for i in range(0, len(candidates), size))
        values = np.array([value for chunk in chunks for value in self._chunk(chunk, workers)])
        if not np.isfinite(values).all():
            raise SpecError(
                "objective", "returned a value that is not a finite number", "make it finite for any scores"
            )
        return values

    def _chunk(self, candidates: Array, workers: int) -> list[float]:
        weights, bias = unflatten(candidates.astype(np.float32), workers)
        stacked = weights.transpose(1, 0, 2).reshape(self.hidden.shape[1], -1)
        scores = (self.hidden @ stacked).reshape(len(self.hidden), len(candidates), workers)
        scores += bias
        return [self.objective(scores[:, i], self.rewards) for i in range(len(candidates))]

    def utility(self, candidate: Array) -> tuple[float, float]:
        """Return (goal, greedy utility) of one candidate."""
        weights, bias = unflatten(candidate[None].astype(np.float32), self.rewards.shape[1])
        scores = self.hidden @ weights[0] + bias[0]
        return self.objective(scores, self.rewards), greedy_utility(scores, self.rewards)


def unflatten(vectors: NDArray[Any], workers: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Split (candidates, n) vectors into W (candidates, inputs, workers) and b (candidates, workers)."""
    return vectors[:, :-workers].reshape(len(vectors), -1, workers), vectors[:, -workers:]


def flatten(head: PolicyHead) -> Array:
    """Return the last layer as one vector: W row by row, then b, as the router-head layout stores it."""
    parts = [np.asarray(head.parameters[name], dtype=np.float64).ravel() for name in ("W", "b")]
    return np.concatenate(parts)


class EsTrainer:
    """Evolves the last layer of a head and keeps the distribution's mean of the generation that validates best.

    The best *sample* of a generation is the luckiest of many looks at the same rows; the mean is not. A warm start
    is first scaled to a standard deviation of 1 (the greedy choice has no scale, `sigma0` does) and back at the end.
    """

    name = "train-es"
    spec_class: ClassVar[type[TrainerSpec]] = EsSpec

    def __init__(self, spec: EsSpec) -> None:
        self.spec = spec

    def fit(
        self, train: TrainingSet, validation: TrainingSet | None, start: Head | None, reporter: Reporter
    ) -> FitResult:
        """Fit a head; see `Trainer.fit`."""
        train = train.usable("train")
        checked = validation.usable("validation") if validation is not None else None
        seeds = range(self.spec.seed, self.spec.seed + self.spec.seeds)
        runs = [self._seed(seed, train, checked, start, reporter) for seed in seeds]
        return max(runs, key=lambda run: run[0])[1]

    def _seed(
        self, seed: int, train: TrainingSet, validation: TrainingSet | None, start: Head | None, reporter: Reporter
    ) -> tuple[es_state.Key, FitResult]:
        """Evolve one seed."""
        head = starting_head(self.spec.head, train, start, np.random.default_rng(seed), self.name)
        objective = objectives.get(self.spec.objective, self.name)
        problems = [
            Problem(head.hidden(rows.features).astype(np.float32), rows.rewards, objective)
            for rows in (train, validation)
            if rows is not None
        ]
        origin, scale = scaled(flatten(head))
        if scale != 1.0:
            reporter.log(f"start scaled by {1 / scale:.4g}, so that sigma0 {self.spec.sigma0} fits its weights")
        search = Search(self.spec, seed, origin, problems[0], problems[1] if len(problems) > 1 else None, reporter)
        search.run(
            start is not None, self._state_path(seed), es_state.fingerprint(self.spec, seed, train, validation, head)
        )
        weights, bias = unflatten(search.kept_mean[None] * scale, len(train.worker_ids))
        kept = search.history[search.kept_step]
        fitted = head if search.kept_step == 0 else head.with_last_layer(weights[0], bias[0])
        return search.key, FitResult(fitted, search.history, kept["validation"], search.kept_step)

    def _state_path(self, seed: int) -> Path | None:
        """Return the file of one seed: the first uses the given name, the others add their number."""
        if self.spec.state is None:
            return None
        path = Path(self.spec.state)
        return path if seed == self.spec.seed else path.with_name(f"{path.stem}-seed{seed}{path.suffix}")


def scaled(vector: Array) -> tuple[Array, float]:
    """Return the vector at unit standard deviation, and the factor that undoes it; zeros stay zeros."""
    scale = float(vector.std())
    return (vector / scale, scale) if scale > 0 else (vector, 1.0)


class Search:
    """One seed of the evolution: optimiser, curve and best generation."""

    def __init__(
        self, spec: EsSpec, seed: int, origin: Array, train: Problem, validation: Problem | None, reporter: Reporter
    ) -> None:
        self.spec, self.seed, self.train, self.validation, self.reporter = spec, seed, train, validation, reporter
        # SepCMA moves its mean in place: give it a copy.
        self.optimiser = SepCMA(mean=origin.copy(), sigma=spec.sigma0, population_size=spec.population, seed=seed)
        self.history: list[Entry] = []
        self.key: es_state.Key = (-np.inf, -np.inf)
        self.kept_step, self.kept_mean = 0, origin.copy()

    def run(self, warm: bool, path: Path | None, fingerprint: str) -> None:
        """Evolve to the last generation, saving the state after each, or to the end of patience."""
        if not (path is not None and self.spec.resume and path.exists()):
            self._record(None, competes=warm)
        else:
            es_state.load(self, path, fingerprint)
        while len(self.history) <= self.spec.generations and not self._tired():
            best = self._generation()
            self._record(best, competes=True)
            if path is not None:
                es_state.save(self, path, fingerprint)

    def _generation(self) -> float:
        """Ask, evaluate, tell. Return the best sample's goal."""
        # A pickled or restored SepCMA has lost its random state; a seed per generation makes resume exact.
        step = np.random.SeedSequence([self.seed, self.optimiser.generation])
        self.optimiser.reseed_rng(int(step.generate_state(1)[0]))
        candidates = np.array([self.optimiser.ask() for _ in range(self.optimiser.population_size)])
        values = self.train.values(candidates)
        penalties = self.spec.l2 * (candidates**2).mean(axis=1)
        # SepCMA minimises, and sorts the list that it is given.
        self.optimiser.tell([(c, float(p - v)) for c, v, p in zip(candidates, values, penalties, strict=True)])
        return float(values.max())

    def _record(self, best: float | None, competes: bool) -> None:
        """Judge the mean on both splits, add it to the curve and keep it when it is the best so far."""
        mean = self.optimiser.mean
        goal, utility = self.train.utility(mean)
        held_goal, held_utility = self.validation.utility(mean) if self.validation is not None else (None, None)
        step = len(self.history)
        # The goal itself chooses, so that `worst_group` is not undone by choosing on the mean; train fit breaks ties.
        key = (held_goal, goal) if held_goal is not None else (float(step), goal)
        if competes and key > self.key:
            self.key, self.kept_step, self.kept_mean = key, step, mean.copy()
        numbers = {
            "train": utility,
            "validation": held_utility,
            "train_objective": goal,
            "validation_objective": held_goal,
        }
        extra = {"best_sample": best, "sigma": float(self.optimiser._sigma)}
        self.history.append({"step": step, **numbers, **extra})
        self.reporter.metric(step, **numbers, **extra, seed=self.seed)
        self.reporter.progress(EsTrainer.name, step, self.spec.generations, seed=self.seed)

    def _tired(self) -> bool:
        patience, step = self.spec.patience, len(self.history) - 1
        return self.validation is not None and patience is not None and step - self.kept_step >= patience

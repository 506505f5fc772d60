"""The gate: before anything is trained, can choosing a worker per task pay at all?

The verdict comes from one interval alone: of what a choice per task can gain over the best fixed worker, as far as
these rows show it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from fugu_lite.embeddings import EmbedderSpec
from fugu_lite.embeddings.contract import build
from fugu_lite.errors import DataError
from fugu_lite.heads import ValueHeadSpec
from fugu_lite.heads.values import Labels, value_kind
from fugu_lite.rewards import RewardMatrix
from fugu_lite.rewards.fixed import fixed_utilities
from fugu_lite.rewards.headroom import (
    Array,
    Gain,
    crossfitted_oracle,
    gain_over_best_fixed,
    losses_without,
    mean_over_repetitions,
    naive_oracle,
)
from fugu_lite.rewards.utility import best_workers

Verdict = Literal["GO", "WEAK", "STOP", "UNKNOWN"]
WORTH = 0.01  # smallest gain worth having, in points of utility
FEWEST_TASKS, WIDEST = 100, 0.2
FEWEST_GROUPS = 20
LEVEL, POWER = 0.95, 0.8
FOLDS = 10
POLICIES = {
    "domain table": ValueHeadSpec(type="table", domain="given", soft=False),
    "kNN": ValueHeadSpec(type="knn", neighbours=40),
}


@dataclass(frozen=True)
class WorkerLine:
    """One worker on the rows judged; None = not known.

    Attributes:
        utility: of always calling it, comparable between workers.
        quality, cost_usd: means; latencies are quantiles in seconds.
        unique_wins: rows on which it alone is best.
        loss_without: how much the mean oracle falls without it; about 0 = not missed.
    """

    worker: str
    utility: float | None
    quality: float | None
    cost_usd: float | None
    latency_p50_s: float | None
    latency_p95_s: float | None
    unique_wins: int
    loss_without: float | None


@dataclass(frozen=True)
class Gate:
    """What the rows say about routing.

    Attributes:
        verdict: GO, WEAK, STOP or UNKNOWN; `why` in words.
        achievable: the gain that decides, with its interval; its name says what was measured.
        others: gains that do not decide.
        best_fixed, best_fixed_utility, random_utility, oracle_utility: baselines; the oracle is the naive one.
        repetitions: answers per cell behind the figures.
        all_equal, unique_winner: shares of rows.
        error_reduction: achievable gain over 1 - best fixed; None where the best fixed worker makes no error.
        rows_needed: held-out rows that show a gain of this size in four of five tries; None without a gain.
        rows_cost_usd: what measuring them costs with every worker; None where a price is not known.
        notes: what was left out, and warnings.
    """

    verdict: Verdict
    why: str
    worth: float
    n: int
    achievable: Gain
    others: tuple[Gain, ...]
    best_fixed: str
    best_fixed_utility: float
    random_utility: float
    oracle_utility: float
    repetitions: int
    all_equal: float
    unique_winner: float
    error_reduction: float | None
    rows_needed: int | None
    rows_cost_usd: float | None
    workers: tuple[WorkerLine, ...]
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object; null = not known."""
        return {name: _plain(value) for name, value in asdict(self).items()}


def judge(matrix: RewardMatrix, *, repeated: Array | None = None, worth: float = WORTH, seed: int = 0) -> Gate:
    """Judge the rows that training would see.

    Args:
        matrix: train and validation rows; test rows are left out by the caller.
        repeated: (tasks, workers, repetitions) utilities behind the matrix, NaN = missing; None = one answer per cell.
        worth: smallest gain worth having, > 0.
        seed: of folds and bootstrap.

    Raises:
        DataError: if there are fewer than two workers or no measured row.
    """
    rewards = matrix.rewards
    if rewards.shape[1] < 2 or np.isnan(rewards).all():
        raise DataError("rewards", "nothing to choose between", "give at least two workers with measured answers")
    utilities = repeated if repeated is not None and repeated.shape[2] > 1 else rewards[:, :, None]
    rng = np.random.default_rng(seed)
    notes: list[str] = []
    if utilities.shape[2] > 1:
        means, outcomes = mean_over_repetitions(utilities), crossfitted_oracle(utilities)
        decides = gain_over_best_fixed("cross-fitted oracle", outcomes, means, matrix.groups, rng)
        others: list[Gain] = _policies(matrix, rng, 1 - LEVEL, notes)
    else:
        means = rewards
        others = _policies(matrix, rng, 1 - LEVEL, notes)
        decides = _joint(others) if others else Gain("no policy", math.nan, math.nan, math.nan, math.nan, 0, 0, LEVEL)
    others.append(gain_over_best_fixed("naive oracle", naive_oracle(utilities), means, matrix.groups, rng))
    fixed = fixed_utilities(means)
    best = int(np.nanargmax(fixed))
    verdict, why = _verdict(decides, len(matrix), worth)
    wins = best_workers(means)
    needed = _rows_needed(decides)
    return Gate(
        verdict,
        why,
        worth,
        len(matrix),
        decides,
        tuple(others),
        matrix.worker_ids[best],
        float(fixed[best]),
        float(np.nanmean(np.nanmean(means[~np.isnan(means).all(axis=1)], axis=1))),
        float(np.nanmean(naive_oracle(utilities))),
        utilities.shape[2],
        float((wins.sum(axis=1) == np.maximum((~np.isnan(means)).sum(axis=1), 1)).mean()),
        float((wins.sum(axis=1) == 1).mean()),
        decides.mean / (1 - fixed[best]) if fixed[best] < 1 and not math.isnan(decides.mean) else None,
        needed,
        _cost_of(needed, matrix, utilities.shape[2]),
        _workers(matrix, fixed, wins, losses_without(utilities)),
        tuple(notes),
    )


def _verdict(gain: Gain, rows: int, worth: float) -> tuple[Verdict, str]:
    """Decide from the interval; an upper bound below `worth` stops even where the gain is surely above 0."""
    if rows < FEWEST_TASKS:
        return "UNKNOWN", f"{rows} tasks are too few to tell ({FEWEST_TASKS} are needed)"
    if gain.groups < FEWEST_GROUPS or math.isnan(gain.low):
        return "UNKNOWN", f"{gain.groups} independent tasks are too few to tell ({FEWEST_GROUPS} are needed)"
    if gain.high - gain.low > WIDEST:
        return "UNKNOWN", f"the interval is wider than {WIDEST:g}"
    shown = f"{gain.name} gains {gain.mean:+.4f} [{gain.low:+.4f}, {gain.high:+.4f}]"
    if gain.high < worth:
        return "STOP", f"{shown}: less than {worth:g}, the smallest gain worth having"
    if gain.low > 0:
        return "GO", f"{shown}: above 0"
    return "WEAK", f"{shown}: it may be nothing"


def _policies(matrix: RewardMatrix, rng: np.random.Generator, error: float, notes: list[str]) -> list[Gain]:
    """Return the cross-validated gains of simple policies, each at a level that pays for there being several."""
    features: dict[str, NDArray[Any]] = {}
    if len(set(matrix.domains) - {""}) >= 2:
        features["domain table"] = np.zeros((len(matrix), 1))
    else:
        notes.append("no domain table: the rows carry fewer than two domains")
    prompts = [task.prompt for task in matrix.tasks if task.prompt]
    if len(prompts) == len(matrix):
        embedder = build(EmbedderSpec(type="hashing", dimension=1024))
        features["kNN"] = np.asarray(embedder.embed(prompts), dtype=np.float64)
    else:
        notes.append("no kNN: a row has no prompt")
    level = 1 - error / max(1, len(features))
    fold = _folds(matrix.groups, rng)
    found = []
    for name, x in features.items():
        picked = _cross_validated(POLICIES[name], matrix, x, fold)
        outcomes = matrix.rewards[np.arange(len(matrix)), picked]
        found.append(gain_over_best_fixed(name, outcomes, matrix.rewards, matrix.groups, rng, level=level))
    return found


def _folds(groups: Sequence[str], rng: np.random.Generator) -> NDArray[np.intp]:
    names, which = np.unique(np.array(groups, dtype=np.str_), return_inverse=True)
    return np.asarray((rng.permutation(len(names)) % FOLDS)[which.ravel()])


def _cross_validated(
    spec: ValueHeadSpec, matrix: RewardMatrix, features: NDArray[Any], fold: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Return (tasks,) picks, each by a fit that did not see the task's group."""
    picks = np.zeros(len(matrix), dtype=np.intp)
    for number in np.unique(fold):
        held, known = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        if not len(known):
            known = held
        own = spec.model_copy(update={"neighbours": min(spec.neighbours or 1, max(1, len(known) // 4))})
        domains = tuple(matrix.domains[i] for i in known)
        labels = Labels(matrix.worker_ids, ("reward",), matrix.rewards[known], domains if any(domains) else ())
        head = value_kind(own).fit(own, features[known], labels, np.random.default_rng(0))
        scores = head.scores(features[held], tuple(matrix.domains[i] for i in held))
        picks[held] = np.where(np.isnan(matrix.rewards[held]), -np.inf, scores).argmax(axis=1)
    return picks


def _joint(gains: Sequence[Gain]) -> Gain:
    """Return the best policy with bounds that hold for the best of them: the larger bound on either side."""
    best = max(gains, key=lambda gain: gain.low if not math.isnan(gain.low) else -math.inf)
    high = max(gain.high for gain in gains)
    return Gain(best.name, best.mean, best.low, high, best.error, best.n, best.groups, LEVEL)


def _rows_needed(gain: Gain) -> int | None:
    """Return the held-out rows for a two-sided 5 % test of this gain at 80 % power."""
    if math.isnan(gain.error) or not gain.mean > 0 or not gain.groups:
        return None
    reach = float(ndtri(1 - (1 - LEVEL) / 2) + ndtri(POWER))
    return max(1, math.ceil((reach * gain.error / gain.mean) ** 2 * gain.n))


def _cost_of(rows: int | None, matrix: RewardMatrix, repetitions: int) -> float | None:
    known = ~np.isnan(matrix.costs)
    if rows is None or not known.any(axis=0).all():
        return None
    return float(rows * repetitions * np.nanmean(matrix.costs, axis=0).sum())


def _workers(matrix: RewardMatrix, fixed: Array, wins: NDArray[np.bool_], losses: Array) -> tuple[WorkerLine, ...]:
    alone = wins & (wins.sum(axis=1, keepdims=True) == 1)
    return tuple(
        WorkerLine(
            name,
            _known(fixed[j]),
            _mean(matrix.qualities[:, j]),
            _mean(matrix.costs[:, j]),
            _quantile(matrix.latencies[:, j], 0.5),
            _quantile(matrix.latencies[:, j], 0.95),
            int(alone[:, j].sum()),
            _known(losses[j]),
        )
        for j, name in enumerate(matrix.worker_ids)
    )


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _mean(values: Array) -> float | None:
    kept = values[~np.isnan(values)]
    return float(kept.mean()) if len(kept) else None


def _quantile(values: Array, share: float) -> float | None:
    kept = values[~np.isnan(values)]
    return float(np.quantile(kept, share)) if len(kept) else None


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, float) and math.isnan(value) else value

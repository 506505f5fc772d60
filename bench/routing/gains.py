"""Gains over the best fixed worker, on random splits (the primary figure) and on the fixed one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from bench.routing.data import Matrix
from bench.routing.fitting import FAMILIES, LABEL_TABLE, SEED, fit, label_table
from fugu_lite.guard import Guard
from fugu_lite.intervals import paired_bootstrap
from fugu_lite.trainers.contract import Array

SPLITS, TEST_SHARE = 5, 0.25
RANDOM, FIXED = "random splits", "fixed split"


@dataclass(frozen=True)
class Gain:
    """What one policy gains over the best fixed worker of its fitted rows.

    Attributes:
        set, protocol, encoder, policy: which.
        utility: mean reward, guarded; `best_fixed` the comparator's on the same rows.
        gain, low, high: guarded, with a 95 % interval.
        unguarded: gain of the raw head.
        guarded_share: of rows sent to the best fixed worker by the guard.
        n: test rows per split.
    """

    set: str
    protocol: str
    encoder: str
    policy: str
    utility: float
    best_fixed: float
    gain: float
    low: float
    high: float
    unguarded: float
    guarded_share: float
    n: int


def splits(matrix: Matrix) -> Iterator[tuple[str, int, NDArray[np.intp], NDArray[np.intp]]]:
    """Yield (protocol, number, fitted rows, test rows); rows with the same prompt stay together."""
    names, which = np.unique(np.array(matrix.prompts), return_inverse=True)
    for number in range(SPLITS):
        drawn = np.random.default_rng(1000 + number).random(len(names))
        test = (drawn < TEST_SHARE)[which.ravel()]
        yield RANDOM, number, np.flatnonzero(~test), np.flatnonzero(test)
    test = matrix.splits == "test"
    yield FIXED, 0, np.flatnonzero(~test), np.flatnonzero(test)


def run(matrix: Matrix, encoder: str, features: Array, names: list[str], told: Callable[[str], None]) -> list[Gain]:
    """Judge every family named on every split."""
    found: dict[tuple[str, str], list[_Split]] = {}
    for protocol, number, fitted, asked in splits(matrix):
        guard: Guard | None = None
        for name in names:
            model = fit(FAMILIES[name], matrix, features, fitted, guard)
            guard = model.guard
            raw = model.picks(features[asked])
            safe = model.guarded(features[asked], raw)
            told(f"{matrix.name} {encoder} {protocol} {number} {name}")
            found.setdefault((protocol, name), []).append(_Split.of(matrix, fitted, asked, raw, safe, model.best))
        given = label_table(matrix, fitted, asked)
        best = int(matrix.rewards[fitted].mean(axis=0).argmax())
        found.setdefault((protocol, LABEL_TABLE), []).append(_Split.of(matrix, fitted, asked, given, given, best))
    return [_gain(matrix, encoder, protocol, name, parts) for (protocol, name), parts in found.items()]


@dataclass(frozen=True)
class _Split:
    """Paired outcomes of one split: guarded, unguarded, comparator, and the rows' groups."""

    guarded: Array
    raw: Array
    fixed: Array
    groups: list[str]
    fitted: int
    moved: float

    @classmethod
    def of(
        cls,
        matrix: Matrix,
        fitted: NDArray[np.intp],
        asked: NDArray[np.intp],
        raw: NDArray[np.intp],
        safe: NDArray[np.intp],
        best: int,
    ) -> _Split:
        rewards = matrix.rewards[asked]
        rows = np.arange(len(asked))
        groups = [matrix.prompts[i] for i in asked]
        moved = float((raw != safe).mean())
        return cls(rewards[rows, safe], rewards[rows, raw], rewards[:, best], groups, len(fitted), moved)


def _gain(matrix: Matrix, encoder: str, protocol: str, name: str, parts: list[_Split]) -> Gain:
    gains = np.array([float((part.guarded - part.fixed).mean()) for part in parts])
    low, high = _resampled(gains, parts) if len(parts) > 1 else _bootstrapped(parts[0])
    return Gain(
        matrix.name,
        protocol,
        encoder if name != LABEL_TABLE else "-",
        name,
        float(np.mean([part.guarded.mean() for part in parts])),
        float(np.mean([part.fixed.mean() for part in parts])),
        float(gains.mean()),
        low,
        high,
        float(np.mean([(part.raw - part.fixed).mean() for part in parts])),
        float(np.mean([part.moved for part in parts])),
        len(parts[0].fixed),
    )


def _resampled(gains: Array, parts: list[_Split]) -> tuple[float, float]:
    """Return the interval of a mean over overlapping random splits, their variance corrected for the overlap.

    Source: Nadeau and Bengio (2003), Machine Learning 52.
    """
    count = len(gains)
    ratio = len(parts[0].fixed) / parts[0].fitted
    error = math.sqrt((1 / count + ratio) * float(gains.var(ddof=1)))
    half = float(stdtrit(count - 1, 0.975)) * error
    return float(gains.mean()) - half, float(gains.mean()) + half


def _bootstrapped(part: _Split) -> tuple[float, float]:
    interval = paired_bootstrap(part.guarded - part.fixed, part.groups, np.random.default_rng(SEED))
    return interval.low, interval.high

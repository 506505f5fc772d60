"""Battles: who won, not how well anybody answered. Kept as they are; strengths come from Bradley and Terry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

ITERATIONS = 200


@dataclass(frozen=True, slots=True)
class Preference:
    """One battle; `winner` is a worker id, None = a tie."""

    task_id: str
    worker_a: str
    worker_b: str
    winner: str | None

    def row(self) -> dict[str, Any]:
        """Return the row of a preferences file."""
        return asdict(self)


def strengths(battles: Sequence[Preference]) -> dict[str, float | None]:
    """Return the Bradley-Terry log-strength of every worker, mean 0; a tie is half a win for both.

    Returns:
        None for a worker that won or lost everything: its maximum-likelihood strength is infinite.

    Source: Hunter (2004), MM algorithms for generalized Bradley-Terry models, equation 3.
    """
    names = list(dict.fromkeys(name for each in battles for name in (each.worker_a, each.worker_b)))
    column = {name: j for j, name in enumerate(names)}
    wins = np.zeros((len(names), len(names)))  # wins[i, j]: i against j
    for each in battles:
        a, b = column[each.worker_a], column[each.worker_b]
        wins[a, b] += 0.5 if each.winner is None else float(each.winner == each.worker_a)
        wins[b, a] += 0.5 if each.winner is None else float(each.winner == each.worker_b)
    won, lost = wins.sum(axis=1), wins.sum(axis=0)
    finite = (won > 0) & (lost > 0)
    games = wins + wins.T
    power = np.ones(len(names))
    for _ in range(ITERATIONS):
        expected = (games / (power[:, None] + power[None, :])).sum(axis=1)
        power = np.where(finite, won / np.maximum(expected, 1e-12), power)
        power = power / np.exp(np.log(power[finite]).mean()) if finite.any() else power
    return {name: float(np.log(power[j])) if finite[j] else None for name, j in column.items()}


def record(battles: Sequence[Preference]) -> dict[str, dict[str, int]]:
    """Return worker -> battles, wins, ties."""
    played = Counter(name for each in battles for name in (each.worker_a, each.worker_b))
    won = Counter(each.winner for each in battles)
    tied = Counter(name for each in battles if each.winner is None for name in (each.worker_a, each.worker_b))
    return {name: {"battles": played[name], "wins": won[name], "ties": tied[name]} for name in played}

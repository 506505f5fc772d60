"""What training aims at: soft targets for imitation, and named goals for evolution.

A goal is any function `(scores (tasks, workers), rewards (tasks, workers)) -> float`, larger is better, NaN in rewards
= missing. Other packages add goals through the entry-point group `fugu_lite.objectives`, running code by `register`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fugu_lite.heads.contract import softmax
from fugu_lite.registry import Registry
from fugu_lite.rewards.utility import best_workers
from fugu_lite.trainers.contract import Array, greedy_utility

Scores = NDArray[np.floating]
Objective = Callable[[Scores, Array], float]


def soft_targets(rewards: Array, temperature: float) -> Array:
    """Return softmax(rewards / temperature) over the observed workers of each row.

    Rewards .9, .7, .5 give .867, .117, .016 at temperature .1 and .472, .316, .212 at .5.

    Args:
        rewards: (tasks, workers); a NaN cell gets no mass, a row of NaN stays all zero.
        temperature: > 0, in units of reward; small values put all mass on the best worker.

    Source: the Fugu lesson (selection head).
    """
    targets = np.zeros(rewards.shape)
    kept = ~np.isnan(rewards).all(axis=1)
    if kept.any():
        targets[kept] = softmax(rewards[kept], temperature)
    return targets


def mean_reward(scores: Scores, rewards: Array) -> float:
    """Return the mean reward of the greedy choice among observed workers."""
    return greedy_utility(scores, rewards)


def soft_reward(scores: Scores, rewards: Array) -> float:
    """Return the mean expected reward of softmax(scores) over observed workers: smooth where greedy is a step."""
    observed = ~np.isnan(rewards)
    kept = observed.any(axis=1)
    policy = softmax(np.where(observed, scores, np.nan)[kept])
    return float((policy * np.nan_to_num(rewards[kept])).sum(axis=1).mean())


def worst_group(scores: Scores, rewards: Array) -> float:
    """Return the greedy mean reward on the worst-served group of tasks.

    Tasks are grouped by the one worker that does best on them; ties belong to no group, as any choice may serve them. A
    policy that always asks one worker is judged by the tasks that another would have solved. Without a group: the mean.
    """
    best = best_workers(rewards)
    unique = best.sum(axis=1) == 1
    winners = np.where(unique, best.argmax(axis=1), -1)
    values = [mean_reward(scores[winners == w], rewards[winners == w]) for w in np.unique(winners[unique])]
    return min(values) if values else mean_reward(scores, rewards)


registry: Registry[Objective] = Registry(
    "objective",
    {name: f"fugu_lite.trainers.objectives:{name}" for name in ("mean_reward", "soft_reward", "worst_group")},
    "fugu_lite.objectives",
)


def register(name: str, objective: Objective) -> Objective:
    """Add a goal by name from running code, for `objective: NAME` of train-es."""
    return registry.register(name, objective)

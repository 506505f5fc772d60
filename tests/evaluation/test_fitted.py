from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fugu_lite.evaluation import fitted
from fugu_lite.rewards.matrix import RewardMatrix

Build = Callable[..., RewardMatrix]


def got(matrix: RewardMatrix, picks: object) -> float:
    return float(matrix.rewards[np.arange(len(matrix)), np.asarray(picks)].mean())


def test_families_find_a_planted_signal_and_gain_nothing_without_one(build: Build) -> None:
    rng = np.random.default_rng(7)
    x = rng.normal(size=(600, 4))
    x[:, 0] = np.sign(x[:, 0]) * 2
    rewards = np.stack([x[:, 0] > 0, x[:, 0] < 0], axis=1).astype(float)
    fit, rows = build(rewards[:400], "ab"), build(rewards[400:], "ab")
    for policy in fitted.families(fit, x[400:], x[:400]):
        assert got(rows, policy.picks) > 0.9, policy.name
    coins = rng.integers(0, 2, size=600)  # no signal in any row: picks are independent of what they get
    null = np.stack([coins, 1 - coins], axis=1).astype(float)
    fit, rows = build(null[:400], "ab"), build(null[400:], "ab")
    for policy in fitted.families(fit, x[400:], x[:400]):
        assert abs(got(rows, policy.picks) - 0.5) < 4 * (0.25 / 200) ** 0.5, policy.name


def test_the_length_rule_sees_only_the_length(build: Build) -> None:
    fields = [{"prompt": "x" * (i + 1)} for i in range(100)]
    rewards = [[1.0, 0.0] if i < 40 else [0.0, 1.0] for i in range(100)]
    tasks = build(rewards, "ab").tasks
    longer = tuple(task.model_copy(update=field) for task, field in zip(tasks, fields, strict=True))
    rows = replace(build(rewards, "ab"), tasks=longer)
    assert got(rows, fitted.prompt_length(rows, rows).picks) == 1.0

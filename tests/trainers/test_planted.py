"""Each trainer must learn a planted signal, and must learn nothing from a broken one."""

from collections.abc import Callable

import numpy as np
import pytest

from fugu_lite.runs import Silent
from fugu_lite.trainers import FitResult, Trainer, TrainingSet
from fugu_lite.trainers.bandit import BanditSpec, BanditTrainer
from fugu_lite.trainers.es import EsSpec, EsTrainer
from fugu_lite.trainers.sft import SftSpec, SftTrainer
from fugu_lite.trainers.simulate import Planted, planted

TRAINERS: dict[str, Callable[[int], Trainer]] = {
    "sft": lambda seed: SftTrainer(SftSpec(seed=seed)),
    "reinforce": lambda seed: BanditTrainer(BanditSpec(seed=seed)),
    "expected_reward": lambda seed: BanditTrainer(BanditSpec(seed=seed, estimator="expected_reward")),
    "es": lambda seed: EsTrainer(EsSpec(seed=seed)),
}


def draw(seed: int, gap: float = 0.15, tasks: int = 2000) -> tuple[Planted, Planted, Planted]:
    """Return train, validation and a large held-out sample of one pool."""
    rng = np.random.default_rng(seed)
    train = planted(rng, tasks, gap=gap)
    rest = [planted(rng, n, gap=gap, directions=train.directions) for n in (500, 20_000)]
    return train, rest[0], rest[1]


def fit(name: str, seed: int, train: TrainingSet, validation: TrainingSet | None) -> FitResult:
    return TRAINERS[name](seed).fit(train, validation, None, Silent())


@pytest.mark.parametrize("name", TRAINERS)
@pytest.mark.parametrize("seed", [0, 1])
def test_nine_tenths_of_the_planted_gap_are_captured(name: str, seed: int) -> None:
    train, validation, held_out = draw(seed)
    result = fit(name, seed, train.training_set, validation.training_set)
    assert held_out.captured(result.head.scores(held_out.features)) >= 0.9
    assert result.validation_utility == result.history[result.kept_step]["validation"]


@pytest.mark.parametrize("name", TRAINERS)
def test_shuffled_rewards_teach_nothing(name: str) -> None:
    """Five routers together do not beat the best fixed worker by three deviations on drawn held-out outcomes."""
    gain, rows = 0.0, 0
    for seed in range(5):
        rng = np.random.default_rng(100 + seed)
        train, validation, held_out = (part.shuffled(rng) for part in draw(seed, tasks=250))
        result = fit(name, seed, train.training_set, validation.training_set)
        outcomes = rng.binomial(1, held_out.probabilities)
        chosen = result.head.scores(held_out.features).argmax(axis=1)
        routed = outcomes[np.arange(len(chosen)), chosen]
        gain += float(routed.sum()) - float(outcomes[:, held_out.probabilities.mean(axis=0).argmax()].sum())
        rows += len(chosen)
    # Two binomial counts of the same size: variance at most 2 * n / 4.
    assert gain <= 3 * np.sqrt(rows / 2)


@pytest.mark.parametrize("name", TRAINERS)
def test_a_worker_with_missing_cells_is_neither_punished_nor_rewarded(name: str) -> None:
    train, validation, held_out = draw(3, gap=0.25)
    holes = np.random.default_rng(4)

    def pierced(rows: TrainingSet) -> TrainingSet:
        rewards = rows.rewards.copy()
        rewards[holes.random(len(rewards)) < 0.5, 0] = np.nan
        return TrainingSet(rows.features, rewards, rows.worker_ids)

    result = fit(name, 3, pierced(train.training_set), pierced(validation.training_set))
    scores = result.head.scores(held_out.features)
    assert held_out.captured(scores) >= 0.9
    assert np.mean(scores.argmax(axis=1) == 0) == pytest.approx(0.25, abs=0.04)


@pytest.mark.parametrize("name", TRAINERS)
def test_the_same_seed_gives_the_same_bytes_and_another_seed_does_not(name: str) -> None:
    train, validation, _ = draw(5, tasks=200)
    first, again, other = (fit(name, seed, train.training_set, validation.training_set) for seed in (7, 7, 8))
    assert {k: v.tobytes() for k, v in first.head.parameters.items()} == {
        k: v.tobytes() for k, v in again.head.parameters.items()
    }
    assert first.history == again.history
    assert first.head.parameters["W"].tobytes() != other.head.parameters["W"].tobytes()


@pytest.mark.parametrize("name", TRAINERS)
def test_rows_without_any_reward_change_nothing(name: str) -> None:
    train, validation, _ = draw(6, tasks=150)
    rows = train.training_set
    extra = TrainingSet(
        np.vstack([rows.features, np.full((3, rows.features.shape[1]), 9.0)]),
        np.vstack([rows.rewards, np.full((3, 4), np.nan)]),
        rows.worker_ids,
    )
    results = [fit(name, 1, data, validation.training_set) for data in (rows, extra)]
    assert results[0].head.parameters["W"].tobytes() == results[1].head.parameters["W"].tobytes()

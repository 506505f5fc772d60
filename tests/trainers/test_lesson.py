"""The Fugu lesson's selection head, trained by our trainers: 4 workers, 3 domains, 8 tries per cell."""

import numpy as np
import pytest

from fugu_lite.runs import Silent
from fugu_lite.trainers import TrainingSet
from fugu_lite.trainers.contract import greedy_utility
from fugu_lite.trainers.es import EsSpec, EsTrainer
from fugu_lite.trainers.sft import SftSpec, SftTrainer

P = np.array([[0.80, 0.55, 0.60], [0.60, 0.85, 0.65], [0.62, 0.60, 0.82], [0.70, 0.70, 0.70]]).T  # (domains, workers)


def queries(
    rng: np.random.Generator, tasks: int
) -> tuple[TrainingSet, np.ndarray[tuple[int, int], np.dtype[np.float64]]]:
    """Draw tasks: features are the one-hot domain plus noise; return them with the true chances."""
    domain = rng.integers(0, 3, tasks)
    features = np.eye(3)[domain] + 0.3 * rng.normal(size=(tasks, 3))
    return TrainingSet(features, rng.binomial(8, P[domain]) / 8, ("a", "b", "c", "d")), P[domain]


def test_one_worker_and_the_oracle_score_as_the_lesson_says() -> None:
    assert P[:, 3].mean() == pytest.approx(0.7)
    assert P.max(axis=1).mean() == pytest.approx(0.823, abs=5e-4)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_sft_reaches_the_lessons_value_and_evolution_does_not_lose_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    (train, _), (validation, _), (held_out, chances) = (queries(rng, n) for n in (600, 600, 100_000))
    spec = SftSpec(temperature=0.1, learning_rate=0.05, batch_size=600, epochs=200)  # whole batches, as in the lesson
    taught = SftTrainer(spec).fit(train, None, None, Silent())
    after_sft = greedy_utility(taught.head.scores(held_out.features), chances)
    assert after_sft == pytest.approx(0.819, abs=0.005)
    evolved = EsTrainer(EsSpec()).fit(train, validation, taught.head, Silent())
    assert evolved.validation_utility is not None
    assert evolved.validation_utility >= greedy_utility(taught.head.scores(validation.features), validation.rewards)
    assert greedy_utility(evolved.head.scores(held_out.features), chances) >= after_sft - 0.003

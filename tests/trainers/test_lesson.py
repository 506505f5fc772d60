"""The Fugu lesson's selection head, trained by our trainers: 4 workers, 3 domains, 8 tries per cell."""

import numpy as np
import pytest

from fugu_lite.runs import Silent
from fugu_lite.trainers import FitResult, TrainingSet
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


def taught_by_sft(train: TrainingSet) -> FitResult:
    """Train as the lesson does: whole batches to convergence, no validation."""
    spec = SftSpec(temperature=0.1, learning_rate=0.05, batch_size=600, epochs=200)
    return SftTrainer(spec).fit(train, None, None, Silent())


def test_sft_on_the_lessons_own_draw_scores_what_the_lesson_prints() -> None:
    rng = np.random.default_rng(0)
    train, _ = queries(rng, 600)
    held_out, chances = queries(rng, 3000)
    assert greedy_utility(taught_by_sft(train).head.scores(held_out.features), chances) == pytest.approx(
        0.819, abs=0.005
    )


def test_over_draws_sft_stays_there_and_evolution_loses_nothing() -> None:
    """The lesson's own code gives .8145 to .8178 on these draws when it is tested on 100,000 queries."""
    after_sft, after_es = [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        (train, _), (validation, _), (held_out, chances) = (queries(rng, n) for n in (600, 600, 100_000))
        taught = taught_by_sft(train)
        evolved = EsTrainer(EsSpec()).fit(train, validation, taught.head, Silent())
        results = [greedy_utility(fit.head.scores(held_out.features), chances) for fit in (taught, evolved)]
        after_sft.append(results[0])
        after_es.append(results[1])
    assert np.mean(after_sft) == pytest.approx(0.819, abs=0.005)
    assert all(es >= sft for es, sft in zip(after_es, after_sft, strict=True))

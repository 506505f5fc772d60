"""The simulator tells the truth about its own optimum."""

import numpy as np
import pytest

from fugu_lite.trainers.simulate import planted, recognised


def test_the_chance_of_recognition_has_known_ends() -> None:
    assert recognised(0.0, 2) == pytest.approx(0.5)
    assert recognised(0.0, 5) == pytest.approx(0.2)
    # Two workers: the difference of two unit normals, one shifted by s, is positive with chance Phi(s / sqrt 2).
    assert recognised(2.0, 2) == pytest.approx(0.9213503965)
    assert recognised(8.0, 4) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(("workers", "gap"), [(3, 0.1), (4, 0.15), (6, 0.25)])
def test_the_stated_values_are_met_on_a_large_sample(workers: int, gap: float) -> None:
    pool = planted(np.random.default_rng(0), 200_000, workers=workers, gap=gap)
    assert pool.bayes_optimal - pool.best_fixed == pytest.approx(gap)
    assert pool.value(pool.features @ pool.directions) == pytest.approx(pool.bayes_optimal, abs=0.002)
    np.testing.assert_allclose(pool.probabilities.mean(axis=0), pool.best_fixed, atol=0.003)
    np.testing.assert_allclose(pool.rewards.mean(axis=0), pool.best_fixed, atol=0.004)
    assert pool.captured(pool.features @ pool.directions) == pytest.approx(1)
    assert abs(pool.captured(np.eye(workers)[np.zeros(len(pool.features), int)])) < 0.03


def test_shuffling_keeps_the_rewards_and_breaks_their_link() -> None:
    pool = planted(np.random.default_rng(1), 50_000)
    broken = pool.shuffled(np.random.default_rng(2))
    np.testing.assert_allclose(np.sort(broken.rewards, axis=0), np.sort(pool.rewards, axis=0))
    assert broken.value(pool.features @ pool.directions) == pytest.approx(pool.best_fixed, abs=0.004)


def test_an_impossible_gap_is_refused() -> None:
    with pytest.raises(ValueError, match="leave the range of a probability"):
        planted(np.random.default_rng(0), 10, gap=0.7, noise=0.2)

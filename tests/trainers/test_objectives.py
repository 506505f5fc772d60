"""Soft targets against the lesson's worked numbers; named goals against values worked by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fugu_lite.errors import UnknownKindError
from fugu_lite.trainers import objectives
from fugu_lite.trainers.objectives import mean_reward, soft_reward, soft_targets, worst_group

NAN = float("nan")


@pytest.mark.parametrize(("temperature", "expected"), [(0.1, [0.867, 0.117, 0.016]), (0.5, [0.472, 0.316, 0.212])])
def test_soft_targets_equal_the_lessons_worked_example(temperature: float, expected: list[float]) -> None:
    np.testing.assert_allclose(soft_targets(np.array([[0.9, 0.7, 0.5]]), temperature)[0], expected, atol=5e-4)


def test_a_missing_cell_gets_no_mass_and_leaves_the_others_as_if_it_were_not_there() -> None:
    targets = soft_targets(np.array([[0.9, NAN, 0.7, 0.5], [NAN, NAN, NAN, NAN]]), 0.1)
    np.testing.assert_allclose(targets[0, [0, 2, 3]], soft_targets(np.array([[0.9, 0.7, 0.5]]), 0.1)[0])
    assert targets[0, 1] == 0
    assert targets[1].tolist() == [0, 0, 0, 0]


@given(arrays(float, (3, 4), elements=st.floats(-6, 1)), st.floats(0.02, 5), st.floats(-3, 3))
def test_soft_targets_are_a_distribution_that_ignores_a_common_shift(
    rewards: np.ndarray[tuple[int, int], np.dtype[np.float64]], temperature: float, shift: float
) -> None:
    targets = soft_targets(rewards, temperature)
    np.testing.assert_allclose(targets.sum(axis=1), 1)
    np.testing.assert_allclose(soft_targets(rewards + shift, temperature), targets, atol=1e-6)
    assert (np.take_along_axis(targets, rewards.argmax(axis=1)[:, None], 1)[:, 0] == targets.max(axis=1)).all()


def test_goals_by_hand() -> None:
    scores = np.array([[2.0, 0.0], [2.0, 0.0], [2.0, 0.0]])
    rewards = np.array([[1.0, 0.0], [0.2, 0.8], [0.5, 0.5]])
    assert mean_reward(scores, rewards) == pytest.approx((1.0 + 0.2 + 0.5) / 3)
    # Worker 0 wins the first task, worker 1 the second, the third is a tie: always asking worker 0 gives the second .2.
    assert worst_group(scores, rewards) == pytest.approx(0.2)
    first = 1 / (1 + np.exp(-2))
    assert soft_reward(scores, rewards) == pytest.approx((first + 0.2 * first + 0.8 * (1 - first) + 0.5) / 3)


def test_goals_mask_missing_cells() -> None:
    scores, rewards = np.array([[5.0, 1.0], [5.0, 1.0]]), np.array([[NAN, 0.6], [NAN, NAN]])
    assert mean_reward(scores, rewards) == soft_reward(scores, rewards) == worst_group(scores, rewards) == 0.6


def test_goals_are_found_by_name_and_can_be_added() -> None:
    assert objectives.registry.get("worst_group") is worst_group
    objectives.register("always_one", lambda scores, rewards: 1.0)
    assert objectives.registry.get("always_one")(np.zeros((1, 2)), np.zeros((1, 2))) == 1.0
    with pytest.raises(UnknownKindError, match="did you mean 'mean_reward'"):
        objectives.registry.get("mean_rewards")

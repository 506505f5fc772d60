"""The bandit's gradients: exact against finite differences, sampled against exact."""

import numpy as np
import pytest
import torch

from fugu_lite.runs import Silent
from fugu_lite.trainers import TrainingSet
from fugu_lite.trainers.bandit import BanditSpec, BanditTrainer, entropy, expected_reward, reinforce
from fugu_lite.trainers.descent_loop import log_policy

LOGITS = torch.tensor([[0.3, -0.2, 0.9, 0.0], [1.5, 0.1, -0.4, 0.2]], dtype=torch.float64)
REWARDS = torch.tensor([[0.2, 1.0, 0.4, 0.0], [0.0, 0.5, 1.0, 0.0]], dtype=torch.float64)
OBSERVED = torch.tensor([[True, True, True, True], [True, True, True, False]])


def gradient(surrogate: str, samples: int = 1) -> torch.Tensor:
    logits = LOGITS.clone().requires_grad_()
    policy = log_policy(logits, OBSERVED)
    random = torch.Generator().manual_seed(0)
    rows = expected_reward(policy, REWARDS) if surrogate == "exact" else reinforce(policy, REWARDS, samples, random)
    (result,) = torch.autograd.grad(rows.sum(), logits)
    return result


def test_the_exact_gradient_equals_finite_differences() -> None:
    step, exact = 1e-5, gradient("exact")
    for cell in np.ndindex(2, 4):
        bump = torch.zeros_like(LOGITS)
        bump[cell] = step
        up, down = (expected_reward(log_policy(LOGITS + s * bump, OBSERVED), REWARDS).sum() for s in (1, -1))
        assert float(exact[cell]) == pytest.approx(float((up - down) / (2 * step)), abs=1e-9)


def test_reinforce_agrees_with_the_exact_gradient_in_the_limit() -> None:
    """A sampled term is at most 1 in size: 400,000 samples leave a deviation under .0016; the tolerance is .005."""
    torch.testing.assert_close(gradient("sampled", 400_000), gradient("exact"), atol=0.005, rtol=0)
    coarse = (gradient("sampled", 40) - gradient("exact")).abs().max()
    assert coarse > (gradient("sampled", 400_000) - gradient("exact")).abs().max()


def test_a_missing_worker_gets_no_gradient_and_no_probability() -> None:
    policy = log_policy(LOGITS, OBSERVED).exp()
    assert policy[1, 3] == 0
    torch.testing.assert_close(policy.sum(dim=1), torch.ones(2, dtype=torch.float64))
    assert gradient("exact")[1, 3] == gradient("sampled", 1000)[1, 3] == 0


def test_a_row_in_which_all_workers_tie_gives_no_gradient() -> None:
    logits = LOGITS.clone().requires_grad_()
    random = torch.Generator().manual_seed(0)
    rows = reinforce(log_policy(logits, OBSERVED), torch.full_like(REWARDS, 0.7), 50, random)
    (result,) = torch.autograd.grad(rows.sum(), logits)
    assert result.abs().max() < 1e-15


def test_entropy_by_hand() -> None:
    uniform = log_policy(torch.zeros(1, 4), torch.tensor([[True, True, True, False]]))
    assert float(entropy(uniform)) == pytest.approx(np.log(3))


def test_an_entropy_bonus_keeps_the_policy_undecided() -> None:
    rng = np.random.default_rng(0)
    rows = TrainingSet(rng.normal(size=(200, 3)), np.tile([1.0, 0.0], (200, 1)), ("good", "bad"))
    sure, unsure = (
        BanditTrainer(BanditSpec(epochs=60, learning_rate=0.05, entropy_bonus=bonus)).fit(rows, None, None, Silent())
        for bonus in (0.0, 1.0)
    )
    assert sure.head.probabilities(rows.features)[:, 0].min() > 0.95
    # One-reward gain against one nat of entropy: the best policy is softmax(rewards), .731 for the good worker.
    assert unsure.head.probabilities(rows.features)[:, 0].mean() == pytest.approx(0.731, abs=0.02)

"""`train-rl`: an offline contextual bandit. One request, one action, one reward, all read from the matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field

from fugu_lite.trainers.contract import Array
from fugu_lite.trainers.descent import DescentSpec, DescentTrainer

if TYPE_CHECKING:
    from torch import Generator, Tensor


class BanditSpec(DescentSpec):
    """Policy gradient on measured rewards.

    Attributes:
        estimator: `reinforce` samples workers from the policy; `expected_reward` sums over all of them, without the
            sampling noise.
        samples: workers drawn per row and step by `reinforce`.
        entropy_bonus: reward, in nats, for an undecided policy; keeps it from collapsing to one worker early.
    """

    estimator: Literal["reinforce", "expected_reward"] = "reinforce"
    samples: int = Field(4, ge=1)
    entropy_bonus: float = Field(0.0, ge=0)


class BanditTrainer(DescentTrainer):
    """Maximises the expected reward of the sampled choice.

    The matrix knows the reward of every observed worker, so the baseline of REINFORCE is the exact expected reward of
    the current policy in that row: no critic to fit, and a row in which all workers tie gives no gradient.
    """

    name = "train-rl"
    spec_class: ClassVar[type[BanditSpec]] = BanditSpec

    def __init__(self, spec: BanditSpec) -> None:
        super().__init__(spec)
        self.estimator, self.samples, self.entropy_bonus = spec.estimator, spec.samples, spec.entropy_bonus

    def signal(self, rewards: Array) -> Array:
        """Return the rewards themselves; a missing cell is 0 and has probability 0."""
        return np.nan_to_num(rewards)

    def loss(self, log_policy: Tensor, signal: Tensor, random: Generator | None) -> Tensor:
        """Return minus the expected reward, or a surrogate with the same expected gradient."""
        if random is None:
            return -expected_reward(log_policy, signal).mean()
        sampled = self.estimator == "reinforce"
        gain = reinforce(log_policy, signal, self.samples, random) if sampled else expected_reward(log_policy, signal)
        return -(gain + self.entropy_bonus * entropy(log_policy)).mean()


def expected_reward(log_policy: Tensor, rewards: Tensor) -> Tensor:
    """Return sum_a pi(a) r(a) per row, (tasks,)."""
    return (log_policy.exp() * rewards).sum(dim=1)


def reinforce(log_policy: Tensor, rewards: Tensor, samples: int, random: Generator) -> Tensor:
    """Return a surrogate per row, (tasks,), whose gradient estimates that of `expected_reward` without bias.

    Source: Williams 1992: the gradient of log pi(a), times the advantage of the sampled worker over the baseline.
    """
    from fugu_lite.trainers.torch_heads import torch

    policy = log_policy.detach().exp()
    chosen = torch.multinomial(policy, samples, replacement=True, generator=random)
    advantage = rewards.gather(1, chosen) - (policy * rewards).sum(dim=1, keepdim=True)
    return (advantage * log_policy.gather(1, chosen)).mean(dim=1)


def entropy(log_policy: Tensor) -> Tensor:
    """Return -sum_a pi(a) ln pi(a) per row, nats; a masked worker adds 0."""
    return -(log_policy.exp() * log_policy).sum(dim=1)

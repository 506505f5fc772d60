"""`train-sft`: imitate soft targets made of measured rewards.

Source: the Fugu lesson, "Teaching Fugu who is best": softmax of success rates at a temperature, then KL divergence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from fugu_lite.trainers.contract import Array
from fugu_lite.trainers.descent import DescentSpec, DescentTrainer
from fugu_lite.trainers.objectives import soft_targets

if TYPE_CHECKING:
    from torch import Generator, Tensor


class SftSpec(DescentSpec):
    """Supervised fine-tuning on soft targets.

    Attributes:
        temperature: of the targets softmax(rewards / temperature), in units of reward.
        l2: on by default: targets made of one or a few noisy answers are nearly one-hot, and a head with hundreds of
            inputs per worker learns them by heart.
    """

    temperature: float = Field(0.1, gt=0)
    l2: float = Field(0.001, ge=0)


class SftTrainer(DescentTrainer):
    """Minimises KL(target || policy); its gradient is that of the cross-entropy, and 0 means a perfect match."""

    name = "train-sft"
    spec_class: ClassVar[type[SftSpec]] = SftSpec

    def __init__(self, spec: SftSpec) -> None:
        super().__init__(spec)
        self.temperature = spec.temperature

    def signal(self, rewards: Array) -> Array:
        """Return the soft targets."""
        return soft_targets(rewards, self.temperature)

    def loss(self, log_policy: Tensor, signal: Tensor, random: Generator | None) -> Tensor:
        """Return the mean of sum_a T(a) ln(T(a) / Q(a)); nothing is sampled."""
        from fugu_lite.trainers.torch_heads import torch

        del random
        return (torch.xlogy(signal, signal) - signal * log_policy).sum(dim=1).mean()

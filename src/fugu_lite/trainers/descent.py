"""What the gradient trainers share: their settings, and what a method has to say.

A method says what it learns from (`signal`) and what it minimises (`loss`); the loop is in `descent_loop`, which is
imported when training starts, so that settings and help need no torch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from fugu_lite.heads import Head
from fugu_lite.runs import Reporter
from fugu_lite.trainers.contract import Array, FitResult, TrainerSpec, TrainingSet

if TYPE_CHECKING:
    from torch import Generator, Tensor


class DescentSpec(TrainerSpec):
    """What the gradient trainers share.

    Attributes:
        epochs: passes over the training rows.
        batch_size: rows per step.
        learning_rate: AdamW step size, constant.
        weight_decay: decoupled decay of the weight matrices; biases and norms are free.
        l2: penalty l2 / 2 * inputs * |W|^2 in the loss. The factor `inputs` makes one value fit any backbone: it is the
            penalty on weights for features scaled to unit length.
        patience: epochs without a better validation before a seed stops; null = never.
    """

    epochs: int = Field(100, ge=1)
    batch_size: int = Field(64, ge=1)
    learning_rate: float = Field(1e-3, gt=0)
    weight_decay: float = Field(0.01, ge=0)
    l2: float = Field(0.0, ge=0)
    patience: int | None = Field(15, ge=1)


class DescentTrainer(ABC):
    """Fits a policy head by AdamW on minibatches.

    Greedy validation utility chooses the epoch and the seed; the validation loss breaks ties, which small validation
    splits are full of.
    """

    name: ClassVar[str]

    def __init__(self, spec: DescentSpec) -> None:
        self.spec = spec

    @abstractmethod
    def signal(self, rewards: Array) -> Array:
        """Return what the loss compares the policy with, (tasks, workers), 0 where nothing was measured."""

    @abstractmethod
    def loss(self, log_policy: Tensor, signal: Tensor, random: Generator | None) -> Tensor:
        """Return the mean loss of some rows.

        Args:
            log_policy: (tasks, workers) log-probabilities, renormalised over observed workers; -1e30 where missing.
            signal: (tasks, workers).
            random: source of sampled actions; None asks for the exact, deterministic loss (metrics, ties).
        """

    def fit(
        self, train: TrainingSet, validation: TrainingSet | None, start: Head | None, reporter: Reporter
    ) -> FitResult:
        """Fit a head; see `Trainer.fit`.

        Raises:
            MissingExtraError: if torch is not installed.
        """
        from fugu_lite.trainers.descent_loop import fit  # imports torch

        return fit(self, train, validation, start, reporter)

"""The loop that the gradient trainers share: seeds, epochs, minibatches, and a choice by validation.

A method says what it learns from (`signal`) and what it minimises (`loss`); everything else is here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from pydantic import Field

from fugu_lite.heads import Head, PolicyHead
from fugu_lite.runs import Reporter
from fugu_lite.trainers.contract import Array, FitResult, TrainerSpec, TrainingSet, greedy_utility, starting_head
from fugu_lite.trainers.torch_heads import AdamW, Tensor, TorchPolicy, single_thread, torch

Key = tuple[float, float]


class DescentSpec(TrainerSpec):
    """What the gradient trainers share.

    Attributes:
        epochs: passes over the training rows.
        batch_size: rows per step.
        learning_rate: AdamW step size, constant.
        weight_decay: decoupled decay of the weight matrices; biases and norms are free.
        patience: epochs without a better validation before a seed stops; null = never.
    """

    epochs: int = Field(100, ge=1)
    batch_size: int = Field(64, ge=1)
    learning_rate: float = Field(1e-3, gt=0)
    weight_decay: float = Field(0.01, ge=0)
    patience: int | None = Field(15, ge=1)


@dataclass(frozen=True)
class _Rows:
    """One split as tensors: features, per-cell learning signal and mask; rewards stay numpy for the metrics."""

    features: Tensor
    signal: Tensor
    observed: Tensor
    rewards: Array


@dataclass(frozen=True)
class _Kept:
    """The best state seen so far: its step, its rank (utility, minus loss) and its head."""

    step: int
    key: Key
    head: PolicyHead


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
    def loss(self, log_policy: Tensor, signal: Tensor, random: torch.Generator | None) -> Tensor:
        """Return the mean loss of some rows.

        Args:
            log_policy: (tasks, workers) log-probabilities, renormalised over observed workers; -1e30 where missing.
            signal: (tasks, workers).
            random: source of sampled actions; None asks for the exact, deterministic loss (metrics, ties).
        """

    def fit(
        self, train: TrainingSet, validation: TrainingSet | None, start: Head | None, reporter: Reporter
    ) -> FitResult:
        """Fit a head; see `Trainer.fit`."""
        train = train.usable("train")
        checked = validation.usable("validation") if validation is not None else None
        seeds = range(self.spec.seed, self.spec.seed + self.spec.seeds)
        with single_thread():
            tables = self._rows(train), self._rows(checked) if checked is not None else None
            heads = [starting_head(self.spec.head, train, start, np.random.default_rng(s), self.name) for s in seeds]
            runs = [
                self._run(s, head, start is not None, *tables, reporter) for s, head in zip(seeds, heads, strict=True)
            ]
        kept, history = max(runs, key=lambda run: run[0].key)
        return FitResult(kept.head, history, kept.key[0] if checked is not None else None, kept.step)

    def _rows(self, data: TrainingSet) -> _Rows:
        features = torch.from_numpy(np.ascontiguousarray(data.features, dtype=np.float32))
        signal = torch.from_numpy(self.signal(data.rewards).astype(np.float32))
        return _Rows(features, signal, torch.from_numpy(data.observed), data.rewards)

    def _run(
        self, seed: int, head: PolicyHead, warm: bool, train: _Rows, validation: _Rows | None, reporter: Reporter
    ) -> tuple[_Kept, list[dict[str, float | None]]]:
        """Train one seed. A warm start competes as step 0; an untrained head does not."""
        model, rng, random = TorchPolicy(head), np.random.default_rng(seed), torch.Generator().manual_seed(seed)
        optimiser = AdamW(model, self.spec.learning_rate, self.spec.weight_decay)
        entry, key = self._measure(model, 0, train, validation)
        history, kept = [entry], _Kept(0, key if warm else (-np.inf, -np.inf), head)
        _report(reporter, entry, seed)
        for epoch in range(1, self.spec.epochs + 1):
            for batch in np.array_split(rng.permutation(len(train.rewards)), self._steps(len(train.rewards))):
                self._step(model, optimiser, train, torch.from_numpy(batch), random)
            entry, key = self._measure(model, epoch, train, validation)
            history.append(entry)
            _report(reporter, entry, seed)
            reporter.progress(self.name, epoch, self.spec.epochs, seed=seed)
            if validation is None or key > kept.key:
                kept = _Kept(epoch, key, model.to_head())
            elif self.spec.patience is not None and epoch - kept.step >= self.spec.patience:
                break
        return kept, history

    def _steps(self, rows: int) -> int:
        return -(-rows // self.spec.batch_size)

    def _step(self, model: TorchPolicy, optimiser: AdamW, rows: _Rows, batch: Tensor, random: torch.Generator) -> None:
        policy = log_policy(model(rows.features[batch]), rows.observed[batch])
        optimiser.step(self.loss(policy, rows.signal[batch], random))

    def _measure(
        self, model: TorchPolicy, step: int, train: _Rows, validation: _Rows | None
    ) -> tuple[dict[str, float | None], Key]:
        """Return the history entry of a step, and its rank."""
        train_key = self._judge(model, train)
        key = self._judge(model, validation) if validation is not None else train_key
        held_out = (key[0], -key[1]) if validation is not None else (None, None)
        entry = {"step": step, "train": train_key[0], "validation": held_out[0]}
        return {**entry, "loss": -train_key[1], "validation_loss": held_out[1]}, key

    def _judge(self, model: TorchPolicy, rows: _Rows) -> Key:
        with torch.no_grad():
            logits = model(rows.features)
            loss = self.loss(log_policy(logits, rows.observed), rows.signal, None)
        return greedy_utility(logits.numpy(), rows.rewards), -float(loss)


def _report(reporter: Reporter, entry: dict[str, float | None], seed: int) -> None:
    numbers = {name: value for name, value in entry.items() if name != "step"}
    reporter.metric(int(entry["step"] or 0), **numbers, seed=seed)


def log_policy(logits: Tensor, observed: Tensor) -> Tensor:
    """Return log-probabilities over the observed workers of each row.

    A missing worker gets a finite -1e30 instead of -inf, so that 0 times it stays 0 and no gradient turns NaN.
    """
    return torch.log_softmax(logits.masked_fill(~observed, -1e30), dim=1)

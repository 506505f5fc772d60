"""The loop that the gradient trainers share: seeds, epochs, minibatches, and a choice by validation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fugu_lite.heads import Head, PolicyHead
from fugu_lite.runs import Reporter
from fugu_lite.trainers.contract import Array, FitResult, TrainingSet, greedy_utility, starting_head
from fugu_lite.trainers.descent import DescentTrainer
from fugu_lite.trainers.torch_heads import AdamW, Tensor, TorchPolicy, single_thread, torch

Key = tuple[float, float]


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


def fit(
    method: DescentTrainer,
    train: TrainingSet,
    validation: TrainingSet | None,
    start: Head | None,
    reporter: Reporter,
) -> FitResult:
    """Fit a head with every seed and return the best; see `Trainer.fit`."""
    train = train.usable("train")
    checked = validation.usable("validation") if validation is not None else None
    spec, loop = method.spec, _Loop(method)
    seeds = range(spec.seed, spec.seed + spec.seeds)
    with single_thread():
        tables = loop.rows(train), loop.rows(checked) if checked is not None else None
        heads = [starting_head(spec.head, train, start, np.random.default_rng(s), method.name) for s in seeds]
        runs = [loop.run(s, head, start is not None, *tables, reporter) for s, head in zip(seeds, heads, strict=True)]
    kept, history = max(runs, key=lambda run: run[0].key)
    return FitResult(kept.head, history, kept.key[0] if checked is not None else None, kept.step)


class _Loop:
    """Trains one seed at a time by a method's signal and loss."""

    def __init__(self, method: DescentTrainer) -> None:
        self.method, self.spec = method, method.spec

    def rows(self, data: TrainingSet) -> _Rows:
        features = torch.from_numpy(np.ascontiguousarray(data.features, dtype=np.float32))
        signal = torch.from_numpy(self.method.signal(data.rewards).astype(np.float32))
        return _Rows(features, signal, torch.from_numpy(data.observed), data.rewards)

    def run(
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
            reporter.progress(self.method.name, epoch, self.spec.epochs, seed=seed)
            if validation is None or key > kept.key:
                kept = _Kept(epoch, key, model.to_head())
            elif self.spec.patience is not None and epoch - kept.step >= self.spec.patience:
                break
        return kept, history

    def _steps(self, rows: int) -> int:
        return -(-rows // self.spec.batch_size)

    def _step(self, model: TorchPolicy, optimiser: AdamW, rows: _Rows, batch: Tensor, random: torch.Generator) -> None:
        policy = log_policy(model(rows.features[batch]), rows.observed[batch])
        loss = self.method.loss(policy, rows.signal[batch], random)
        optimiser.step(loss + self.spec.l2 * model.penalty() if self.spec.l2 else loss)

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
            loss = self.method.loss(log_policy(logits, rows.observed), rows.signal, None)
        return greedy_utility(logits.numpy(), rows.rewards), -float(loss)


def _report(reporter: Reporter, entry: dict[str, float | None], seed: int) -> None:
    numbers = {name: value for name, value in entry.items() if name != "step"}
    reporter.metric(int(entry["step"] or 0), **numbers, seed=seed)


def log_policy(logits: Tensor, observed: Tensor) -> Tensor:
    """Return log-probabilities over the observed workers of each row.

    A missing worker gets a finite -1e30 instead of -inf, so that 0 times it stays 0 and no gradient turns NaN.
    """
    return torch.log_softmax(logits.masked_fill(~observed, -1e30), dim=1)

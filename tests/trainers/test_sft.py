"""Soft-target training and the loop that the gradient trainers share."""

from typing import Any

import numpy as np
import pytest
import torch

from fugu_lite.errors import DataError, MismatchError
from fugu_lite.heads import HeadSpec, PolicyHead
from fugu_lite.heads.linear import LinearHead
from fugu_lite.runs import Silent
from fugu_lite.trainers import TrainingSet
from fugu_lite.trainers.descent_loop import log_policy
from fugu_lite.trainers.sft import SftSpec, SftTrainer
from fugu_lite.trainers.simulate import planted

ROWS = planted(np.random.default_rng(0), 300, gap=0.25)
CHECK = planted(np.random.default_rng(1), 200, gap=0.25, directions=ROWS.directions)


class Recorder(Silent):
    def __init__(self) -> None:
        self.steps: list[tuple[int, dict[str, Any]]] = []

    def metric(self, step: int, **values: float | None) -> None:
        self.steps.append((step, values))


def sft(**changes: Any) -> SftTrainer:
    return SftTrainer(SftSpec.parse(changes))


def test_the_loss_is_the_divergence_to_the_target() -> None:
    """Target .867, .117, .016 and a uniform policy: ln 3 minus the target's entropy, .441 nats."""
    trainer = sft()
    target = torch.from_numpy(trainer.signal(np.array([[0.9, 0.7, 0.5]])))
    uniform = log_policy(torch.zeros(1, 3, dtype=torch.float64), torch.ones(1, 3, dtype=torch.bool))
    assert float(trainer.loss(uniform, target, None)) == pytest.approx(np.log(3) + float((target * target.log()).sum()))
    assert float(trainer.loss(target.log(), target, None)) == pytest.approx(0, abs=1e-12)


def test_a_missing_worker_gets_no_gradient() -> None:
    trainer, logits = sft(), torch.zeros(1, 3, requires_grad=True)
    target = torch.from_numpy(trainer.signal(np.array([[0.9, np.nan, 0.5]])).astype(np.float32))
    loss = trainer.loss(log_policy(logits, torch.tensor([[True, False, True]])), target, None)
    (gradient,) = torch.autograd.grad(loss, logits)
    assert gradient[0, 1] == 0
    # The other two share the policy: .5 minus their targets, .982 and .018.
    np.testing.assert_allclose(gradient[0, [0, 2]].numpy(), [0.5 - 0.982, 0.5 - 0.018], atol=5e-4)


def test_every_epoch_is_reported_with_both_curves() -> None:
    recorder = Recorder()
    result = sft(epochs=4, patience=None).fit(ROWS.training_set, CHECK.training_set, None, recorder)
    assert [step for step, _ in recorder.steps] == [0, 1, 2, 3, 4]
    assert all(
        {"train", "validation", "loss", "validation_loss", "seed"} <= set(values) for _, values in recorder.steps
    )
    assert [entry["step"] for entry in result.history] == [0, 1, 2, 3, 4]
    assert recorder.steps[-1][1]["loss"] < recorder.steps[0][1]["loss"]


def test_patience_stops_and_the_kept_epoch_is_the_best_one() -> None:
    result = sft(epochs=100, patience=5, learning_rate=0.05).fit(ROWS.training_set, CHECK.training_set, None, Silent())
    assert len(result.history) == result.kept_step + 6 < 101
    values = [entry["validation"] for entry in result.history[1:]]
    assert result.validation_utility == max(value for value in values if value is not None)


def test_without_validation_the_last_epoch_is_kept() -> None:
    result = sft(epochs=3).fit(ROWS.training_set, None, None, Silent())
    assert (result.kept_step, result.validation_utility) == (3, None)


def test_validation_chooses_among_seeds() -> None:
    single = [
        sft(seed=seed, epochs=5).fit(ROWS.training_set, CHECK.training_set, None, Silent()) for seed in (42, 43, 44)
    ]
    chosen = sft(seeds=3, epochs=5).fit(ROWS.training_set, CHECK.training_set, None, Silent())
    assert chosen.validation_utility == max(result.validation_utility or 0 for result in single)
    assert chosen.history in [result.history for result in single]


def test_a_warm_start_is_never_lost() -> None:
    """A start that is already optimal on validation competes as step 0."""
    spec = HeadSpec()
    best = LinearHead(spec, ROWS.training_set.worker_ids, {"W": 3 * ROWS.directions, "b": np.zeros(4)})
    result = sft(epochs=2, learning_rate=1.0).fit(ROWS.training_set, CHECK.training_set, best, Silent())
    assert result.kept_step == 0
    assert result.head is best


@pytest.mark.parametrize("head", [{"head_hidden_dim": 16}, {"layer_norm": True}, {"type": "mlp", "layer_norm": True}])
def test_every_head_shape_learns(head: dict[str, Any]) -> None:
    trainer = sft(head=head, epochs=40, learning_rate=0.01)
    result = trainer.fit(ROWS.training_set, CHECK.training_set, None, Silent())
    assert isinstance(result.head, PolicyHead)
    assert CHECK.captured(result.head.scores(CHECK.features)) > 0.7


def test_unusable_rows_and_heads_are_refused_with_the_reason() -> None:
    rows = ROWS.training_set
    empty = TrainingSet(rows.features, np.full_like(rows.rewards, np.nan), rows.worker_ids)
    with pytest.raises(DataError, match="none of 300 rows has a measured reward"):
        sft().fit(empty, None, None, Silent())
    broken = TrainingSet(np.full_like(rows.features, np.nan), rows.rewards, rows.worker_ids)
    with pytest.raises(DataError, match="not a finite number"):
        sft().fit(broken, None, None, Silent())
    other = LinearHead(HeadSpec(), ("x", "y"), {"W": np.zeros((16, 2)), "b": np.zeros(2)})
    with pytest.raises(MismatchError, match="differ from the matrix columns"):
        sft().fit(rows, None, other, Silent())
    wide = LinearHead(HeadSpec(), rows.worker_ids, {"W": np.zeros((8, 4)), "b": np.zeros(4)})
    with pytest.raises(MismatchError, match="takes 8 features, these rows have 16"):
        sft().fit(rows, None, wide, Silent())

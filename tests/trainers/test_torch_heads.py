"""Torch and numpy compute the same head."""

import numpy as np
import pytest
import torch

from fugu_lite.errors import MismatchError
from fugu_lite.heads import HeadSpec, PolicyHead
from fugu_lite.heads.contract import kind_of
from fugu_lite.heads.linear import LinearHead
from fugu_lite.trainers.torch_heads import AdamW, TorchPolicy, single_thread

SPECS = [
    HeadSpec(),
    HeadSpec(layer_norm=True),
    HeadSpec(head_hidden_dim=7),
    HeadSpec(type="mlp", head_hidden_dim=5, layer_norm=True),
]
WORKERS = ("a", "b", "c")


def random_head(spec: HeadSpec) -> PolicyHead:
    rng = np.random.default_rng(0)
    kind = kind_of(spec)
    assert issubclass(kind, PolicyHead)
    head = kind.initial(spec, 10, WORKERS, rng)
    return type(head)(head.spec, WORKERS, {k: v + 0.5 * rng.normal(size=v.shape) for k, v in head.parameters.items()})


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_numpy_forward_equals_torch_forward(spec: HeadSpec) -> None:
    head, features = random_head(spec), 3 * np.random.default_rng(1).normal(size=(50, 10))
    logits = TorchPolicy(head)(torch.from_numpy(features.astype(np.float32)))
    np.testing.assert_allclose(logits.detach().numpy(), head.scores(features), atol=2e-5)


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_parameters_make_the_round_trip_bit_for_bit(spec: HeadSpec) -> None:
    head = random_head(spec)
    back = TorchPolicy(head).to_head()
    assert type(back) is type(head)
    assert (back.spec, back.worker_ids) == (head.spec, head.worker_ids)
    assert {k: v.tobytes() for k, v in back.parameters.items()} == {k: v.tobytes() for k, v in head.parameters.items()}


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_gradients_reach_every_parameter(spec: HeadSpec) -> None:
    model = TorchPolicy(random_head(spec))
    features = torch.from_numpy(np.random.default_rng(2).normal(size=(20, 10)).astype(np.float32))
    torch.log_softmax(model(features), dim=1)[:, 0].mean().backward()  # type: ignore[no-untyped-call]
    for name, value in model.values.items():
        assert value.grad is not None, name
        assert float(value.grad.abs().max()) > 0, name


def test_training_the_module_does_not_change_the_head_it_came_from() -> None:
    head = random_head(HeadSpec())
    before = head.parameters["W"].copy()
    model = TorchPolicy(head)
    with torch.no_grad():
        model.values["W"].add_(1.0)
    assert (head.parameters["W"] == before).all()


def test_only_matrices_decay() -> None:
    """A loss without gradient leaves the decay alone at work: 1 - rate * decay = .95."""
    head = random_head(SPECS[3])
    model = TorchPolicy(head)
    AdamW(model, learning_rate=0.5, weight_decay=0.1).step(0 * model(torch.ones(1, 10)).sum())
    after = model.to_head().parameters
    for name, before in head.parameters.items():
        np.testing.assert_allclose(after[name], before * (0.95 if name in {"W", "W1"} else 1.0), rtol=1e-6)


def test_a_step_is_that_of_torchs_own_optimiser() -> None:
    head, features = random_head(HeadSpec()), torch.linspace(-1, 1, 40).reshape(4, 10)
    ours, theirs = TorchPolicy(head), TorchPolicy(head)
    step = AdamW(ours, 0.01, 0.0)
    reference = torch.optim.AdamW(theirs.parameters(), lr=0.01, weight_decay=0.0)
    for _ in range(5):
        step.step(ours(features).square().mean())
        reference.zero_grad()
        theirs(features).square().mean().backward()
        reference.step()
    for name, value in ours.values.items():
        torch.testing.assert_close(value, theirs.values[name])


def test_an_unknown_parameter_is_refused() -> None:
    head = LinearHead(HeadSpec(), WORKERS, {"W": np.zeros((2, 3)), "b": np.zeros(3), "twist": np.zeros(3)})
    with pytest.raises(MismatchError, match="no gradient is known for"):
        TorchPolicy(head)


def test_the_thread_count_is_given_back() -> None:
    before = torch.get_num_threads()
    with single_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before

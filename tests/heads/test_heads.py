"""Heads in numpy, against values worked by hand."""

import math

import numpy as np
import pytest

from fugu_lite.heads import HeadSpec
from fugu_lite.heads.contract import kind_of, softmax
from fugu_lite.heads.linear import LinearHead
from fugu_lite.heads.mlp import MlpHead

WORKERS = ("a", "b")


def test_linear_logits_are_x_times_w_plus_b() -> None:
    head = LinearHead(HeadSpec(), WORKERS, {"W": np.array([[1.0, 2.0], [0.0, -1.0]]), "b": np.array([0.5, 0.0])})
    np.testing.assert_allclose(head.scores(np.array([[1.0, 2.0], [0.0, 1.0]])), [[1.5, 0.0], [0.5, -1.0]])
    np.testing.assert_allclose(
        head.probabilities(np.array([[1.0, 2.0]])), [[1 / (1 + math.exp(-1.5)), 0.182426]], rtol=1e-5
    )


def test_layer_norm_centres_scales_then_applies_what_was_learned() -> None:
    parameters = {
        "W": np.eye(2),
        "b": np.zeros(2),
        "norm_scale": np.array([1.0, 2.0]),
        "norm_shift": np.array([0.0, 3.0]),
    }
    head = LinearHead(HeadSpec(layer_norm=True), WORKERS, parameters)
    # (1, 5): mean 3, deviation 2, so -1 and 1; the second is doubled and moved by 3.
    np.testing.assert_allclose(head.scores(np.array([[1.0, 5.0]])), [[-1.0, 5.0]], atol=1e-5)
    np.testing.assert_allclose(head.scores(np.array([[100.0, 500.0]])), [[-1.0, 5.0]], atol=1e-5)


def test_gelu_is_exact() -> None:
    head = MlpHead(
        HeadSpec(type="mlp", head_hidden_dim=2),
        WORKERS,
        {"W1": np.eye(2), "b1": np.zeros(2), "W": np.eye(2), "b": np.zeros(2)},
    )
    x = np.array([[1.0, -2.0]])
    exact = [0.5 * v * (1 + math.erf(v / math.sqrt(2))) for v in (1.0, -2.0)]
    np.testing.assert_allclose(head.scores(x), [exact], atol=1e-12)


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        (HeadSpec(), LinearHead),
        (HeadSpec(head_hidden_dim=8), MlpHead),
        (HeadSpec(type="mlp", head_hidden_dim=8), MlpHead),
    ],
)
def test_a_hidden_width_makes_an_mlp(spec: HeadSpec, kind: type) -> None:
    assert kind_of(spec) is kind


def test_an_mlp_states_its_own_shape() -> None:
    head = MlpHead.initial(HeadSpec(type="mlp"), 3, WORKERS, np.random.default_rng(0))
    assert (head.spec.type, head.spec.head_hidden_dim) == ("mlp", 64)
    assert MlpHead.initial(HeadSpec(head_hidden_dim=4), 3, WORKERS, np.random.default_rng(0)).spec.type == "mlp"


def test_softmax_masks_and_does_not_overflow() -> None:
    np.testing.assert_allclose(softmax(np.array([[1000.0, 1000.0, np.nan, -np.inf]])), [[0.5, 0.5, 0, 0]])
    np.testing.assert_allclose(softmax(np.array([[0.0, 1.0]]), 0.5), [[0.119203, 0.880797]], atol=1e-6)

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fugu_lite.embeddings.normalise import Normaliser
from fugu_lite.errors import InputError


def test_z_scores_by_hand() -> None:
    normaliser = Normaliser.fit(np.array([[1, 5], [3, 5]], dtype=np.float32))
    assert (normaliser.mean.tolist(), normaliser.std.tolist()) == ([2, 5], [1, 1])
    assert normaliser.apply(np.array([[4, 6]], dtype=np.float32)).tolist() == [[2, 1]]


def test_identity_and_no_rows() -> None:
    features = np.array([[1.5, -2]], dtype=np.float32)
    assert Normaliser.identity(2).apply(features).tolist() == features.tolist()
    with pytest.raises(InputError, match="no rows"):
        Normaliser.fit(np.empty((0, 3), dtype=np.float32))


@given(st.integers(0, 2**32 - 1))
def test_a_folded_layer_says_the_same_of_raw_features(seed: int) -> None:
    rng = np.random.default_rng(seed)
    features = (rng.normal(size=(20, 6)) * rng.uniform(0.1, 50, 6) + rng.normal(size=6) * 10).astype(np.float32)
    weight, bias = rng.normal(size=(6, 3)), rng.normal(size=3)
    normaliser = Normaliser.fit(features)
    folded_weight, folded_bias = normaliser.folded(weight, bias)
    expected = normaliser.apply(features) @ weight + bias
    np.testing.assert_allclose(features @ folded_weight + folded_bias, expected, atol=1e-3)
    np.testing.assert_allclose(normaliser.apply(features).std(axis=0), 1.0, atol=1e-4)

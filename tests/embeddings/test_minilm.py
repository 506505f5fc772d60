import numpy as np
import pytest

from fugu_lite import weights
from fugu_lite.embeddings.contract import EmbedderSpec, build

pytestmark = pytest.mark.weights


def test_the_spec_says_what_is_computed() -> None:
    embedder = build(EmbedderSpec(type="minilm", layer=3, pooling="last", max_length=2000))
    assert (embedder.spec.layer, embedder.spec.pooling, embedder.spec.max_length) == ("final", "mean", 512)
    assert embedder.fingerprint == build(EmbedderSpec(type="minilm", max_length=512)).fingerprint


@pytest.mark.skipif("minilm" not in weights.installed(), reason="run: fugu-lite weights fetch minilm")
def test_paraphrases_are_near_and_the_rest_is_far() -> None:
    embedder = build(EmbedderSpec(type="minilm", dtype="float32"))
    texts = ["What is the capital of France?", "Which city is France's capital?", "How do I bake bread?", ""]
    vectors = embedder.embed(texts)
    assert vectors.shape == (4, embedder.dimension) == (4, 384)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert vectors[0] @ vectors[1] > 0.8 > 0.3 > vectors[0] @ vectors[2]
    np.testing.assert_allclose(embedder.embed(texts[2:3])[0], vectors[2], atol=1e-5)

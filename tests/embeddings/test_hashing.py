import numpy as np
import pytest

from fugu_lite.embeddings.contract import EmbedderSpec, build
from fugu_lite.embeddings.hashing import HashingEmbedder, grams


def test_the_grams_of_a_short_text() -> None:
    assert list(grams("Ab!")) == ["w ab", "w !", "w ab !", *(f"c {g}" for g in (" a", "ab", "b ", " !", "! "))] + [
        f"c {g}" for g in (" ab", "ab ", "b !", " ! ", " ab ", "ab !", "b ! ")
    ]
    assert list(grams("")) == []


def test_vectors_have_length_one_and_are_the_same_everywhere() -> None:
    embedder = build(EmbedderSpec(type="hashing", dimension=64))
    assert isinstance(embedder, HashingEmbedder)
    vectors = embedder.embed(["What is 2 + 2?", "", "\ud800"])
    assert vectors.shape == (3, 64)
    assert np.linalg.norm(vectors, axis=1).tolist() == pytest.approx([1.0, 0.0, 1.0], abs=1e-6)
    assert build(EmbedderSpec(type="hashing", dimension=8)).fingerprint != embedder.fingerprint


def test_like_texts_are_nearer_than_others() -> None:
    embedder = build(EmbedderSpec(type="hashing", dimension=512))
    sums = embedder.embed(["compute 12 times 7", "compute 31 times 9", "who wrote the novel"])
    assert sums[0] @ sums[1] > sums[0] @ sums[2] + 0.2

"""Two backbones side by side."""

import numpy as np
import pytest

from fugu_lite.embeddings import EmbedderSpec
from fugu_lite.embeddings.contract import build
from fugu_lite.embeddings.joined import JoinedEmbedder
from fugu_lite.errors import SpecError

PARTS = (EmbedderSpec(type="hashing", dimension=16), EmbedderSpec(type="hashing", dimension=32))
TEXTS = ["one text", "another", ""]


def test_vectors_stand_side_by_side() -> None:
    seen: list[tuple[int, int]] = []
    joined = build(EmbedderSpec(type="joined", parts=PARTS))
    assert isinstance(joined, JoinedEmbedder)
    vectors = joined.embed(TEXTS, lambda done, total: seen.append((done, total)))
    assert joined.dimension == 48
    np.testing.assert_array_equal(vectors[:, :16], build(PARTS[0]).embed(TEXTS))
    np.testing.assert_array_equal(vectors[:, 16:], build(PARTS[1]).embed(TEXTS))
    assert joined.embed([]).shape == (0, 48)
    assert all(total == 6 for _, total in seen)


def test_the_parts_are_its_identity() -> None:
    there, back = (build(EmbedderSpec(type="joined", parts=parts)).fingerprint for parts in (PARTS, PARTS[::-1]))
    assert there != back
    assert "parts" not in EmbedderSpec().identity()  # vectors cached before there were parts stay good


def test_one_part_is_refused() -> None:
    with pytest.raises(SpecError, match="at least two backbones, found 1"):
        build(EmbedderSpec(type="joined", parts=PARTS[:1]))

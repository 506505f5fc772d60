"""Hashed n-grams: no weights, no model, the same vector on every machine. For tests and as a floor to beat."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from zlib import crc32

import numpy as np

from fugu_lite.embeddings.contract import Embedder, Features, Progress

WORD = re.compile(r"\w+|[^\w\s]")
WORD_SIZES, CHARACTER_SIZES = (1, 2), (2, 3, 4)


class HashingEmbedder(Embedder):
    """Counts of word 1-2-grams and character 2-4-grams, hashed with a sign and scaled to length 1.

    Source: feature hashing, Weinberger et al., 2009 (arXiv:0902.2206).
    """

    @property
    def dimension(self) -> int:
        """What the spec says."""
        return self.spec.dimension

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> Features:
        """Return one vector per text; an empty text gives zeros."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        prefix = "user: " if self.spec.transcript == "role" else ""
        for index, text in enumerate(texts):
            vectors[index] = _vector(prefix + text, self.dimension)
            if progress is not None:
                progress(index + 1, len(texts))
        return vectors


def grams(text: str) -> Iterator[str]:
    """Yield the n-grams of a text, case folded; words and characters do not collide."""
    words = WORD.findall(text.casefold())
    for size in WORD_SIZES:
        yield from ("w " + " ".join(words[start : start + size]) for start in range(len(words) - size + 1))
    line = f" {' '.join(words)} " if words else ""
    for size in CHARACTER_SIZES:
        yield from ("c " + line[start : start + size] for start in range(len(line) - size + 1))


def _vector(text: str, dimension: int) -> Features:
    hashes = np.array([_hash(gram) for gram in grams(text)], dtype=np.int64)
    signs = np.where(hashes & 1, 1.0, -1.0)
    vector = np.bincount((hashes >> 1) % dimension, weights=signs, minlength=dimension)
    return (vector / max(float(np.linalg.norm(vector)), 1e-12)).astype(np.float32)


@lru_cache(maxsize=1 << 18)
def _hash(gram: str) -> int:
    return crc32(gram.encode("utf-8", "surrogatepass"))

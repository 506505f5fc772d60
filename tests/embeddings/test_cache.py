from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from fugu_lite.embeddings import cache
from fugu_lite.embeddings.cache import CachedEmbedder
from fugu_lite.embeddings.contract import EmbedderSpec, Features, Progress
from fugu_lite.embeddings.hashing import HashingEmbedder
from fugu_lite.errors import FuguLiteError


class Counting(HashingEmbedder):
    """Remembers what it was asked; fails at a text that says so."""

    def __init__(self, dimension: int = 16) -> None:
        super().__init__(EmbedderSpec(type="hashing", dimension=dimension))
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> Features:
        if "fail" in texts:
            raise KeyboardInterrupt
        self.asked += texts
        return super().embed(texts, progress) * (np.nan if "nan" in texts else 1)


def vectors_file(folder: Path) -> Path:
    return next(folder.rglob("vectors.bin"))


def test_every_text_is_computed_once_and_returned_in_order(tmp_path: Path) -> None:
    inner = Counting()
    embedder = CachedEmbedder(inner, tmp_path)
    texts = ["bb", "a", "bb", "", "a"]
    first = embedder.embed(texts)
    assert sorted(inner.asked) == ["", "a", "bb"]
    np.testing.assert_array_equal(first, HashingEmbedder(inner.spec).embed(texts))
    again = CachedEmbedder(other := Counting(), tmp_path)
    np.testing.assert_array_equal(again.embed(texts), first)
    assert other.asked == []
    assert (embedder.fingerprint, embedder.dimension) == (inner.fingerprint, 16)


def test_another_fingerprint_has_its_own_vectors(tmp_path: Path) -> None:
    CachedEmbedder(Counting(16), tmp_path).embed(["a"])
    CachedEmbedder(other := Counting(32), tmp_path).embed(["a"])
    assert other.asked == ["a"]
    assert len(list(tmp_path.rglob("vectors.bin"))) == 2


def test_a_torn_tail_is_ignored_and_repaired(tmp_path: Path) -> None:
    CachedEmbedder(Counting(), tmp_path).embed(["a", "b"])
    file = vectors_file(tmp_path)
    record = 32 + 16 * 4
    file.write_bytes(file.read_bytes()[:-5])
    inner = Counting()
    found = CachedEmbedder(inner, tmp_path).embed(["a", "b"])
    assert len(inner.asked) == 1
    assert file.stat().st_size == 2 * record
    np.testing.assert_array_equal(found, HashingEmbedder(inner.spec).embed(["a", "b"]))
    np.testing.assert_array_equal(CachedEmbedder(last := Counting(), tmp_path).embed(["b", "a"]), found[::-1])
    assert last.asked == []


def test_a_killed_run_keeps_the_chunks_that_were_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "CHUNK", 2)
    with pytest.raises(KeyboardInterrupt):
        CachedEmbedder(Counting(), tmp_path).embed(["longest text", "longer text", "fail"])
    CachedEmbedder(inner := Counting(), tmp_path).embed(["longest text", "longer text", "x"])
    assert inner.asked == ["x"]


def test_two_open_caches_see_what_the_other_wrote(tmp_path: Path) -> None:
    first, second = CachedEmbedder(one := Counting(), tmp_path), CachedEmbedder(two := Counting(), tmp_path)
    first.embed(["a"])
    second.embed(["b"])
    np.testing.assert_array_equal(first.embed(["a", "b"]), second.embed(["a", "b"]))
    assert (one.asked, two.asked) == (["a"], ["b"])


def test_progress_counts_distinct_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "CHUNK", 1)
    embedder, seen = CachedEmbedder(Counting(), tmp_path), list[tuple[int, int]]()
    embedder.embed(["a"])
    embedder.embed(["a", "b", "c", "b"], lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_vectors_that_are_not_finite_are_never_kept(tmp_path: Path) -> None:
    with pytest.raises(FuguLiteError, match="not finite"):
        CachedEmbedder(Counting(), tmp_path).embed(["nan"])
    assert list(tmp_path.rglob("vectors.bin")) == []


def test_without_a_folder_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    inner = Counting()
    embedder = CachedEmbedder(inner, None)
    np.testing.assert_array_equal(embedder.embed(["a", "\ud800"]), embedder.embed(["a", "\ud800"]))
    assert inner.asked == ["\ud800", "a"] or inner.asked == ["a", "\ud800"]
    assert list(tmp_path.iterdir()) == []
    assert embedder.embed([]).shape == (0, 16)

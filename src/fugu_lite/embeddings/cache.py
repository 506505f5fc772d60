"""Vectors on disk: one file of fixed-size records per fingerprint, appended to under a lock and mapped for reading."""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fugu_lite import jsonl
from fugu_lite.embeddings.contract import Embedder, Features, Progress
from fugu_lite.errors import FuguLiteError

CHUNK = 256
KEY_BYTES = 32


class CachedEmbedder(Embedder):
    """An embedder that computes every text once.

    Each chunk is on disk before the next one starts, so that a killed run keeps what is done. Several processes may
    share a folder.

    Args:
        inner: what computes; its fingerprint names the subfolder.
        folder: root of the cache, shared by all fingerprints; None keeps vectors in memory only.
    """

    def __init__(self, inner: Embedder, folder: Path | None) -> None:
        super().__init__(inner.spec)
        self.inner = inner
        self._file = None if folder is None else folder / inner.fingerprint / "vectors.bin"
        self._vectors: dict[bytes, Features] = {}
        self._read = 0  # records of the file that are in `_vectors`

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self.inner.dimension

    @property
    def weights_digest(self) -> str:
        """Hash of the inner embedder's weights."""
        return self.inner.weights_digest

    @property
    def fingerprint(self) -> str:
        """The inner embedder's."""
        return self.inner.fingerprint

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> Features:
        """Return one vector per text, computing only those never seen; `progress` counts distinct texts."""
        keys = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
        distinct = dict(zip(keys, texts, strict=True))
        self._refresh()
        # Longest first: batches of one length, the largest memory at once, and an estimate that only improves.
        missing = sorted((key for key in distinct if key not in self._vectors), key=lambda key: -len(distinct[key]))
        known = len(distinct) - len(missing)
        if progress is not None and distinct:
            progress(known, len(distinct))
        for start in range(0, len(missing), CHUNK):
            chunk = missing[start : start + CHUNK]
            self._add(chunk, self.inner.embed([distinct[key] for key in chunk]))
            if progress is not None:
                progress(known + start + len(chunk), len(distinct))
        vectors = np.empty((len(keys), self.dimension), dtype=np.float32)
        for index, key in enumerate(keys):
            vectors[index] = self._vectors[key]
        return vectors

    def truncated(self, text: str) -> bool:
        """Whether the inner embedder cuts this text."""
        return self.inner.truncated(text)

    def close(self) -> None:
        """Release the inner embedder."""
        self.inner.close()

    @property
    def _record(self) -> np.dtype[Any]:
        return np.dtype([("key", "u1", (KEY_BYTES,)), ("vector", "<f4", (self.dimension,))])

    def _refresh(self) -> None:
        """Map what this or another process appended since the last look; a torn last record does not count."""
        if self._file is None or not self._file.is_file():
            return
        count = self._file.stat().st_size // self._record.itemsize
        if count > self._read:
            rows = np.memmap(self._file, dtype=self._record, mode="r", shape=(count,))[self._read :]
            keys = np.ascontiguousarray(rows["key"]).tobytes()
            vectors = rows["vector"]
            for index in range(len(rows)):
                self._vectors.setdefault(keys[index * KEY_BYTES : (index + 1) * KEY_BYTES], vectors[index])
            self._read = count

    def _add(self, keys: Sequence[bytes], vectors: Features) -> None:
        if not np.isfinite(vectors).all():
            raise FuguLiteError(f"backbone {self.spec.backbone!r} gave vectors that are not finite; nothing was cached")
        self._vectors.update(zip(keys, vectors, strict=True))
        if self._file is not None:
            rows = np.empty(len(keys), dtype=self._record)
            rows["key"] = np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(-1, KEY_BYTES)
            rows["vector"] = vectors
            self._append(self._file, rows)

    def _append(self, path: Path, rows: NDArray[Any]) -> None:
        """Append whole records, durably; what a killed writer left half-written is cut off first."""
        if not path.exists():
            about = {**self.spec.identity(), "weights": self.weights_digest, "dimension": self.dimension}
            jsonl.write_json(path.with_name("spec.json"), about)
        with path.open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # waits: a writer holds it for one chunk's write only
            size = file.seek(0, os.SEEK_END)
            file.truncate(size - size % rows.dtype.itemsize)
            file.write(rows.tobytes())
            file.flush()
            os.fsync(file.fileno())

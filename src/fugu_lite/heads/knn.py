"""`knn`: mean values of the most similar training rows (cosine)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fugu_lite.heads.contract import Array, Domains
from fugu_lite.heads.values import Labels, ValueHead, ValueHeadSpec, column_means, fitted_spec

SIZES = (300, 150, 80, 40, 20)
CHUNK = 512  # rows asked at once: bounds the matrix of similarities

CELLS = 10_000_000  # 40 MB of similarities


class KnnHead(ValueHead):
    """Parameters: `points` (rows, dimension) of length 1, `labels` (rows, outputs) with NaN, `mean` (outputs,)."""

    kind = "knn"
    columns = frozenset({"labels", "mean"})

    @classmethod
    def candidates(cls, spec: ValueHeadSpec, rows: int) -> list[ValueHeadSpec]:
        """Numbers of neighbours, at most a quarter of the rows."""
        if spec.neighbours is not None:
            return [spec]
        sizes = [size for size in SIZES if 4 * size <= rows] or [max(1, rows // 4)]
        return [spec.model_copy(update={"neighbours": size}) for size in sizes]

    @classmethod
    def fit(cls, spec: ValueHeadSpec, features: NDArray[Any], labels: Labels, rng: np.random.Generator) -> Self:
        """Remember the rows."""
        parameters: dict[str, NDArray[Any]] = {
            "points": unit(features),
            "labels": labels.outputs,
            "mean": column_means(labels.outputs),
        }
        count = min(spec.neighbours or SIZES[-1], len(features))
        return cls(fitted_spec(spec, labels, neighbours=count), labels.worker_ids, parameters)

    def outputs(self, features: NDArray[Any], domains: Domains | None = None) -> Array:
        """Return the mean of what was measured among the neighbours; the overall mean where nothing was."""
        asked, points, labels = unit(features), self.parameters["points"], self.parameters["labels"]
        count = min(self.spec.neighbours or SIZES[-1], len(points))
        observed = ~np.isnan(labels)
        filled = np.where(observed, labels, 0.0)
        rows = []
        for start in range(0, len(asked), CHUNK):
            near = most_similar(asked[start : start + CHUNK], points, count)
            counts = observed[near].sum(axis=1)
            means = filled[near].sum(axis=1, dtype=np.float64) / np.maximum(counts, 1)
            rows.append(np.where(counts > 0, means, self.parameters["mean"]))
        return np.concatenate(rows) if rows else np.empty((0, labels.shape[1]))


def unit(features: NDArray[Any]) -> NDArray[np.float32]:
    """Return the vectors scaled to length 1, float32; a zero vector stays."""
    x = np.asarray(features, dtype=np.float32)
    lengths = np.linalg.norm(x, axis=1, keepdims=True)
    return np.asarray(x / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)


def most_similar(asked: NDArray[np.float32], points: NDArray[np.float32], count: int) -> NDArray[np.intp]:
    """Return (asked, count) rows of `points` with the highest cosine, in no order."""
    if count >= len(points):
        return np.tile(np.arange(len(points)), (len(asked), 1))
    step = max(1, CELLS // len(points))  # similarities are held for a few rows at a time, however many are asked
    parts = [
        np.argpartition(-(asked[start : start + step] @ points.T), count - 1, axis=1)[:, :count]
        for start in range(0, len(asked), step)
    ]
    return np.concatenate(parts) if parts else np.empty((0, count), dtype=np.intp)

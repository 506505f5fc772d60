"""`cluster`: mean values per k-means cluster, averaged over several clusterings.

One clustering is a lottery ticket; the average over seeds is what made this family reliable (docs/runs.md).
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fugu_lite.heads.contract import Array, Domains
from fugu_lite.heads.values import Labels, ValueHead, ValueHeadSpec, cell_means, fitted_spec

SIZES = (16, 32, 64)
ROWS_PER_CLUSTER = 12


class ClusterHead(ValueHead):
    """Tables of cluster means.

    Parameters: `centres` (seeds, clusters, dimension), `table` (seeds, clusters, outputs).
    """

    kind = "cluster"
    columns = frozenset({"table"})

    @classmethod
    def candidates(cls, spec: ValueHeadSpec, rows: int) -> list[ValueHeadSpec]:
        """Numbers of clusters that leave enough rows in each."""
        if spec.clusters is not None:
            return [spec]
        sizes = [size for size in SIZES if size * ROWS_PER_CLUSTER <= rows] or [max(1, rows // ROWS_PER_CLUSTER)]
        return [spec.model_copy(update={"clusters": size}) for size in sizes]

    @classmethod
    def fit(cls, spec: ValueHeadSpec, features: NDArray[Any], labels: Labels, rng: np.random.Generator) -> Self:
        """Cluster `seeds` times and average the outputs of each cluster."""
        from sklearn.cluster import KMeans

        count = min(spec.clusters or SIZES[0], len(features))
        x = np.asarray(features, dtype=np.float32)
        centres, tables = [], []
        for _ in range(spec.seeds):
            seed = int(rng.integers(2**31))
            found = KMeans(count, n_init=1, max_iter=60, random_state=seed, algorithm="lloyd").fit(x)
            centres.append(found.cluster_centers_)
            tables.append(cell_means(labels.outputs, found.labels_.astype(np.intp), count))
        parameters = {"centres": np.stack(centres), "table": np.stack(tables)}
        return cls(fitted_spec(spec, labels, clusters=count), labels.worker_ids, parameters)

    def outputs(self, features: NDArray[Any], domains: Domains | None = None) -> Array:
        """Return the mean over clusterings of the nearest centre's row."""
        centres, tables = self.parameters["centres"], self.parameters["table"].astype(np.float64)
        return np.asarray(
            np.mean([table[nearest(features, points)] for points, table in zip(centres, tables, strict=True)], axis=0)
        )


def nearest(features: NDArray[Any], points: NDArray[Any]) -> NDArray[np.intp]:
    """Return (tasks,) number of the nearest point, Euclidean."""
    x, p = np.asarray(features, dtype=np.float64), points.astype(np.float64)
    return np.asarray(((p**2).sum(axis=1) - 2 * x @ p.T).argmin(axis=1), dtype=np.intp)

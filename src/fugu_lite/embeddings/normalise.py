"""Z-scores of features: fitted on training rows, then folded into a linear head so that routing pays nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fugu_lite.embeddings.contract import Features
from fugu_lite.errors import InputError

Matrix = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Normaliser:
    """`(features - mean) / std`, column by column.

    Attributes:
        mean: (dimension,); `fit` gives float32, and it is used as float32, so that a stored one says the same.
        std: (dimension,), above 0; 1 for a column that never varied.
    """

    mean: Matrix
    std: Matrix

    @classmethod
    def fit(cls, features: Features) -> Self:
        """Take mean and standard deviation of (rows, dimension) features.

        Raises:
            InputError: if there is no row.
        """
        if not len(features):
            raise InputError("features", "no rows to normalise by", "check that the training split is not empty")
        mean = features.mean(axis=0, dtype=np.float64)
        std = features.std(axis=0, dtype=np.float64)
        constant = std <= 1e-6 * np.maximum(np.abs(mean), 1e-6)  # below float32 rounding: no information
        return cls(mean.astype(np.float32), np.where(constant, 1.0, std).astype(np.float32))

    @classmethod
    def identity(cls, dimension: int) -> Self:
        """Return the normaliser that changes nothing."""
        return cls(np.zeros(dimension, dtype=np.float32), np.ones(dimension, dtype=np.float32))

    def apply(self, features: Features) -> Features:
        """Return the z-scores of (..., dimension) features, float32."""
        centred = features - self.mean.astype(np.float32)
        return (centred / self.std.astype(np.float32)).astype(np.float32)

    def folded(self, weight: Matrix, bias: Matrix) -> tuple[Matrix, Matrix]:
        """Return the linear layer that does the same on raw features.

        `((x - mean) / std) @ W + b == x @ W' + b'`.

        Args:
            weight: (dimension, workers).
            bias: (workers,).

        Returns:
            W' (dimension, workers) and b' (workers,), in the type of `weight`; computed in float64.
        """
        scaled = weight.astype(np.float64) / self.std.astype(np.float64)[:, None]
        shifted = bias.astype(np.float64) - self.mean.astype(np.float64) @ scaled
        return scaled.astype(weight.dtype), shifted.astype(weight.dtype)

"""`linear`: logits = x @ W + b, after an optional LayerNorm."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fugu_lite.heads.contract import Array, HeadSpec, PolicyHead

EPSILON = 1e-5  # torch's LayerNorm default


class LinearHead(PolicyHead):
    """A linear layer on the features: 2048 x 5 + 5 = 10,245 parameters for five workers on Qwen3-1.7B."""

    kind = "linear"

    @classmethod
    def initial(
        cls, spec: HeadSpec, dimension: int, worker_ids: tuple[str, ...], rng: np.random.Generator
    ) -> LinearHead:
        """Start at W = 0, b = 0: a uniform policy. Training is convex, so no random start is needed."""
        del rng
        parameters: dict[str, NDArray[Any]] = {
            "W": np.zeros((dimension, len(worker_ids))),
            "b": np.zeros(len(worker_ids)),
        }
        if spec.layer_norm:
            parameters |= {"norm_scale": np.ones(dimension), "norm_shift": np.zeros(dimension)}
        return cls(spec, worker_ids, parameters)

    def hidden(self, features: NDArray[Any]) -> Array:
        """Return the features, layer-normalised when the spec says so."""
        return normalised(features, self.parameters)


def normalised(features: NDArray[Any], parameters: dict[str, NDArray[np.float32]]) -> Array:
    """Apply LayerNorm with learned scale and shift; the identity when there are none."""
    x = np.asarray(features, dtype=np.float64)
    if "norm_scale" not in parameters:
        return x
    centred = x - x.mean(axis=1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + EPSILON)
    return np.asarray(scaled * parameters["norm_scale"] + parameters["norm_shift"])

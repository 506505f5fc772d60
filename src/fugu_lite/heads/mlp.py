"""`mlp`: logits = gelu(x @ W1 + b1) @ W + b, after an optional LayerNorm."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from fugu_lite.heads.contract import Array, HeadSpec, PolicyHead
from fugu_lite.heads.linear import normalised


class MlpHead(PolicyHead):
    """One hidden layer of `head_hidden_dim` units with exact GELU."""

    kind = "mlp"

    @classmethod
    def initial(cls, spec: HeadSpec, dimension: int, worker_ids: tuple[str, ...], rng: np.random.Generator) -> MlpHead:
        """Random hidden layer (Kaiming normal), zero output layer: a uniform policy that can learn."""
        width = spec.head_hidden_dim or 64
        parameters: dict[str, NDArray[Any]] = {
            "W1": rng.normal(0.0, np.sqrt(2.0 / dimension), (dimension, width)),
            "b1": np.zeros(width),
            "W": np.zeros((width, len(worker_ids))),
            "b": np.zeros(len(worker_ids)),
        }
        if spec.layer_norm:
            parameters |= {"norm_scale": np.ones(dimension), "norm_shift": np.zeros(dimension)}
        return cls(spec.model_copy(update={"type": "mlp", "head_hidden_dim": width}), worker_ids, parameters)

    def hidden(self, features: NDArray[Any]) -> Array:
        """Return the activations of the hidden layer."""
        inner = normalised(features, self.parameters) @ self.parameters["W1"] + self.parameters["b1"]
        return np.asarray(inner * ndtr(inner))

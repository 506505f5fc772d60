"""Two contracts. A policy head gives logits for one utility; a value head (`values`) predicts what answers are worth.

Heads are numpy at inference, so that a checkpoint routes without torch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fugu_lite.registry import Registry
from fugu_lite.specs import Spec

Array = NDArray[np.float64]
Parameters = Mapping[str, NDArray[Any]]
Domains = Sequence[str | None]


class HeadSpec(Spec):
    """Shape of a trainable head.

    Attributes:
        type: `linear`, or `mlp` (one hidden layer, GELU); a family of values has more settings, see `ValueHeadSpec`.
        head_hidden_dim: width of the hidden layer; 0 = linear, as in the router-head manifest.
        layer_norm: normalise each vector before the first layer (learned scale and shift).
    """

    type: str = "linear"
    head_hidden_dim: int = Field(0, ge=0)
    layer_norm: bool = False


class Head(ABC):
    """Scores workers from features. Parameters are named arrays; nothing else is saved.

    Attributes:
        kind: registry name.
        spec: the shape.
        worker_ids: one per output, in order.
    """

    kind: ClassVar[str]

    def __init__(self, spec: HeadSpec, worker_ids: tuple[str, ...], parameters: Parameters) -> None:
        self.spec, self.worker_ids = spec, worker_ids
        self.parameters: dict[str, NDArray[np.float32]] = {
            name: np.ascontiguousarray(value, dtype=np.float32) for name, value in parameters.items()
        }

    @abstractmethod
    def scores(self, features: NDArray[Any], domains: Domains | None = None) -> Array:
        """Return (tasks, workers) scores, higher is better.

        Args:
            features: (tasks, dimension).
            domains: labels of the tasks, None or an unknown name where there is none; only heads that declare
                `domain: given` look at them.
        """

    @abstractmethod
    def probabilities(self, features: NDArray[Any], domains: Domains | None = None) -> Array:
        """Return (tasks, workers) routing probabilities, rows summing to 1."""


class PolicyHead(Head):
    """A head whose scores are logits: probabilities are their softmax.

    The last layer is `W` (inputs, workers) and `b` (workers,), so that evolution and the router-head layout can take it
    out and put it back.
    """

    @classmethod
    @abstractmethod
    def initial(
        cls, spec: HeadSpec, dimension: int, worker_ids: tuple[str, ...], rng: np.random.Generator
    ) -> PolicyHead:
        """Return an untrained head for features of length `dimension`."""

    @abstractmethod
    def hidden(self, features: NDArray[Any]) -> Array:
        """Return the (tasks, inputs) inputs of the last linear layer."""

    def scores(self, features: NDArray[Any], domains: Domains | None = None) -> Array:
        """Return logits = hidden(features) @ W + b."""
        return np.asarray(self.hidden(features) @ self.parameters["W"] + self.parameters["b"], dtype=np.float64)

    def probabilities(self, features: NDArray[Any], domains: Domains | None = None) -> Array:
        """Return softmax(logits)."""
        return softmax(self.scores(features))

    def with_last_layer(self, weights: NDArray[Any], bias: NDArray[Any]) -> PolicyHead:
        """Return a copy with another last layer."""
        return type(self)(self.spec, self.worker_ids, {**self.parameters, "W": weights, "b": bias})


def softmax(logits: NDArray[Any], temperature: float = 1.0) -> Array:
    """Return the row-wise softmax of logits / temperature; a -inf or NaN logit gets probability 0.

    Args:
        logits: (tasks, workers); NaN counts as masked.
        temperature: > 0; small values sharpen.
    """
    scaled = np.where(np.isnan(logits), -np.inf, np.asarray(logits, dtype=np.float64)) / temperature
    shifted = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))


registry: Registry[type[Head]] = Registry(
    "head",
    {
        "linear": "fugu_lite.heads.linear:LinearHead",
        "mlp": "fugu_lite.heads.mlp:MlpHead",
        "fixed": "fugu_lite.heads.fixed:FixedHead",
        "table": "fugu_lite.heads.table:TableHead",
        "cluster": "fugu_lite.heads.cluster:ClusterHead",
        "knn": "fugu_lite.heads.knn:KnnHead",
        "ridge": "fugu_lite.heads.ridge:RidgeHead",
        "logistic": "fugu_lite.heads.logistic:LogisticHead",
        "residual": "fugu_lite.heads.residual:ResidualHead",
        "average": "fugu_lite.heads.average:AverageHead",
        "extended": "fugu_lite.heads.extended:ExtendedHead",
    },
    "fugu_lite.heads",
)


def kind_of(spec: HeadSpec) -> type[Head]:
    """Return the class of a spec; a hidden width makes a linear head an mlp, as the flag `--head-hidden-dim` does."""
    return registry.get("mlp" if spec.type == "linear" and spec.head_hidden_dim else spec.type, "head")

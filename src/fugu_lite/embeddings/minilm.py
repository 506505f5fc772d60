"""all-MiniLM-L6-v2: a small English sentence encoder, mean pooled and scaled to length 1."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from fugu_lite import weights
from fugu_lite.embeddings.contract import EmbedderSpec
from fugu_lite.embeddings.transformers import TransformersEmbedder

NAME = "minilm"
POSITIONS = 512


class MiniLmEmbedder(TransformersEmbedder):
    """The sentence encoder as it was trained: last layer, mean over all tokens, length 1, at most 512 tokens.

    These fields of the spec are set, whatever was given, so that the fingerprint says what is computed.
    """

    def __init__(self, spec: EmbedderSpec) -> None:
        fixed = {
            "backbone": NAME,
            "layer": "final",
            "pooling": "mean",
            "drop_first_token": False,
            "l2_normalise": True,
            "max_length": min(spec.max_length, POSITIONS),
        }
        super().__init__(spec.model_copy(update=fixed))

    @cached_property
    def folder(self) -> Path:
        """The fetched folder.

        Raises:
            MissingWeightsError: if it was not fetched.
        """
        return weights.path(NAME)

    @cached_property
    def weights_digest(self) -> str:
        """The pinned hash."""
        return weights.named(NAME).digest[:12]

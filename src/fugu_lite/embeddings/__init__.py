"""Embedders: one file per kind. Text in, one fixed vector out; frozen, cached on disk."""

from fugu_lite.embeddings.contract import Embedder, EmbedderSpec, registry

__all__ = ["Embedder", "EmbedderSpec", "registry"]

"""`joined`: the vectors of several backbones side by side, for instance a language model's and a sentence encoder's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fugu_lite.embeddings.contract import Embedder, EmbedderSpec, Features, Progress, build
from fugu_lite.errors import SpecError


class JoinedEmbedder(Embedder):
    """Embeds with every part and concatenates in their order. Execution details given to the whole reach the parts."""

    def __init__(self, spec: EmbedderSpec) -> None:
        super().__init__(spec)
        if len(spec.parts) < 2:
            raise SpecError("backbone.parts", f"joined needs at least two backbones, found {len(spec.parts)}")
        execution = [name for name in ("device", "threads") if name in spec.model_fields_set]
        placed: dict[str, Any] = {name: getattr(spec, name) for name in execution}
        self.parts = [build(part.model_copy(update=placed)) for part in spec.parts]

    @property
    def dimension(self) -> int:
        """Sum of the parts' lengths."""
        return sum(part.dimension for part in self.parts)

    @property
    def weights_digest(self) -> str:
        """The parts' digests."""
        return "+".join(part.weights_digest for part in self.parts)

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> Features:
        """Return one vector per text; see `Embedder.embed`. `progress` counts texts of all parts."""
        vectors: list[Features] = []
        whole = len(texts) * len(self.parts)
        for number, part in enumerate(self.parts):
            before = number * len(texts)
            told = None if progress is None else lambda done, _, start=before: progress(start + done, whole)
            vectors.append(part.embed(texts, told))
        return np.concatenate(vectors, axis=1) if texts else np.empty((0, self.dimension), dtype=np.float32)

    def truncated(self, text: str) -> bool:
        """Whether every part cuts this text; one that reads it whole has lost nothing."""
        return all(part.truncated(text) for part in self.parts)

    def close(self) -> None:
        """Release the parts."""
        for part in self.parts:
            part.close()

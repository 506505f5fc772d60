"""Router = embedder + normaliser + head + worker ids. Text in, decision out; it never calls a worker."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fugu_lite.embeddings import Embedder
from fugu_lite.embeddings.contract import Progress
from fugu_lite.embeddings.normalise import Normaliser
from fugu_lite.errors import MismatchError
from fugu_lite.heads import Head

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Decision:
    """One routing decision.

    Attributes:
        worker_id: the chosen worker.
        probabilities: worker id -> routing probability over the allowed workers, in the head's order.
        ranking: allowed workers from best to worst, ties by name: the fallback chain.
        reason: `head` for the head's own choice; a guard or a mask would say so here.
        truncated: whether the text was longer than the backbone reads and lost its middle.
    """

    worker_id: str
    probabilities: dict[str, float]
    ranking: tuple[str, ...]
    reason: str
    truncated: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        return {
            "worker_id": self.worker_id,
            "probabilities": self.probabilities,
            "ranking": list(self.ranking),
            "reason": self.reason,
            "truncated": self.truncated,
        }


class Router:
    """Chooses a worker for a text.

    Args:
        embedder: text -> vector.
        normaliser: fitted on the training rows.
        head: vector -> one score per worker.
    """

    def __init__(self, embedder: Embedder, normaliser: Normaliser, head: Head) -> None:
        if embedder.dimension != len(normaliser.mean):
            raise MismatchError(
                "router",
                f"the backbone gives {embedder.dimension} numbers but the head was trained on {len(normaliser.mean)}",
                "use the backbone named in the checkpoint's manifest",
            )
        self.embedder, self.normaliser, self.head = embedder, normaliser, head

    @property
    def worker_ids(self) -> tuple[str, ...]:
        """Workers in the head's order."""
        return self.head.worker_ids

    def features(self, texts: Sequence[str], progress: Progress | None = None) -> Array:
        """Return the (texts, dimension) normalised features."""
        return np.asarray(self.normaliser.apply(self.embedder.embed(texts, progress)), dtype=np.float64)

    def probabilities(self, texts: Sequence[str], progress: Progress | None = None) -> Array:
        """Return the (texts, workers) routing probabilities of the raw head."""
        return self.head.probabilities(self.features(texts, progress))

    def decide(self, text: str, allowed: Collection[str] | None = None) -> Decision:
        """Choose a worker for one text.

        Args:
            text: the last user turn.
            allowed: workers that may be chosen; None allows all.

        Raises:
            MismatchError: if none of the head's workers is allowed.
        """
        scores = self.head.probabilities(self.features([text]))[0]
        mask = np.array([allowed is None or name in allowed for name in self.worker_ids])
        if not mask.any():
            raise MismatchError("router", "none of the allowed workers is known to the head", self._known())
        # masked workers are dropped and the rest renormalised, so that probabilities still sum to 1
        kept = np.where(mask, scores, 0.0)
        total = kept.sum()
        kept = kept / total if total > 0 else mask / mask.sum()
        order = sorted(np.flatnonzero(mask), key=lambda i: (-kept[i], self.worker_ids[i]))
        ranking = tuple(self.worker_ids[i] for i in order)
        named = {name: float(kept[i]) for i, name in enumerate(self.worker_ids) if mask[i]}
        return Decision(ranking[0], named, ranking, "head", self.embedder.truncated(text))

    def _known(self) -> str:
        return f"the head knows {', '.join(self.worker_ids)}"

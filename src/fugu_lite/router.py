"""Router = embedder + normaliser + head + guard. Text in, decision out; it never calls a worker."""

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
from fugu_lite.guard import NOT_CERTIFIED, Guard
from fugu_lite.heads import Head, ValueHead
from fugu_lite.heads.contract import Domains, softmax
from fugu_lite.heads.values import TEMPERATURE
from fugu_lite.rewards.utility import utility
from fugu_lite.workers import UtilitySpec

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Decision:
    """One routing decision.

    Attributes:
        worker_id: the chosen worker.
        probabilities: worker id -> routing probability over the allowed workers, in the head's order.
        ranking: allowed workers from best to worst, ties by name: the fallback chain.
        reason: `head` for the head's own choice; `novel_input` or `not_certified` when the guard sent the request to
            the best fixed worker.
        truncated: whether the text was longer than the backbone reads and lost its middle.
        novelty: how unlike the training rows the text is; above 1 it is beyond the guard's threshold. None = no guard.
    """

    worker_id: str
    probabilities: dict[str, float]
    ranking: tuple[str, ...]
    reason: str
    truncated: bool = False
    novelty: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        return {
            "worker_id": self.worker_id,
            "probabilities": self.probabilities,
            "ranking": list(self.ranking),
            "reason": self.reason,
            "truncated": self.truncated,
            "novelty": self.novelty,
        }


@dataclass(frozen=True)
class Routing:
    """Decisions about many texts.

    Attributes:
        probabilities: (texts, workers), 0 for masked workers; rows sum to 1.
        reasons: per text, see `Decision.reason`.
        novelty: (texts,), NaN without a guard.
    """

    probabilities: Array
    reasons: list[str]
    novelty: Array


class Router:
    """Chooses a worker for a text.

    Args:
        embedder: text -> vector.
        normaliser: fitted on the training rows.
        head: vector -> one score per worker.
        guard: None trusts the head everywhere.
        fallback: fixed workers from best to worst: who answers where the guard does not trust the head.
        values: predicts quality, cost and latency; None for a value head takes the head itself.
        dial: weights of quality, cost and latency to route by; None routes by what the head was trained for.
        unproven: workers that joined later and have no certificate; with the guard `full` they are not chosen.

    Raises:
        MismatchError: if the sizes differ, or a dial is given and costs or latencies cannot be predicted.
    """

    def __init__(
        self,
        embedder: Embedder,
        normaliser: Normaliser,
        head: Head,
        *,
        guard: Guard | None = None,
        fallback: Sequence[str] = (),
        values: ValueHead | None = None,
        dial: UtilitySpec | None = None,
        unproven: Collection[str] = (),
    ) -> None:
        if embedder.dimension != len(normaliser.mean):
            raise MismatchError(
                "router",
                f"the backbone gives {embedder.dimension} numbers but the head was trained on {len(normaliser.mean)}",
                "use the backbone named in the checkpoint's manifest",
            )
        self.embedder, self.normaliser, self.head = embedder, normaliser, head
        self.guard, self.fallback, self.unproven = guard, tuple(fallback), frozenset(unproven)
        self.values = values or (head if isinstance(head, ValueHead) else None)
        self.dial = dial
        if dial is not None:
            check_dial(self.values, dial)

    @property
    def worker_ids(self) -> tuple[str, ...]:
        """Workers in the head's order."""
        return self.head.worker_ids

    def features(self, texts: Sequence[str], progress: Progress | None = None) -> Array:
        """Return the (texts, dimension) normalised features."""
        return np.asarray(self.normaliser.apply(self.embedder.embed(texts, progress)), dtype=np.float64)

    def head_probabilities(self, features: Array, domains: Domains | None = None) -> Array:
        """Return the (texts, workers) probabilities of the head alone, under the dial, without the guard."""
        if self.dial is None or self.values is None:
            return self.head.probabilities(features, domains)
        return softmax(dialled(self.values, self.dial, features, domains), TEMPERATURE)

    def probabilities(self, texts: Sequence[str], progress: Progress | None = None) -> Array:
        """Return the (texts, workers) routing probabilities, guard included."""
        return self.route(self.features(texts, progress)).probabilities

    def route(self, features: Array, domains: Domains | None = None, allowed: Collection[str] | None = None) -> Routing:
        """Decide about many texts.

        Args:
            features: (texts, dimension), normalised.
            domains: labels given with the texts; only heads that declare it look at them.
            allowed: workers that may be chosen; None allows all.

        Raises:
            MismatchError: if none of the head's workers is allowed.
        """
        mask = np.array([allowed is None or name in allowed for name in self.worker_ids])
        if not mask.any():
            known = f"the head knows {', '.join(self.worker_ids)}"
            raise MismatchError("router", "none of the allowed workers is known to the head", known)
        scores = np.where(mask, self.head_probabilities(features, domains), 0.0)
        totals = scores.sum(axis=1, keepdims=True)
        # masked workers are dropped and the rest renormalised, so that probabilities still sum to 1
        kept = np.where(totals > 0, scores / np.where(totals > 0, totals, 1.0), mask / mask.sum())
        reasons: list[str] = ["head"] * len(features)
        novelty = np.full(len(features), np.nan)
        safe = self._safe(mask)
        if self.guard is not None and safe is not None:
            found, novelty = self.guard.reasons(features)
            for i, reason in enumerate(found):
                reason = reason or self._unproven(kept[i])
                if reason is not None:
                    kept[i] = np.eye(len(mask))[safe]
                    reasons[i] = reason
        return Routing(np.asarray(kept), reasons, novelty)

    def decide(self, text: str, allowed: Collection[str] | None = None, domain: str | None = None) -> Decision:
        """Choose a worker for one text.

        Args:
            text: the last user turn.
            allowed: workers that may be chosen; None allows all.
            domain: the request's label, where it has one.

        Raises:
            MismatchError: if none of the head's workers is allowed.
        """
        features = self.features([text])
        routing = self.route(features, [domain], allowed)
        chances = routing.probabilities[0]
        mask = [allowed is None or name in allowed for name in self.worker_ids]
        order = sorted(np.flatnonzero(mask), key=lambda i: (-chances[i], self._place(int(i)), self.worker_ids[i]))
        ranking = tuple(self.worker_ids[i] for i in order)
        named = {name: float(chances[i]) for i, name in enumerate(self.worker_ids) if mask[i]}
        novelty = float(routing.novelty[0])
        return Decision(
            ranking[0],
            named,
            ranking,
            routing.reasons[0],
            self.embedder.truncated(text),
            None if np.isnan(novelty) else novelty,
        )

    def _place(self, index: int) -> int:
        """Where a worker stands among the fixed ones: the order of fallback between equal probabilities."""
        name = self.worker_ids[index]
        return self.fallback.index(name) if self.guard is not None and name in self.fallback else len(self.fallback)

    def _safe(self, mask: NDArray[np.bool_]) -> int | None:
        """Return the column of the best allowed fixed worker; None when none is known."""
        known = (name for name in self.fallback if name in self.worker_ids)
        columns = (self.worker_ids.index(name) for name in known)
        return next((column for column in columns if mask[column]), None)

    def _unproven(self, chances: Array) -> str | None:
        full = self.guard is not None and self.guard.entry.mode == "full"
        return NOT_CERTIFIED if full and self.worker_ids[int(chances.argmax())] in self.unproven else None


def check_dial(values: ValueHead | None, dial: UtilitySpec) -> None:
    """Refuse a dial that the checkpoint cannot follow.

    Raises:
        MismatchError: naming what is not predicted.
    """
    fix = "train on a matrix with costs and latencies"
    if values is None:
        raise MismatchError("dial", "the checkpoint holds no value model to weigh costs with", fix)
    weighted = {"cost_usd": dial.cost_weight, "latency_s": dial.latency_weight}
    missing = [name for name, weight in weighted.items() if weight and name not in values.spec.targets]
    if missing:
        raise MismatchError("dial", f"the checkpoint does not predict {missing[0]}", fix)


def dialled(values: ValueHead, dial: UtilitySpec, features: Array, domains: Domains | None = None) -> Array:
    """Return (texts, workers) predicted utilities under other weights."""
    found = values.values(features, domains)
    quality = found.get("quality", found["reward"])
    zero = np.zeros_like(quality)
    return utility(
        dial, quality, np.maximum(found.get("cost_usd", zero), 0), np.maximum(found.get("latency_s", zero), 0)
    )

"""The guard: where a text is unlike anything the head learned from, the best fixed worker answers.

Two measures of novelty, because each is blind where the other sees: the distance to the nearest training rows notices
another language, the entropy of the predicted domain notices another subject. A guard bounds the loss; it does not
raise the mean (docs/concepts/guard.md has the measurements).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fugu_lite.heads.contract import Array
from fugu_lite.heads.domains import DomainModel
from fugu_lite.heads.knn import unit
from fugu_lite.specs import Spec

Mode = Literal["off", "novelty", "full"]
NOVEL, NOT_CERTIFIED = "novel_input", "not_certified"
NEIGHBOURS = 5
REFERENCE_ROWS = 1000


class Certificate(Spec):
    """What a test on rows that tuned nothing said about the policy's gain over the best fixed worker.

    Attributes:
        granted: whether the whole policy gains at `level`.
        level: chance of granting a policy that gains nothing.
        n: independent groups of rows tested.
        gain: mean gain on them; `gain_low` is its lower confidence bound.
        rows_needed: groups that would be needed for a gain of this size, None when the gain is not positive.
        source: which rows: `calibration`, a split's or a file's name.
        head: sha256 of the parameters that were tested.
        data_sha256: hash of the rows.
        regions: domain -> whether deviating there is certified; empty = the whole policy stands or falls together.
    """

    granted: bool
    level: float
    n: int
    gain: float
    gain_low: float
    rows_needed: int | None = None
    source: str = ""
    head: str = ""
    data_sha256: str = ""
    regions: dict[str, bool] = Field(default_factory=dict)


class GuardEntry(Spec):
    """The guard as the manifest records it.

    Attributes:
        mode: `off` measures the raw head; `novelty` sends unfamiliar texts to the best fixed worker; `full` needs a
            certificate besides.
        quantile: share of validation rows that the distance and the entropy each let pass.
        distance, entropy: thresholds; None = not measured.
        rows: validation rows that set them.
        domains: domains whose prediction gives the entropy.
        certificate: None until the head was tested on rows that tuned nothing.
    """

    mode: Mode = "off"
    quantile: float = Field(0.99, gt=0, le=1)
    distance: float | None = None
    entropy: float | None = None
    rows: int = 0
    domains: tuple[str, ...] = ()
    certificate: Certificate | None = None


@dataclass(frozen=True, eq=False)
class Guard:
    """Says for which texts the head's choice is not trusted.

    Attributes:
        entry: thresholds and certificate.
        parameters: `reference` (rows, dimension) of length 1, float16; `domain_weights`, `domain_bias` when there is
            an entropy threshold.
    """

    entry: GuardEntry
    parameters: Mapping[str, NDArray[Any]]

    @classmethod
    def fit(
        cls,
        mode: Mode,
        quantile: float,
        train: tuple[NDArray[Any], Sequence[str]],
        validation: tuple[NDArray[Any], Sequence[str]] | None,
        rng: np.random.Generator,
    ) -> Self:
        """Set the thresholds.

        Args:
            mode: kept as it is; `off` fits nothing.
            quantile: of the validation rows' novelty.
            train: (rows, dimension) normalised features, and the label of each, "" = none.
            validation: the same; None sets the thresholds on the training rows, each without itself.
            rng: picks the reference rows when there are more than 1,000.
        """
        if mode == "off":
            return cls(GuardEntry(mode="off", quantile=quantile), {})
        features, domains = train
        kept = np.arange(len(features))
        if len(kept) > REFERENCE_ROWS:
            kept = np.sort(rng.choice(kept, REFERENCE_ROWS, replace=False))
        parameters: dict[str, NDArray[Any]] = {"reference": unit(features[kept]).astype(np.float16)}
        asked = features if validation is None else validation[0]
        distances = _distances(parameters["reference"], asked, skip=validation is None)
        entry = GuardEntry(mode=mode, quantile=quantile, distance=_threshold(distances, quantile), rows=len(asked))
        if len(set(domains) - {""}) >= 2:
            model = DomainModel.fit(features, domains)
            parameters |= {
                "domain_weights": model.weights.astype(np.float32),
                "domain_bias": model.bias.astype(np.float32),
            }
            entropy = _threshold(model.entropy(asked), quantile)
            entry = entry.model_copy(update={"entropy": entropy, "domains": model.names})
        return cls(entry, parameters)

    def novelty(self, features: NDArray[Any]) -> Array:
        """Return (tasks,) how far beyond a threshold a text is: above 1 it is novel. NaN when the guard is off."""
        entry = self.entry
        if entry.distance is None:
            return np.full(len(features), np.nan)
        found = _distances(self.parameters["reference"], features) / max(entry.distance, 1e-9)
        if entry.entropy is not None:
            found = np.maximum(found, self.model.entropy(features) / max(entry.entropy, 1e-9))
        return np.asarray(found)

    def reasons(self, features: NDArray[Any]) -> tuple[list[str | None], Array]:
        """Return why each text goes to the best fixed worker, None where the head may choose, and the novelty."""
        novelty = self.novelty(features)
        found: list[str | None] = [NOVEL if value > 1 else None for value in novelty]
        if self.entry.mode == "full":
            allowed = self._certified(features)
            found = [
                reason or (None if certain else NOT_CERTIFIED) for reason, certain in zip(found, allowed, strict=True)
            ]
        return found, novelty

    @property
    def model(self) -> DomainModel:
        """What predicts the domain."""
        return DomainModel(self.entry.domains, self.parameters["domain_weights"], self.parameters["domain_bias"])

    def _certified(self, features: NDArray[Any]) -> list[bool]:
        certificate = self.entry.certificate
        if certificate is None or not certificate.granted:
            return [False] * len(features)
        if not certificate.regions:
            return [True] * len(features)
        predicted = self.model.probabilities(features).argmax(axis=1)
        return [certificate.regions.get(self.entry.domains[int(i)], False) for i in predicted]


def _distances(reference: NDArray[Any], features: NDArray[Any], skip: bool = False) -> Array:
    """Return (tasks,) mean cosine distance to the nearest reference rows; `skip` leaves the nearest out: itself."""
    similar = unit(features) @ reference.astype(np.float32).T
    first = 1 if skip and similar.shape[1] > 1 else 0
    count = min(NEIGHBOURS + first, similar.shape[1])
    nearest = -np.partition(-similar, count - 1, axis=1)[:, :count] if count < similar.shape[1] else similar
    return np.asarray(1.0 - np.sort(nearest, axis=1)[:, ::-1][:, first:].mean(axis=1), dtype=np.float64)


def _threshold(values: Array, quantile: float) -> float:
    """Return the quantile, from above: at most the share 1 - quantile of the values lies beyond."""
    return float(np.quantile(values, quantile, method="higher")) + 1e-6

"""Where the training rows do not reach: a domain left out, and sixteen other languages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bench.routing.data import Matrix
from bench.routing.fitting import FAMILIES, fit
from fugu_lite.guard import Guard
from fugu_lite.trainers.contract import Array


@dataclass(frozen=True)
class LeftOut:
    """Gain on one domain that the fitted rows did not hold."""

    encoder: str
    policy: str
    domain: str
    n: int
    gain: float
    unguarded: float


@dataclass(frozen=True)
class Deviation:
    """Share of a language's texts that do not go to the best fixed worker."""

    set: str
    encoder: str
    policy: str
    language: str
    n: int
    guarded: float
    unguarded: float
    top_share: float


def leave_one_domain_out(
    matrix: Matrix, encoder: str, features: Array, names: list[str], told: Callable[[str], None]
) -> list[LeftOut]:
    """Fit on all other domains, judge on the one left out."""
    domains, found = np.array(matrix.domains), []
    for domain in sorted(set(matrix.domains)):
        fitted, asked = np.flatnonzero(domains != domain), np.flatnonzero(domains == domain)
        rewards, guard = matrix.rewards[asked], None
        for name in names:
            model = fit(FAMILIES[name], matrix, features, fitted, guard)
            guard = model.guard
            raw = model.picks(features[asked])
            safe, rows = model.guarded(features[asked], raw), np.arange(len(asked))
            gains = [float((rewards[rows, picks] - rewards[:, model.best]).mean()) for picks in (safe, raw)]
            found.append(LeftOut(encoder, name, domain, len(asked), *gains))
        told(f"{matrix.name} {encoder} without {domain}")
    return found


def other_languages(
    matrix: Matrix,
    encoder: str,
    features: Array,
    texts: dict[str, Array],
    names: list[str],
    told: Callable[[str], None],
) -> list[Deviation]:
    """Fit on the English rows, route other languages, count who leaves the best fixed worker."""
    fitted = np.arange(len(matrix))
    found: list[Deviation] = []
    guard: Guard | None = None
    for name in names:
        model = fit(FAMILIES[name], matrix, features, fitted, guard)
        guard = model.guard
        for language, asked in texts.items():
            raw = model.picks(asked)
            safe = model.guarded(asked, raw)
            shares = [float((picks != model.best).mean()) for picks in (safe, raw)]
            top = float(np.bincount(raw, minlength=len(matrix.worker_ids)).max() / len(raw))
            found.append(Deviation(matrix.name, encoder, name, language, len(asked), *shares, top))
        told(f"{matrix.name} {encoder} {name} on {len(texts)} languages")
    return found

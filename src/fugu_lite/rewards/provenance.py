"""Where a matrix came from, as far as the attempts beside it say: served models, conditions, graders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fugu_lite.chat import Json
from fugu_lite.rewards import attempts as log
from fugu_lite.rewards.conditions import recorded
from fugu_lite.specs import digest_of
from fugu_lite.workers.contract import SAMPLING


@dataclass(frozen=True)
class Provenance:
    """What the attempts behind some matrix files have in common; empty for matrices without attempts.

    Attributes:
        served: worker -> model that answered; left out when several did.
        conditions: worker -> hash of what shaped its answers; left out when it changed.
        graders: grader type -> version; the newest where several graded.
        sampling: worker -> its sampling parameters, where the conditions recorded beside the matrix are those.
    """

    served: dict[str, str] = field(default_factory=dict)
    conditions: dict[str, str] = field(default_factory=dict)
    graders: dict[str, int] = field(default_factory=dict)
    sampling: dict[str, Json] = field(default_factory=dict)


def of(files: Iterable[Path]) -> Provenance:
    """Read the attempts files beside some matrix files, and the conditions recorded there."""
    files = list(files)
    served: dict[str, set[str]] = {}
    conditions: dict[str, set[str]] = {}
    graders: dict[str, int] = {}
    for path in (log.path_beside(file) for file in files):
        for attempt in log.read(path) if path.is_file() else ():
            if attempt.served_model:
                served.setdefault(attempt.worker_id, set()).add(attempt.served_model)
            if attempt.conditions:
                conditions.setdefault(attempt.worker_id, set()).add(attempt.conditions)
            if attempt.grader and isinstance(attempt.grader.get("version"), int):
                kind = str(attempt.grader.get("type"))
                graders[kind] = max(graders.get(kind, 0), attempt.grader["version"])
    hashes = _single(conditions)
    return Provenance(_single(served), hashes, dict(sorted(graders.items())), _sampling(files, hashes))


def _sampling(files: Iterable[Path], hashes: Mapping[str, str]) -> dict[str, Json]:
    """Return the sampling parameters of the workers whose recorded conditions have the hash that their attempts say."""
    found = {}
    for file in files:
        for name, settings in recorded(file).items():
            if isinstance(settings, dict) and digest_of(settings) == hashes.get(name):
                found[name] = {key: settings[key] for key in SAMPLING if key in settings}
    return found


def _single(values: dict[str, set[str]]) -> dict[str, str]:
    return {name: next(iter(found)) for name, found in values.items() if len(found) == 1}

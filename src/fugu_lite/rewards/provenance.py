"""Where a matrix came from, as far as the attempts beside it say: served models, conditions, graders."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from fugu_lite.rewards import attempts as log


@dataclass(frozen=True)
class Provenance:
    """What the attempts behind some matrix files have in common; empty for matrices without attempts.

    Attributes:
        served: worker -> model that answered; left out when several did.
        conditions: worker -> hash of what shaped its answers; left out when it changed.
        graders: grader type -> version; the newest where several graded.
    """

    served: dict[str, str] = field(default_factory=dict)
    conditions: dict[str, str] = field(default_factory=dict)
    graders: dict[str, int] = field(default_factory=dict)


def of(files: Iterable[Path]) -> Provenance:
    """Read the attempts files beside some matrix files."""
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
    return Provenance(_single(served), _single(conditions), dict(sorted(graders.items())))


def _single(values: dict[str, set[str]]) -> dict[str, str]:
    return {name: next(iter(found)) for name, found in values.items() if len(found) == 1}

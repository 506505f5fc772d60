"""Rewards measured under other settings than the head's labels answer another question: refuse, or say so."""

from __future__ import annotations

from fugu_lite.checkpoints import Manifest
from fugu_lite.errors import MismatchError
from fugu_lite.rewards.provenance import Provenance


def differences(manifest: Manifest, found: Provenance) -> list[str]:
    """Return how the rows' conditions differ from those of the head's labels, in words; what is not recorded cannot."""
    lines = []
    for worker in manifest.workers:
        now = found.conditions.get(worker.id)
        if worker.conditions is None or now is None or worker.conditions == now:
            continue
        before, after = worker.sampling or {}, found.sampling.get(worker.id, {})
        names = sorted(name for name in before.keys() & after.keys() if before[name] != after[name])
        told = ", ".join(f"{name} was {before[name]!r}, is {after[name]!r}" for name in names)
        lines.append(f"worker {worker.id!r} answered under other conditions: {told or 'the recorded hash differs'}")
    for kind, version in manifest.graders.items():
        if found.graders.get(kind, version) != version:
            lines.append(f"grader {kind!r} was version {version}, is {found.graders[kind]}")
    return lines


def check(manifest: Manifest, found: Provenance, allow: bool) -> list[str]:
    """Return the differences.

    Args:
        manifest: of the checkpoint.
        found: of the rows that are judged.
        allow: report differences instead of refusing them.

    Raises:
        MismatchError: naming all of them, unless they are allowed.
    """
    lines = differences(manifest, found)
    if lines and not allow:
        fix = "measure under the labels' settings, or give --allow-condition-mismatch to judge anyway"
        raise MismatchError("--data", "; ".join(lines), fix)
    return lines

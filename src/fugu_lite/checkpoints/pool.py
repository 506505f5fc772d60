"""Changing the pool of a value head: one worker leaves, without training again."""

from __future__ import annotations

from pathlib import Path

from fugu_lite.checkpoints.folder import Checkpoint, parameters_sha, save
from fugu_lite.checkpoints.manifest import Manifest, stable_name
from fugu_lite.errors import MismatchError
from fugu_lite.guard import Guard
from fugu_lite.heads import ValueHead


def remove(checkpoint: Checkpoint, worker: str, output: Path) -> Manifest:
    """Write the checkpoint without one worker. Its curve, held-out metrics and certificate go: they were another's.

    Args:
        checkpoint: with a value head.
        worker: id of the worker that leaves.
        output: folder to write.

    Raises:
        MismatchError: for a policy head, an unknown worker, or the only worker.
    """
    head, manifest = valued(checkpoint), checkpoint.manifest
    if worker not in head.worker_ids:
        known = f"the head knows {', '.join(head.worker_ids)}"
        raise MismatchError("--worker", f"the head has no worker {worker!r}", known)
    if len(head.worker_ids) == 1:
        raise MismatchError("--worker", f"{worker!r} is the only worker", "keep at least one")
    kept = head.only([name for name in head.worker_ids if name != worker])
    entries = {entry.id: entry for entry in manifest.workers}
    order = tuple(name for name in manifest.fixed_order if name != worker)
    comparator = manifest.comparator if manifest.comparator != worker else next(iter(order), None)
    guard = Guard(checkpoint.guard.entry.model_copy(update={"certificate": None}), checkpoint.guard.parameters)
    sha = parameters_sha(kept, checkpoint.normaliser)
    changed = manifest.model_copy(
        update={
            "name": stable_name(manifest.backbone, manifest.fingerprint, sha),
            "head": kept.spec,
            "workers": tuple(entries[name] for name in kept.worker_ids),
            "fixed_order": order,
            "comparator": comparator,
            "guard": guard.entry,
            "curve": (),
            "metrics": {},
        }
    )
    save(output, changed, kept, checkpoint.normaliser, guard=guard)
    return changed


def valued(checkpoint: Checkpoint) -> ValueHead:
    """Return the value head.

    Raises:
        MismatchError: for a policy head, whose logits hold for one pool only.
    """
    if isinstance(checkpoint.head, ValueHead):
        return checkpoint.head
    fix = "train a value head with `fugu-lite train-value`, and change its pool"
    raise MismatchError(str(checkpoint.folder), f"{checkpoint.head.kind!r} is a policy head for one pool only", fix)

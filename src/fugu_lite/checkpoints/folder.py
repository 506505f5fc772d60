"""Saving and loading a router as a folder: `manifest.json`, `head.safetensors`, `evaluation.json`, `README.md`."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file
from safetensors.numpy import save as to_safetensors

from fugu_lite import jsonl
from fugu_lite.checkpoints.card import model_card
from fugu_lite.checkpoints.manifest import SCHEMA_VERSION, Manifest
from fugu_lite.embeddings.cache import CachedEmbedder
from fugu_lite.embeddings.contract import build
from fugu_lite.embeddings.normalise import Normaliser
from fugu_lite.errors import DataError, MismatchError
from fugu_lite.guard import Guard, GuardEntry, Mode
from fugu_lite.heads import Head, ValueHead
from fugu_lite.heads.contract import kind_of
from fugu_lite.heads.values import value_kind
from fugu_lite.router import Router
from fugu_lite.workers import UtilitySpec

MEAN, STD = "normaliser.mean", "normaliser.std"
GUARD, VALUES = "guard.", "values."


@dataclass(frozen=True)
class Checkpoint:
    """A router read from a folder.

    Attributes:
        manifest: its identity.
        normaliser, head: its parameters.
        folder: where it was read from.
        guard: its thresholds and reference rows.
        values: the value model of a policy head; None for a value head, and for a checkpoint without one.
    """

    manifest: Manifest
    normaliser: Normaliser
    head: Head
    folder: Path
    guard: Guard = field(default_factory=lambda: Guard(GuardEntry(), {}))
    values: ValueHead | None = None

    def router(
        self, cache: Path | None = None, *, guard: Mode | None = None, dial: UtilitySpec | None = None, **execution: Any
    ) -> Router:
        """Return the working router; the backbone is loaded on first use.

        Args:
            cache: folder of the embedding cache; None embeds every text anew.
            guard: another mode than the manifest's.
            dial: weights to route by, see `Router`.
            execution: execution details to override: `device`, `dtype`, `threads`.

        Raises:
            MismatchError: if the backbone at hand is not the one that the head was trained on.
        """
        embedder = build(self.manifest.backbone.model_copy(update=execution))
        if embedder.fingerprint != self.manifest.fingerprint:
            raise MismatchError(
                str(self.folder),
                f"backbone fingerprint {embedder.fingerprint} is not the manifest's {self.manifest.fingerprint}",
                "fetch the weights that the manifest names, or train a head on these",
            )
        wrapped = CachedEmbedder(embedder, cache) if cache is not None else embedder
        manifest = self.manifest
        return Router(
            wrapped,
            self.normaliser,
            self.head,
            guard=self._guarded(guard),
            fallback=manifest.fixed_order or ((manifest.comparator,) if manifest.comparator else ()),
            values=self.values,
            dial=dial,
            unproven=[worker.id for worker in manifest.workers if worker.unproven],
        )

    def _guarded(self, mode: Mode | None) -> Guard | None:
        """Return the guard in the mode asked for; None when it is off."""
        entry = self.guard.entry
        wanted = mode or entry.mode
        if wanted == "off":
            return None
        if entry.distance is None:
            fix = "train with --guard novelty, or use --guard off"
            raise MismatchError(str(self.folder), f"guard {wanted!r}: the checkpoint was trained without one", fix)
        known = entry.certificate
        if known is not None and known.head != parameters_sha(self.head, self.normaliser):
            known = None  # it speaks of another head
        return Guard(entry.model_copy(update={"mode": wanted, "certificate": known}), self.guard.parameters)

    def save(self, manifest: Manifest | None = None, evaluation: dict[str, Any] | None = None) -> None:
        """Write the same head again, with another manifest or evaluation."""
        kept = manifest or self.manifest
        save(self.folder, kept, self.head, self.normaliser, evaluation, guard=self.guard, values=self.values)

    @property
    def evaluation(self) -> dict[str, Any] | None:
        """The evaluation stored with the checkpoint, if there is one."""
        path = self.folder / "evaluation.json"
        return orjson.loads(path.read_bytes()) if path.is_file() else None


def parameters_of(head: Head, normaliser: Normaliser) -> dict[str, NDArray[np.float32]]:
    """Return all arrays of a checkpoint by name."""
    statistics = {MEAN: normaliser.mean.astype(np.float32), STD: normaliser.std.astype(np.float32)}
    return {**statistics, **head.parameters}


def parameters_sha(head: Head, normaliser: Normaliser) -> str:
    """Return the sha256 of all parameters, names and shapes included."""
    return hashlib.sha256(to_safetensors(dict(sorted(parameters_of(head, normaliser).items())))).hexdigest()


def save(
    folder: Path,
    manifest: Manifest,
    head: Head,
    normaliser: Normaliser,
    evaluation: dict[str, Any] | None = None,
    *,
    guard: Guard | None = None,
    values: ValueHead | None = None,
) -> None:
    """Write a checkpoint. The manifest goes last: a folder without one is not a checkpoint."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("manifest.json", "evaluation.json"):  # of a head that stood here before
        (folder / name).unlink(missing_ok=True)
    extra = {GUARD + name: value for name, value in guard.parameters.items()} if guard is not None else {}
    extra |= {VALUES + name: value for name, value in values.parameters.items()} if values is not None else {}
    arrays = dict(sorted({**parameters_of(head, normaliser), **extra}.items()))
    jsonl.write_bytes(folder / "head.safetensors", to_safetensors(arrays))
    if evaluation is not None:
        jsonl.write_json(folder / "evaluation.json", evaluation)
    jsonl.write_bytes(folder / "README.md", model_card(manifest, evaluation).encode())
    jsonl.write_json(folder / "manifest.json", manifest.model_dump(mode="json"))


def read_manifest(folder: Path) -> Manifest:
    """Read and check `manifest.json`.

    Raises:
        DataError: if the folder is not a checkpoint.
        MismatchError: if a newer version wrote it.
    """
    path = folder / "manifest.json"
    if not path.is_file():
        raise DataError(str(folder), "is not a checkpoint: it has no manifest.json", "give a folder that train-* wrote")
    try:
        data = orjson.loads(path.read_bytes())
    except orjson.JSONDecodeError as error:
        raise DataError(str(path), f"not valid JSON: {error.msg}") from None
    version = data.get("schema_version") if isinstance(data, dict) else None
    if version != SCHEMA_VERSION:
        hint = (
            "a router-head folder is read by `fugu-lite import`" if version is None else "use the version that wrote it"
        )
        raise MismatchError(str(path), f"schema_version {version!r}, expected {SCHEMA_VERSION}", hint)
    return Manifest.parse(data, str(path))


def load(folder: Path) -> Checkpoint:
    """Read a checkpoint folder.

    Raises:
        DataError, MismatchError, SpecError: naming what does not fit.
    """
    manifest = read_manifest(folder)
    path = folder / "head.safetensors"
    try:
        arrays = load_file(path)
    except (FileNotFoundError, SafetensorError) as error:
        raise DataError(str(path), f"cannot be read: {error}", "copy the whole checkpoint folder") from None
    if MEAN not in arrays or STD not in arrays:
        raise DataError(str(path), "has no normaliser statistics")
    normaliser = Normaliser(arrays.pop(MEAN).astype(np.float64), arrays.pop(STD).astype(np.float64))
    guard = Guard(manifest.guard, _taken(arrays, GUARD))
    extra = _taken(arrays, VALUES)
    values = value_kind(manifest.values)(manifest.values, manifest.worker_ids, extra) if manifest.values else None
    head = kind_of(manifest.head)(manifest.head, manifest.worker_ids, arrays)
    _check_shapes(head, manifest, normaliser, path)
    return Checkpoint(manifest, normaliser, head, folder, guard, values)


def _taken(arrays: dict[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    """Take the arrays under a prefix out."""
    names = [name for name in arrays if name.startswith(prefix)]
    return {name.removeprefix(prefix): arrays.pop(name) for name in names}


def _check_shapes(head: Head, manifest: Manifest, normaliser: Normaliser, path: Path) -> None:
    """Refuse parameters that do not have the manifest's sizes."""
    if isinstance(head, ValueHead):
        _check_values(head, manifest, path)
        return
    first = head.parameters.get("W1", head.parameters.get("W"))
    found = (
        None if first is None else first.shape[0],
        head.parameters["b"].shape[0] if "b" in head.parameters else None,
    )
    wanted = (manifest.feature_dim, len(manifest.workers))
    if found != wanted or len(normaliser.mean) != manifest.feature_dim:
        raise MismatchError(str(path), f"(features, workers) are {found}, the manifest says {wanted}")


def _check_values(head: ValueHead, manifest: Manifest, path: Path) -> None:
    """Refuse a value head that does not answer for the manifest's features and workers."""
    wanted = (1, len(head.spec.targets) * len(manifest.workers))
    try:
        found = head.outputs(np.zeros((1, manifest.feature_dim))).shape
    except (KeyError, ValueError, IndexError) as error:
        raise MismatchError(str(path), f"does not hold a {head.kind} head of the manifest's shape: {error}") from None
    if found != wanted:
        raise MismatchError(str(path), f"outputs are {found}, the manifest says {wanted}")


__all__ = ["Checkpoint", "load", "parameters_sha", "read_manifest", "save"]

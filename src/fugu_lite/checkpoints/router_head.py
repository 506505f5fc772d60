"""The router-head layout: `head_weights.npy` (flat W then b), `manifest.json` and a stand-alone `router_head.py`.

Source: the router-head model card. What the layout cannot hold is refused by name, not dropped.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from fugu_lite import jsonl, weights
from fugu_lite.checkpoints import folder as folders
from fugu_lite.checkpoints import standalone
from fugu_lite.checkpoints.folder import Checkpoint
from fugu_lite.checkpoints.manifest import Manifest, WorkerEntry, stable_name
from fugu_lite.embeddings import EmbedderSpec, gguf
from fugu_lite.embeddings.contract import build
from fugu_lite.embeddings.normalise import Normaliser
from fugu_lite.errors import DataError, MismatchError
from fugu_lite.heads import HeadSpec
from fugu_lite.heads.contract import kind_of

FIELDS = ("layer", "pooling", "early_position", "drop_first_token", "l2_normalise", "transcript", "max_length")


def export(checkpoint: Checkpoint, target: Path) -> None:
    """Write a checkpoint in the router-head layout. z-score statistics are folded into the first layer.

    The guard stays behind, which the layout cannot hold: the exported head decides about every text.

    Args:
        checkpoint: a `linear` or `mlp` head.
        target: folder to write.

    Raises:
        MismatchError: naming what the layout cannot hold.
    """
    manifest, head = checkpoint.manifest, checkpoint.head
    if manifest.backbone.type != "transformers":
        raise MismatchError("export", f"a {manifest.backbone.type!r} backbone has no place in the router-head layout")
    if manifest.head.layer_norm:
        raise MismatchError(
            "export", "a LayerNorm head has no place in the router-head layout", "train with layer_norm: false"
        )
    if head.kind not in ("linear", "mlp"):
        raise MismatchError("export", f"a {head.kind!r} head has no place in the router-head layout")
    p = head.parameters
    pairs = [(p["W1"], p["b1"]), (p["W"], p["b"])] if "W1" in p else [(p["W"], p["b"])]
    pairs[0] = checkpoint.normaliser.folded(*pairs[0])
    flat = np.concatenate([part.astype(np.float32).ravel() for pair in pairs for part in pair])
    buffer = io.BytesIO()
    np.save(buffer, flat)
    target.mkdir(parents=True, exist_ok=True)
    jsonl.write_bytes(target / "head_weights.npy", buffer.getvalue())
    jsonl.write_bytes(target / "router_head.py", Path(standalone.__file__).read_bytes())
    jsonl.write_json(target / "manifest.json", _exported_manifest(checkpoint))


def _exported_manifest(checkpoint: Checkpoint) -> dict[str, Any]:
    manifest = checkpoint.manifest
    spec = manifest.backbone
    return {
        "name": manifest.name,
        "backbone": spec.backbone,
        "backbone_revision": spec.revision,
        "backbone_fingerprint": manifest.fingerprint,
        "local_folder": local_folder(spec),
        "embedding_dim": manifest.feature_dim,
        "head_hidden_dim": manifest.head.head_hidden_dim if checkpoint.head.kind == "mlp" else 0,
        "activation": "gelu",
        "agent_order": list(manifest.worker_ids),
        **{name: getattr(spec, name) for name in FIELDS},
        "trainer": manifest.trainer.get("method"),
        "metrics": manifest.metrics,
    }


def local_folder(spec: EmbedderSpec) -> str | None:
    """Return where, below the weights folder, a named backbone is kept in the transformers layout."""
    if spec.backbone not in weights.CATALOGUE:
        return None
    return str(gguf.location(spec.backbone).relative_to(weights.folder()))


def read(source: Path, backbone: str | None = None) -> tuple[Manifest, NDArray[np.float32]]:
    """Read a router-head folder made here or elsewhere.

    Args:
        source: the folder.
        backbone: overrides the manifest's backbone (a local folder, for instance).

    Raises:
        DataError: naming the key or size at fault.
    """
    where = str(source / "manifest.json")
    try:
        raw: dict[str, Any] = orjson.loads((source / "manifest.json").read_bytes())
        flat = np.load(source / "head_weights.npy", allow_pickle=False).astype(np.float32).ravel()
    except FileNotFoundError as error:
        raise DataError(str(source), f"is not a router-head folder: {error.filename} is missing") from None
    except (orjson.JSONDecodeError, ValueError) as error:
        raise DataError(str(source), f"cannot be read: {error}") from None
    names = _first(raw, ("agent_order", "worker_ids", "agents", "pool_agents"), where)
    hidden = int(raw.get("head_hidden_dim") or 0)
    if hidden and raw.get("activation") != "gelu":
        raise DataError(where, f"hidden layer with activation {raw.get('activation')!r}", "only 'gelu' is known")
    dimension = raw.get("embedding_dim") or raw.get("hidden_size") or raw.get("feature_dim")
    dimension = int(dimension) if dimension else (len(flat) - len(names)) // len(names)
    need = dimension * (hidden or len(names)) + (hidden or len(names)) + (hidden + 1) * len(names) * bool(hidden)
    if need != len(flat):
        raise DataError(
            str(source / "head_weights.npy"),
            f"has {len(flat)} numbers, but {dimension} features, hidden {hidden} and {len(names)} workers need {need}",
        )
    settings = {name: raw[name] for name in FIELDS if name in raw}
    elsewhere = {"layer": "final", "drop_first_token": False, "max_length": 4096}
    base = backbone or _first(raw, ("backbone", "base_model", "backbone_model"), where)
    spec = EmbedderSpec.parse(
        {**elsewhere, **settings, "backbone": base, "revision": raw.get("backbone_revision")}, where
    )
    return _imported_manifest(raw, spec, names, dimension, hidden), flat


def _first(raw: dict[str, Any], keys: tuple[str, ...], where: str) -> Any:
    found = next((raw[key] for key in keys if raw.get(key)), None)
    if found is None:
        raise DataError(where, f"has none of the keys {', '.join(keys)}")
    return found


def _imported_manifest(
    raw: dict[str, Any], spec: EmbedderSpec, names: list[str], dimension: int, hidden: int
) -> Manifest:
    return Manifest(
        name=str(raw.get("name") or "imported"),
        backbone=spec,
        fingerprint="",
        feature_dim=dimension,
        normalisation="none",
        head=HeadSpec(type="mlp" if hidden else "linear", head_hidden_dim=hidden),
        workers=tuple(WorkerEntry(id=name) for name in names),
        trainer={"method": f"imported ({raw.get('trainer') or 'unknown'})"},
    )


def import_folder(source: Path, target: Path, backbone: str | None = None) -> Manifest:
    """Turn a router-head folder into a checkpoint. The backbone must be at hand: its weights become the fingerprint."""
    manifest, flat = read(source, backbone)
    parameters = _unflattened(flat, manifest)
    head = kind_of(manifest.head)(manifest.head, manifest.worker_ids, parameters)
    normaliser = Normaliser.identity(manifest.feature_dim)
    embedder = build(manifest.backbone)
    if embedder.dimension != manifest.feature_dim:
        raise MismatchError(
            str(source),
            f"the head wants {manifest.feature_dim} numbers, {manifest.backbone.backbone!r} gives {embedder.dimension}",
        )
    fingerprint = embedder.fingerprint
    name = stable_name(manifest.backbone, fingerprint, folders.parameters_sha(head, normaliser))
    manifest = manifest.model_copy(update={"fingerprint": fingerprint, "name": name})
    folders.save(target, manifest, head, normaliser)
    return manifest


def _unflattened(flat: NDArray[np.float32], manifest: Manifest) -> dict[str, NDArray[np.float32]]:
    """Split the flat vector into named arrays."""
    d, h, k = manifest.feature_dim, manifest.head.head_hidden_dim, len(manifest.workers)
    shapes = {"W1": (d, h), "b1": (h,), "W": (h, k), "b": (k,)} if h else {"W": (d, k), "b": (k,)}
    found, at = {}, 0
    for name, shape in shapes.items():
        size = int(np.prod(shape))
        found[name] = flat[at : at + size].reshape(shape)
        at += size
    return found

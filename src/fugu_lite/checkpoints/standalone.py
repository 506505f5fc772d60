"""A router head as one file: embed a query with a frozen language model, pick a worker. It never calls a worker.

    pip install torch transformers numpy
    python router_head.py "What is the derivative of x^3 + 2x?" [--backbone FOLDER_OR_ID]

This file, `manifest.json` and `head_weights.npy` are all it needs. The flat vector holds W then b (row-major, W has one
row per feature); with a hidden layer W1, b1, W2, b2. The pool's models are not in here: map `picked_agent` yourself.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FOLDER = Path(__file__).resolve().parent
_LOADED: dict[str, Any] = {}


def manifest() -> dict[str, Any]:
    """Return the manifest beside this file."""
    loaded: dict[str, Any] = json.loads((FOLDER / "manifest.json").read_text(encoding="utf-8"))
    return loaded


def layers(settings: dict[str, Any]) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """Unflatten `head_weights.npy` into (W, b) pairs, first layer first."""
    flat = np.load(FOLDER / "head_weights.npy").astype(np.float32).ravel()
    sizes = [settings["embedding_dim"], len(settings["agent_order"])]
    if settings.get("head_hidden_dim"):
        sizes.insert(1, settings["head_hidden_dim"])
    found, at = [], 0
    for rows, columns in itertools.pairwise(sizes):
        weights = flat[at : at + rows * columns].reshape(rows, columns)
        bias = flat[at + rows * columns : at + (rows + 1) * columns]
        at += (rows + 1) * columns
        found.append((weights, bias))
    if at != len(flat):
        raise ValueError(f"head_weights.npy has {len(flat)} numbers, the manifest's sizes need {at}")
    return found


def logits(embedding: NDArray[np.float32], settings: dict[str, Any]) -> NDArray[np.float32]:
    """Return one logit per worker: embedding @ W + b, after the hidden layer when there is one."""
    *hidden, (weights, bias) = layers(settings)
    x = embedding
    for inner_weights, inner_bias in hidden:
        inner = x @ inner_weights + inner_bias
        x = np.array([v * 0.5 * (1.0 + math.erf(v / math.sqrt(2.0))) for v in inner], dtype=np.float32)  # exact GELU
    return np.asarray(x @ weights + bias, dtype=np.float32)


def _backbone(settings: dict[str, Any], override: str | None) -> str:
    """Return what to load: the argument, the fugu-lite weights folder if it has the backbone, or the hub id."""
    if override:
        return override
    home = Path(os.environ.get("FUGU_LITE_HOME") or Path.home() / ".cache" / "fugu-lite")
    local = home / settings["local_folder"] if settings.get("local_folder") else None
    return str(local) if local and (local / "config.json").is_file() else str(settings["backbone"])


def embed_query(text: str, backbone: str | None = None) -> NDArray[np.float32]:
    """Return the backbone's vector of a text, exactly as the head was trained on it: (embedding_dim,)."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    settings = manifest()
    source = _backbone(settings, backbone)
    if source not in _LOADED:
        model = AutoModel.from_pretrained(source, dtype=torch.float32)
        _LOADED[source] = (AutoTokenizer.from_pretrained(source), model.eval())
    tokenizer, model = _LOADED[source]
    ids = _token_ids(tokenizer, text, settings)
    with torch.inference_mode():
        states = model(torch.tensor([ids]), output_hidden_states=True)
    layer = settings.get("layer", "final")
    depth = len(states.hidden_states) - 1
    wanted = depth // 2 if layer == "middle" else layer
    hidden = states.last_hidden_state[0] if wanted in ("final", depth) else states.hidden_states[wanted][0]
    return _pooled(hidden.float().numpy(), settings)


def _token_ids(tokenizer: Any, text: str, settings: dict[str, Any]) -> list[int]:
    """Return the tokens of a text: at most `max_length`, and never fewer than the pooling needs."""
    shown = f"user: {text}" if settings.get("transcript") == "role" else text
    ids = [int(token) for token in tokenizer(shown or " ")["input_ids"]]
    limit = settings.get("max_length")
    if limit and len(ids) > limit:  # keep head and tail
        ids = ids[: limit - limit // 2] + ids[-(limit // 2) :]
    known = (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id, 0)
    blank = next(token for token in known if token is not None)
    return [blank] * ((2 if settings.get("drop_first_token") else 1) - len(ids)) + ids


def _pooled(hidden: NDArray[np.float32], settings: dict[str, Any]) -> NDArray[np.float32]:
    """Turn (tokens, dimension) states into one vector."""
    pooling = settings.get("pooling", "mean")
    if pooling == "mean":
        kept = hidden[1:] if settings.get("drop_first_token") and len(hidden) > 1 else hidden
        vector = kept.mean(axis=0)
    else:
        position = {"last": -1, "penultimate": -min(2, len(hidden))}.get(pooling)
        early = min(int(settings.get("early_position", 1)), len(hidden) - 1)
        vector = hidden[early if position is None else position]
    if settings.get("l2_normalise"):
        vector = vector / max(float(np.linalg.norm(vector)), 1e-12)
    return np.asarray(vector, dtype=np.float32)


def pick_agent(text: str, backbone: str | None = None) -> dict[str, Any]:
    """Return the picked worker, every worker's probability and logit."""
    settings = manifest()
    scores = logits(embed_query(text, backbone), settings)
    weights = np.exp(scores - scores.max())
    shares = weights / weights.sum()
    names = settings["agent_order"]
    return {
        "picked_agent": names[int(scores.argmax())],
        "probabilities": {name: float(share) for name, share in zip(names, shares, strict=True)},
        "logits": {name: float(score) for name, score in zip(names, scores, strict=True)},
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Pick the worker that should answer a query.")
    parser.add_argument("query")
    parser.add_argument("--backbone", help="folder or hub id of the frozen model, for offline use")
    arguments = parser.parse_args()
    print(json.dumps(pick_agent(arguments.query, arguments.backbone), indent=2))

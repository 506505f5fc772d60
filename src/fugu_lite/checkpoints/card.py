"""The model card written beside every checkpoint: what it is, what it was measured to do, what it cannot do."""

from __future__ import annotations

from typing import Any

from fugu_lite.checkpoints.manifest import Manifest


def model_card(manifest: Manifest, evaluation: dict[str, Any] | None) -> str:
    """Return the README.md of a checkpoint."""
    rows, backbone = manifest.data.rows if manifest.data else {}, manifest.backbone
    lines = [
        f"# {manifest.name}",
        "",
        "A routing head, not a language model: it reads a frozen backbone's vector of a request and scores the workers",
        "of one pool. It never writes an answer.",
        "",
        "| | |",
        "|---|---|",
        f"| backbone | `{backbone.backbone}` (layer {backbone.layer}, {backbone.pooling} pooling, "
        f"{manifest.feature_dim} numbers) |",
        f"| head | {manifest.head.type}, hidden {manifest.head.head_hidden_dim} |",
        f"| workers, in order | {', '.join(f'`{name}`' for name in manifest.worker_ids)} |",
        f"| trained by | {manifest.trainer.get('method', 'unknown')} |",
        f"| rows | {', '.join(f'{name} {count}' for name, count in rows.items()) or 'unknown'} |",
        f"| must beat | always `{manifest.comparator}` |" if manifest.comparator else "| must beat | unknown |",
        "",
        "## Held-out result",
        "",
        *_result(evaluation),
        "",
        "## Limits",
        "",
        "- It knows these workers only, by name. Another pool needs another head.",
        "- It was measured on the distribution it was trained on. On other languages or domains its choice can",
        f"  collapse to one worker. Guard against such texts: {manifest.guard.mode}.",
    ]
    return "\n".join(lines) + "\n"


def _result(evaluation: dict[str, Any] | None) -> list[str]:
    if evaluation is None:
        return ["Not evaluated yet: run `fugu-lite evaluate`."]
    numbers = {
        name: evaluation.get(name)
        for name in ("router_utility", "comparator_utility", "oracle_utility", "random_utility")
    }
    shown = [f"- {name}: {value:.4f}" for name, value in numbers.items() if isinstance(value, float)]
    low, high, gain = (evaluation.get(name) for name in ("gain_low", "gain_high", "gain"))
    if gain is not None and low is not None and high is not None:
        shown.append(
            f"- gain over the best fixed worker: {gain:+.4f} [{low:+.4f}, {high:+.4f}]: {evaluation.get('verdict')}"
        )
    return [*shown, f"- rows: {evaluation.get('n_rows')}"]

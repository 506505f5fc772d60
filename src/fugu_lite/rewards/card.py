"""The data card of a published reward dataset: what was measured, and what a router could gain at most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fugu_lite.rewards.build import Cells
from fugu_lite.rewards.matrix import RewardMatrix

HEAD = """# Router rewards

How well each worker answered each task, measured and not assumed. `rewards.jsonl` holds the mean quality over
repetitions (0 to 1, null = not measured) and neither prompts nor answers; `tasks.jsonl` holds the tasks that may be
redistributed. Join them on `task_id`.
"""


def data_card(matrix: RewardMatrix, cells: Cells, licences: Mapping[str, int], left_out: Mapping[str, int]) -> str:
    """Return the card as Markdown.

    Args:
        matrix: mean qualities, (tasks, workers).
        cells: the numbers of the attempts behind it.
        licences: licence -> published tasks.
        left_out: licence -> tasks that may not be redistributed.
    """
    sizes = f"{len(matrix)} tasks, {len(matrix.worker_ids)} workers, up to {cells.repetitions} repetitions."
    return "\n".join(
        [
            HEAD,
            sizes,
            "",
            "## Workers",
            "",
            *_worker_table(matrix, cells),
            "",
            "An `error` is a failed call: it counts as missing, never as 0. `flips` is the chance that two repetitions",
            "of one task are graded differently.",
            "",
            "## Baselines (tasks measured for every worker)",
            "",
            *_baseline_table(matrix),
            "",
            "The oracle knows the answers: it is a bound, and with few repetitions an optimistic one.",
            "",
            "## Licences of the tasks",
            "",
            *_table(("licence", "published", "left out"), _licence_rows(licences, left_out)),
            "",
        ]
    )


def _worker_table(matrix: RewardMatrix, cells: Cells) -> list[str]:
    counts, flips = cells.counts(), cells.flip_rates()
    rows = []
    for j, name in enumerate(matrix.worker_ids):
        column, seen, flip = matrix.rewards[:, j], counts[name], flips[name]
        known = column[~np.isnan(column)]
        rows.append(
            (
                f"`{name}`",
                f"{known.mean():.4f}" if len(known) else "-",
                *(str(seen[status]) for status in ("ok", "truncated", "empty", "refused", "error", "ungraded")),
                "-" if flip is None else f"{flip:.3f}",
            )
        )
    heads = ("worker", "mean quality", "ok", "truncated", "empty", "refused", "error", "ungraded", "flips")
    return _table(heads, rows)


def _baseline_table(matrix: RewardMatrix) -> list[str]:
    whole = matrix.rewards[~np.isnan(matrix.rewards).any(axis=1)]
    if not len(whole):
        return ["No task was measured for every worker."]
    means = whole.mean(axis=0)
    best, oracle = means.max(), whole.max(axis=1).mean()
    rows = [
        (f"best fixed worker (`{matrix.worker_ids[int(means.argmax())]}`)", f"{best:.4f}"),
        ("uniform random pick", f"{means.mean():.4f}"),
        ("oracle per task", f"{oracle:.4f}"),
        ("headroom (oracle - best fixed)", f"{oracle - best:.4f}"),
        ("tasks", str(len(whole))),
    ]
    return _table(("policy", "mean quality"), rows)


def _licence_rows(licences: Mapping[str, int], left_out: Mapping[str, int]) -> list[tuple[str, ...]]:
    names = sorted({*licences, *left_out})
    return [(name, str(licences.get(name, 0)), str(left_out.get(name, 0))) for name in names]


def _table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    lines = [heads, tuple("---" for _ in heads), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]

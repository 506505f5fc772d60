"""Looks at a test split are counted: every one spends a little of its honesty."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from fugu_lite import jsonl
from fugu_lite.rewards.matrix import RewardMatrix
from fugu_lite.specs import digest_of

LEDGER = "looks.jsonl"


def data_digest(matrix: RewardMatrix) -> str:
    """Return a short hash of which tasks are looked at; a new price, worker or row order is not a new test set."""
    return digest_of(sorted(task.task_id for task in matrix.tasks))


def count(digest: str, split: str, checkpoint: str, root: Path = Path("runs")) -> int:
    """Record one look and return how many there were at this split of these data, this one included.

    Args:
        digest: see `data_digest`.
        split: name of the split.
        checkpoint: what was judged.
        root: folder of the runs; the ledger is `looks.jsonl` in it.
    """
    path = root / LEDGER
    now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    with jsonl.Appender(path) as ledger:
        ledger.append({"data": digest, "split": split, "checkpoint": checkpoint, "time": now})
    return sum(row.get("data") == digest and row.get("split") == split for row in jsonl.read_rows(path))

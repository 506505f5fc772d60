"""The build as tables and as a JSON document."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

from rich.table import Table

from fugu_lite.taskpool.build import SPLITS, Pool, SourceRow

LICENCES = {True: "yes", False: "no", None: "not cleared"}


def to_json(pool: Pool) -> dict[str, Any]:
    """Return everything but the prompts."""
    return {
        "tasks": len(pool.tasks),
        "sources": [asdict(row) for row in pool.sources],
        "counts": {
            name: dict(Counter(getattr(task, name) or "unknown" for task in pool.tasks))
            for name in ("domain", "difficulty", "split")
        },
        "strangers": pool.strangers,
        "notes": pool.notes,
    }


def tables(pool: Pool) -> list[Table]:
    """Return the table of sources and the table of what is in the pool."""
    return [_sources(pool), _reasons(pool), _contents(pool)]


def _sources(pool: Pool) -> Table:
    table = Table("source", "status", "read", "in the pool", "dropped", "licence", "pass on", title="sources")
    for row in pool.sources:
        counts = ("", "", "") if row.status == "missing" else (row.read, row.kept, sum(row.dropped.values()))
        table.add_row(row.kind, row.status, *map(str, counts), row.license, LICENCES[row.redistributable])
    table.title_justify = "left"
    return table


def _reasons(pool: Pool) -> Table:
    table = Table("source", "rows", "why not in the pool", title="dropped", title_justify="left")
    for row in pool.sources:
        for count, why in _why(row):
            table.add_row(row.kind, count, why)
    return table


def _why(row: SourceRow) -> list[tuple[str, str]]:
    whole = [("all", row.why)] if row.why else []
    return whole + [(str(count), reason) for reason, count in row.dropped.items()]


def _contents(pool: Pool) -> Table:
    table = Table("domain", "difficulty", *SPLITS, "tasks", "share", title="in the pool", title_justify="left")
    cells = Counter((task.domain or "", task.difficulty or "unknown", task.split or "") for task in pool.tasks)
    for domain, difficulty in sorted({(domain, difficulty) for domain, difficulty, _ in cells}):
        counts = [cells[domain, difficulty, name] for name in SPLITS]
        share = sum(counts) / len(pool.tasks)
        table.add_row(domain, difficulty, *map(str, counts), str(sum(counts)), f"{share:.1%}")
    totals = [sum(count for (_, _, split), count in cells.items() if split == name) for name in SPLITS]
    table.add_row("all", "", *map(str, totals), str(len(pool.tasks)), "100.0%", end_section=True)
    return table

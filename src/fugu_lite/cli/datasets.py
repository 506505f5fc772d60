"""`datasets import`, `datasets export`, `datasets list`: others' data in, and out again."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.table import Table

from fugu_lite import datasets
from fugu_lite.cli._sources import MatrixSource
from fugu_lite.cli._terminal import Shown, key_value_table
from fugu_lite.datasets.files import Written, export_matrix, import_files, renames
from fugu_lite.workers import UtilitySpec


def import_(
    format: str,
    input: Path,
    *,
    output: Path,
    tasks_output: Path | None = None,
    rename: str | None = None,
    score: str | None = None,
    by_served: Annotated[bool, Parameter(negative=())] = False,
    spec: Annotated[UtilitySpec, Parameter(name="*")] = UtilitySpec(),
    shown: Shown = Shown(),
) -> None:
    """Read a file or folder of a foreign format as a reward matrix; say what was dropped, averaged and renamed.

    Args:
        format: name of the format, see `fugu-lite datasets list`.
        input: file or folder to read.
        output: matrix to write; attempts and preferences, where the format has them, go beside it.
        tasks_output: tasks file to write, with the tasks that have no grade too.
        rename: comma-separated name=id pairs: what the file calls a worker, and its id; two names may share an id.
        score: which score of a log is the quality; unset takes the only one there is.
        by_served: a call belongs to the model that answered it, where the file says which, not to the name asked for.
    """
    options = datasets.ImportOptions(rename=renames(rename), score=score, by_served=by_served, reward=spec)
    imported, written = import_files(format, input, output, tasks_output, options)
    report = imported.report
    shown.warn(report.notes)
    result = {**dataclasses.asdict(written), **dataclasses.asdict(report)}
    strengths = datasets.strengths(imported.preferences)
    if strengths:
        result["strengths"] = strengths
    shown.result(result, *_told(written, imported))


def _told(written: Written, imported: datasets.Imported) -> list[Any]:
    report, matrix = imported.report, imported.matrix
    size = f"{len(matrix)} tasks x {len(matrix.worker_ids)} workers" if matrix else "no matrix"
    counts = {"records": report.records, "missing cells": report.missing, "averaged cells": report.averaged}
    counts |= {f"dropped: {reason}": count for reason, count in report.dropped.items()}
    shown: list[Any] = [key_value_table(size, counts)]
    if report.renamed:
        shown.append(key_value_table("renamed", report.renamed))
    if imported.preferences:
        table = Table("worker", "battles", "wins", "ties", "log-strength", title="battles", title_justify="left")
        strengths = datasets.strengths(imported.preferences)
        for name, won in datasets.record(imported.preferences).items():
            known = strengths[name]
            table.add_row(name, *(str(won[key]) for key in won), "unbounded" if known is None else f"{known:+.3f}")
        shown.append(table)
    shown += [f"wrote {path}" for path in dataclasses.asdict(written).values() if path]
    return shown


def export(format: str, source: MatrixSource, *, output: Path, shown: Shown = Shown()) -> None:
    """Write a reward matrix in a foreign format; say what the format could not hold.

    Args:
        format: name of the format, see `fugu-lite datasets list`.
        output: file or folder to write; it must not exist.
    """
    matrix = source.load()
    notes = export_matrix(format, matrix, output)
    shown.warn((*matrix.notes, *notes))
    result = {"output": str(output), "format": format, "rows": len(matrix), "notes": list(notes)}
    shown.result(result, f"wrote {output}: {len(matrix)} tasks, {len(matrix.worker_ids)} workers")


def list_(*, shown: Shown = Shown()) -> None:
    """List the formats: what they hold, in which direction, and what goes wrong when they are read carelessly."""
    table = Table("format", "direction", "holds", "traps", title="formats", title_justify="left", show_lines=True)
    rows = []
    for name in datasets.registry.names():
        kind = datasets.registry.get(name)
        direction = "in, out" if kind.not_written is None else "in"
        table.add_row(name, direction, kind.holds, "\n".join(f"- {trap}" for trap in kind.traps))
        rows.append({"format": name, "direction": direction, "holds": kind.holds, "traps": list(kind.traps)})
    shown.result({"formats": rows}, table)

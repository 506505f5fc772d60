"""Where an import writes, and what it refuses to overwrite."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fugu_lite import jsonl
from fugu_lite.datasets.contract import Imported, ImportOptions, named, read
from fugu_lite.errors import SpecError
from fugu_lite.rewards import RewardMatrix
from fugu_lite.rewards import attempts as log


@dataclass(frozen=True)
class Written:
    """Files that an import wrote; None = not in the source."""

    matrix: Path | None
    tasks: Path | None
    attempts: Path | None
    preferences: Path | None


def renames(pairs: str | None) -> dict[str, str]:
    """Return name -> id of `old=new,other=new`.

    Raises:
        SpecError: for a pair without `=`, or a name that is given twice.
    """
    found: dict[str, str] = {}
    for pair in (pairs or "").split(","):
        old, equals, new = (part.strip() for part in pair.partition("="))
        if not old and not equals:
            continue
        if not old or not new or old in found:
            raise SpecError("--rename", f"{pair!r} is not one name=id pair", "write old=new,other=new")
        found[old] = new
    return found


def import_files(
    name: str, source: Path, output: Path, tasks_output: Path | None, options: ImportOptions
) -> tuple[Imported, Written]:
    """Read `source` and write what it holds: the matrix, and beside it attempts and preferences.

    Raises:
        SpecError: if a file to be written exists.
        DataError: if the source cannot be read.
    """
    if output.suffix not in {".jsonl", ".gz"}:
        raise SpecError("--output", f"{output.name!r} does not end in .jsonl", "name a .jsonl file")
    attempts = log.path_beside(output)
    preferences = attempts.with_name(attempts.name.replace(".attempts.", ".preferences."))
    for path in (output, attempts, preferences, *([tasks_output] if tasks_output else [])):
        if path.exists():
            raise SpecError("--output", f"{path} exists", "name another file")
    imported = read(name, source, options)
    if imported.matrix is not None:
        imported.matrix.save(output)
    if tasks_output is not None:
        rows = [task.model_dump(mode="json", exclude_none=True, exclude_defaults=True) for task in imported.tasks]
        jsonl.write(tasks_output, rows)
    if imported.attempts:
        jsonl.write(attempts, [attempt.model_dump(mode="json") for attempt in imported.attempts])
    if imported.preferences:
        jsonl.write(preferences, [preference.row() for preference in imported.preferences])
    return imported, Written(
        output if imported.matrix is not None else None,
        tasks_output,
        attempts if imported.attempts else None,
        preferences if imported.preferences else None,
    )


def export_matrix(name: str, matrix: RewardMatrix, output: Path) -> tuple[str, ...]:
    """Write a matrix in a foreign format; return what it could not hold.

    Raises:
        SpecError: if `output` exists, or the format has no place for a matrix.
    """
    if output.exists():
        raise SpecError("--output", f"{output} exists", "name another file or folder")
    return named(name).write(matrix, output)

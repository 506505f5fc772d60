"""Rows of the files in which data sets are published: jsonl, json, csv (each also gzipped) and parquet."""

from __future__ import annotations

import csv
import gzip
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from fugu_lite import jsonl
from fugu_lite.errors import DataError
from fugu_lite.jsonl import Row
from fugu_lite.taskpool.mmlu import CSV_COLUMNS

SUFFIXES = (".jsonl", ".json", ".csv", ".parquet")
POINTER = b"version https://git-lfs"


def files_below(folder: Path) -> list[Path]:
    """Return the data files of a folder, at any depth, hidden ones left out, links followed, in a fixed order."""
    found, seen = [], set[str]()
    for place, folders, names in os.walk(folder, followlinks=True):
        folders[:] = [name for name in folders if not name.startswith(".")]
        if os.path.realpath(place) in seen:
            folders.clear()
            continue
        seen.add(os.path.realpath(place))
        wanted = (name for name in names if name.removesuffix(".gz").endswith(SUFFIXES) and not name.startswith("."))
        found += [path for path in (Path(place, name) for name in wanted) if path.is_file()]
    return sorted(found)


def rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a file.

    Raises:
        DataError: if the file is not what its name says, or is the pointer of a file that was not fetched.
        MissingExtraError: for parquet without its reader.
    """
    with path.open("rb") as file:
        if file.read(len(POINTER)) == POINTER:
            raise DataError(str(path), "is a Git LFS pointer, not the file", "fetch it with 'git lfs pull'")
    kind = Path(path.name.removesuffix(".gz")).suffix
    if kind == ".parquet":
        yield from _parquet(path)
    elif kind == ".csv":
        yield from _csv(path)
    elif kind == ".json":
        yield from _json(path)
    else:
        yield from (row for _, row in jsonl.read(path))


def _parquet(path: Path) -> Iterator[Row]:
    try:
        yield from (row for _, row in jsonl.read(path))
    except (ValueError, OSError) as error:  # what the reader raises for a damaged file
        if isinstance(error, DataError):
            raise
        raise DataError(str(path), f"is not a parquet file: {error}", "download it again") from None


def _text(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def _json(path: Path) -> Iterator[Row]:
    """Yield the objects of a list, of `{"data": [...]}`, of `{"rows": [{"row": ...}]}`, or of JSON lines."""
    try:
        document: Any = orjson.loads(_text(path))
    except orjson.JSONDecodeError:
        yield from (row for _, row in jsonl.read(path))
        return
    if isinstance(document, dict):
        document = document.get("data", document.get("rows", [document]))
    for row in document if isinstance(document, list) else []:
        if isinstance(row, dict):
            yield row["row"] if isinstance(row.get("row"), dict) else row


def _csv(path: Path) -> Iterator[Row]:
    """Yield the rows of a CSV; MMLU's have no header, which shows in the letter that ends the first line."""
    table = csv.reader(io.StringIO(_text(path).decode("utf-8-sig"), newline=""))
    first = next(table, None)
    if first is None:
        return
    names = first
    if len(first) == len(CSV_COLUMNS) and first[-1].strip() in tuple("ABCD"):
        names = list(CSV_COLUMNS)
        yield dict(zip(names, first, strict=True))
    for cells in table:
        if len(cells) == len(names):
            yield dict(zip(names, cells, strict=True))
        elif cells:
            raise DataError(f"{path}:{table.line_num}", f"{len(cells)} cells under {len(names)} columns")

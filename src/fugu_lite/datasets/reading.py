"""Rows and values of foreign files. Text is parsed, never evaluated."""

from __future__ import annotations

import ast
import csv
import gzip
import hashlib
import io
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fugu_lite import jsonl
from fugu_lite.errors import DataError
from fugu_lite.jsonl import Row

SUFFIXES = (".jsonl", ".json", ".csv", ".parquet")
SPLITS = {"train": "train", "val": "validation", "valid": "validation", "validation": "validation", "dev": "validation"}
SPLIT = re.compile(r"(?:^|[_.-])(train|valid(?:ation)?|val|dev|test)(?:[_.-]|$)")
ABSENT = frozenset({"", "nan", "none", "null", "na", "n/a", "<na>"})
LONGEST_CELL = 1 << 27  # embeddings and responses stand in CSV cells
LONGEST_LITERAL = 1 << 20
TASK_ID = "fugu_lite_task_id"  # an extra key, so that a matrix that was exported comes back under its ids


def files(path: Path, suffixes: tuple[str, ...] = SUFFIXES) -> list[Path]:
    """Return the file itself, or the data files of a folder at any depth, hidden ones left out, in a fixed order.

    Raises:
        DataError: if a folder has none.
    """
    if path.is_file():
        return [path]
    found = [each for each in path.rglob("*") if each.is_file() and each.name.removesuffix(".gz").endswith(suffixes)]
    found = [each for each in found if not any(part.startswith(".") for part in each.relative_to(path).parts)]
    if not found:
        raise DataError(str(path), f"holds no {', '.join(suffixes)} file", "check the path")
    return sorted(found)


def rows(path: Path) -> Iterator[tuple[str, Row]]:
    """Yield (place, row) of one file: jsonl, json, csv (each also gzipped) or parquet.

    Raises:
        DataError: if the file is not what its name says.
        MissingExtraError: for parquet without its reader.
    """
    kind = Path(path.name.removesuffix(".gz")).suffix
    if kind == ".csv":
        yield from _csv(path)
    elif kind == ".json":
        yield from _json(path)
    elif kind in (".jsonl", ".ndjson", ".parquet"):
        yield from ((f"{path}:{number}", row) for number, row in jsonl.read(path))
    else:
        raise DataError(str(path), f"cannot read {kind or 'a file without suffix'}", f"known: {', '.join(SUFFIXES)}")


def _bytes(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def document(path: Path) -> Any:
    """Return a JSON document; Python's NaN is read as missing.

    Raises:
        DataError: if it is not JSON.
    """
    try:
        return json.loads(_bytes(path), parse_constant=lambda _: None)
    except ValueError as error:
        raise DataError(str(path), f"not valid JSON: {error}") from None


def _json(path: Path) -> Iterator[tuple[str, Row]]:
    """Yield the objects of a list, of `{"data": [...]}`, of JSON lines, or the one object of the file."""
    text = _bytes(path).strip()
    if text.startswith(b"{") and b"\n{" in text and _lines(text):
        yield from ((f"{path}:{number}", row) for number, row in jsonl.read(path))
        return
    found = document(path)
    listed = found["data"] if isinstance(found, dict) and isinstance(found.get("data"), list) else found
    for number, row in enumerate(listed if isinstance(listed, list) else [listed]):
        if not isinstance(row, dict):
            raise DataError(f"{path}[{number}]", f"expected a JSON object, found {type(row).__name__}")
        yield f"{path}[{number}]", row


def _lines(text: bytes) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return True
    return False


def _csv(path: Path) -> Iterator[tuple[str, Row]]:
    text = io.StringIO(_bytes(path).decode("utf-8-sig"), newline="")
    before = csv.field_size_limit(LONGEST_CELL)
    try:
        table = csv.reader(text)
        names = next(table, [])
        found = [(table.line_num, cells) for cells in table if cells]
    except csv.Error as error:
        raise DataError(str(path), f"not a CSV file: {error}") from None
    finally:
        csv.field_size_limit(before)
    if len(set(names)) != len(names):
        raise DataError(f"{path}:1", "a column name appears twice")
    for line, cells in found:
        if len(cells) != len(names):
            raise DataError(f"{path}:{line}", f"{len(cells)} cells under {len(names)} columns")
        yield f"{path}:{line}", dict(zip(names, cells, strict=True))


def number(row: Row, key: str, where: str) -> float | None:
    """Return a number; None when the cell is absent, empty or NaN; true and false are 1 and 0.

    Raises:
        DataError: for anything else.
    """
    value = row.get(key)
    if isinstance(value, str):
        text = value.strip().lower()
        value = {"true": True, "false": False}.get(text, None if text in ABSENT else text)
    if value is None:
        return None
    try:
        found = float(value)
    except (TypeError, ValueError):
        raise DataError(where, f"{key!r} is {row[key]!r:.60}, not a number") from None
    if math.isinf(found):
        raise DataError(where, f"{key!r} is infinite")
    return None if math.isnan(found) else found


def quality(row: Row, key: str, where: str) -> float | None:
    """Return a grade in [0, 1]; None when it is missing.

    Raises:
        DataError: outside the range: what its scale is, only its owner knows.
    """
    found = number(row, key, where)
    if found is not None and not 0 <= found <= 1:
        raise DataError(where, f"{key!r} is {found:g}, outside [0, 1]", "divide the scores by their scale first")
    return found


def amount(row: Row, key: str, where: str, zero_is_unknown: bool = False) -> float | None:
    """Return dollars or seconds; None when unknown. Some writers put 0 where they know no price.

    Raises:
        DataError: below zero.
    """
    found = number(row, key, where)
    if found is not None and found < 0:
        raise DataError(where, f"{key!r} is {found:g}, below zero")
    return None if zero_is_unknown and found == 0 else found


def count(value: Any) -> int | None:
    """Return a token count; None when it was not reported."""
    if isinstance(value, str) and value.strip().isdigit():
        return int(value)
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None


def needed(row: Row, key: str, where: str) -> str:
    """Return a text that has to be there.

    Raises:
        DataError: if it is not.
    """
    value = row.get(key)
    if not isinstance(value, str) or not value.strip():
        raise DataError(where, f"row has no {key!r}", f"it has: {', '.join(map(str, row))[:120]}")
    return value


def optional(row: Row, key: str) -> str | None:
    """Return a text; None when it is absent or empty."""
    value = row.get(key)
    return value if isinstance(value, str) and value.strip() else None


def texts(value: str) -> list[str]:
    """Return the texts of a list that was written as text, `"['a', 'b']"`; any other text is the only one."""
    if not value.lstrip().startswith("[") or len(value) > LONGEST_LITERAL:
        return [value]
    for parse in (json.loads, ast.literal_eval):
        try:
            found = parse(value.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        if isinstance(found, list) and found and all(isinstance(part, str) for part in found):
            return found
    return [value]


def split_of(path: Path) -> str | None:
    """Return the split that a file is named after: `val.csv`, `gsm8k_test.json`."""
    found = SPLIT.search(path.name.split(".", 1)[0].lower())
    return SPLITS.get(found[1], found[1]) if found else None


def own_id(row: Row, kind: str, *parts: str) -> str:
    """Return the id that we exported, or a stable one made of what identifies the task."""
    if isinstance(row.get(TASK_ID), str) and row[TASK_ID]:
        return str(row[TASK_ID])
    return f"{kind}-{hashlib.sha256(chr(31).join(parts).encode()).hexdigest()[:12]}"

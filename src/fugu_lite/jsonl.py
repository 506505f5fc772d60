"""Append-only JSON Lines: every line is flushed, a torn last line is tolerated on read and repaired on append."""

from __future__ import annotations

import contextlib
import fcntl
import gzip
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import orjson

from fugu_lite.errors import DataError, LockedError, MissingExtraError

Row = dict[str, Any]


def read(path: Path) -> Iterator[tuple[int, Row]]:
    """Yield `(line number, row)` of a `.jsonl`, `.jsonl.gz` or `.parquet` file; line numbers start at 1.

    Raises:
        DataError: if the file is missing or a line other than a torn last one is not a JSON object.
    """
    if not path.is_file():
        raise DataError(str(path), "no such file", "check the path")
    if path.suffix == ".parquet":
        yield from _read_parquet(path)
        return
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rb") as file:
        yield from _parse(file, path)


def read_rows(path: Path) -> list[Row]:
    """Return every row of a file; see `read`."""
    return [row for _, row in read(path)]


def _parse(file: Iterable[bytes], path: Path) -> Iterator[tuple[int, Row]]:
    for number, line in enumerate(file, 1):
        if not line.strip():
            continue
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            if not line.endswith(b"\n"):  # only the last line can lack its end: the writer was killed in the middle
                return
            raise DataError(f"{path}:{number}", f"not valid JSON: {error.msg}") from None
        if not isinstance(row, dict):
            raise DataError(f"{path}:{number}", f"expected a JSON object, found {type(row).__name__}")
        yield number, row


def _read_parquet(path: Path) -> Iterator[tuple[int, Row]]:
    try:
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError(f"reading {path.name}", "parquet") from None
    yield from enumerate(parquet.read_table(path).to_pylist(), 1)


def dumps(row: Mapping[str, Any]) -> bytes:
    """Return one line, newline included; NaN becomes null."""
    return orjson.dumps(row, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE)


def write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Replace a file atomically: readers see the old rows or all of the new ones."""
    _replace(path, (dumps(row) for row in rows))


def write_json(path: Path, value: Any) -> None:
    """Write one indented JSON document atomically; NaN becomes null."""
    write_bytes(
        path,
        orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE),
    )


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file atomically and durably, through a temporary file in the same folder."""
    _replace(path, (data,))


def _replace(path: Path, chunks: Iterable[bytes]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines((gzip.compress(b"".join(chunks), mtime=0),) if path.suffix == ".gz" else chunks)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


class Appender:
    """Appends rows to a file, one flushed write per row, so that a kill loses at most the row being written."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        repair(path)
        self.path = path
        self._file: IO[bytes] = path.open("ab", buffering=0)

    def append(self, row: Mapping[str, Any]) -> None:
        """Write one row."""
        self._file.write(dumps(row))

    def close(self) -> None:
        """Close the file; safe to call twice."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def repair(path: Path) -> int:
    """Cut a torn last line off, or end a whole one that lacks its newline. Return the number of bytes cut."""
    if not path.exists():
        return 0
    with path.open("rb+") as file:
        size = file.seek(0, os.SEEK_END)
        start = _last_line_start(file, size)
        file.seek(start)
        tail = file.read()
        if not tail or tail.endswith(b"\n"):
            return 0
        try:
            orjson.loads(tail)
        except orjson.JSONDecodeError:
            file.truncate(start)
            return len(tail)
        file.write(b"\n")
        return 0


def _last_line_start(file: IO[bytes], size: int) -> int:
    """Return the offset just after the last newline that does not end the file."""
    position, block = size, 1 << 16
    while position > 0:
        step = min(block, position)
        position -= step
        file.seek(position)
        chunk = file.read(step)
        found = chunk.rfind(b"\n", 0, len(chunk) - 1 if position + step == size else len(chunk))
        if found >= 0:
            return position + found + 1
    return 0


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the one-writer lock of `path` (a `.lock` file beside it, released when the process ends).

    Raises:
        LockedError: if another process holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(path.name + ".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise LockedError(
                f"{path} is being written by another process; wait for it or choose another --output"
            ) from None
        yield

"""Append-only JSON Lines: torn lines, atomic writes, one writer."""

import gzip
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fugu_lite import jsonl
from fugu_lite.errors import DataError, LockedError

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
rows_of = st.lists(st.dictionaries(st.text(max_size=4), values, max_size=4), min_size=1, max_size=5)


@settings(deadline=None, max_examples=60)
@given(rows=rows_of, cut=st.floats(0, 1), extra=st.dictionaries(st.text(max_size=4), values, max_size=3))
def test_a_file_cut_anywhere_reads_as_a_prefix_and_can_be_continued(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]], cut: float, extra: dict[str, Any]
) -> None:
    path = tmp_path_factory.mktemp("cut") / "x.jsonl"
    whole = b"".join(jsonl.dumps(row) for row in rows)
    path.write_bytes(whole[: round(cut * len(whole))])
    survived = jsonl.read_rows(path)
    assert survived == rows[: len(survived)]
    assert len(survived) >= path.read_bytes().count(b"\n")
    with jsonl.Appender(path) as appender:
        appender.append(extra)
    assert jsonl.read_rows(path) == [*survived, extra]
    assert path.read_bytes().endswith(b"\n")


def test_repair_tells_what_it_cut(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    assert jsonl.repair(path) == 0
    path.write_bytes(b'{"a":1}\n{"b":')
    assert jsonl.repair(path) == 5
    assert path.read_bytes() == b'{"a":1}\n'
    path.write_bytes(b'{"a":1}\n{"b":2}')
    assert jsonl.repair(path) == 0
    assert path.read_bytes() == b'{"a":1}\n{"b":2}\n'


def test_repair_finds_the_start_of_a_line_longer_than_its_block(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"a":1}\n' + b'{"b":"' + b"x" * 200_000)
    assert jsonl.repair(path) == 200_006
    assert jsonl.read_rows(path) == [{"a": 1}]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"a":1}\n{"b":\n{"c":1}\n', r"x\.jsonl:2: not valid JSON"),
        (b'{"a":1}\n\n[1]\n', r"x\.jsonl:3: expected a JSON object, found list"),
        (b'{"a":1}\n"text"', r"x\.jsonl:2: expected a JSON object, found str"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        jsonl.read_rows(path)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        jsonl.read_rows(tmp_path / "none.jsonl")


def test_gzip_and_parquet_read_like_plain_lines(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    arrow = pytest.importorskip("pyarrow")
    rows = [{"task_id": "é", "n": 1}, {"task_id": "b", "n": 2}]
    jsonl.write(tmp_path / "x.jsonl.gz", rows)
    assert gzip.decompress((tmp_path / "x.jsonl.gz").read_bytes()) == b"".join(jsonl.dumps(row) for row in rows)
    parquet.write_table(arrow.Table.from_pylist(rows), tmp_path / "x.parquet")
    for name in ("x.jsonl.gz", "x.parquet"):
        assert list(jsonl.read(tmp_path / name)) == [(1, rows[0]), (2, rows[1])]


def test_nan_becomes_null() -> None:
    assert jsonl.dumps({"x": float("nan"), "y": np.float64("nan"), "z": np.array([1.5])}) == (
        b'{"x":null,"y":null,"z":[1.5]}\n'
    )


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    jsonl.write(path, [{"old": 1}])
    with pytest.raises(TypeError):
        jsonl.write(path, [{"new": object()}])
    assert jsonl.read_rows(path) == [{"old": 1}]
    assert [file.name for file in tmp_path.iterdir()] == ["x.jsonl"]


def test_another_process_cannot_take_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    code = (
        "import sys; from pathlib import Path; from fugu_lite import jsonl\n"
        "with jsonl.locked(Path(sys.argv[1])): print('taken')"
    )
    command = [sys.executable, "-c", code, str(path)]
    with jsonl.locked(path):
        with pytest.raises(LockedError, match="choose another --output"):
            jsonl.locked(path).__enter__()
        refused = subprocess.run(command, capture_output=True, text=True, check=False)
        assert "LockedError" in refused.stderr
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "taken\n"

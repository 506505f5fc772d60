"""Rows and values of foreign files."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from fugu_lite.datasets import reading
from fugu_lite.errors import DataError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", ["plain"]),
        ("['a']", ["a"]),
        ('["a", "b"]', ["a", "b"]),
        ("['it\\'s', \"ok\"]", ["it's", "ok"]),
        ("[1, 2]", ["[1, 2]"]),
        ("[]", ["[]"]),
        ("[not a list", ["[not a list"]),
        ("[__import__('os').system('true')]", ["[__import__('os').system('true')]"]),
        ("['a'] + ['b']", ["['a'] + ['b']"]),
        ("[" * 20000, ["[" * 20000]),
    ],
)
def test_a_list_written_as_text_is_parsed_and_never_run(text: str, expected: list[str]) -> None:
    assert reading.texts(text) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ("", None),
        (" NaN ", None),
        ("None", None),
        (float("nan"), None),
        ("True", 1.0),
        (False, 0.0),
        ("0.25", 0.25),
        (0, 0.0),
    ],
)
def test_a_missing_number_is_none_and_never_zero(value: object, expected: float | None) -> None:
    assert reading.number({"x": value}, "x", "here") == expected
    assert reading.number({}, "x", "here") is None


@pytest.mark.parametrize("value", ["many", [1], "inf", {}])
def test_other_values_are_refused(value: object) -> None:
    with pytest.raises(DataError, match="here"):
        reading.number({"x": value}, "x", "here")


def test_a_grade_outside_its_range_is_refused() -> None:
    for value in (-0.1, 1.5, 80):
        with pytest.raises(DataError, match=r"outside \[0, 1\]"):
            reading.quality({"x": value}, "x", "here")
    with pytest.raises(DataError, match="below zero"):
        reading.amount({"x": -1}, "x", "here")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("train.csv", "train"),
        ("val.csv", "validation"),
        ("gsm8k-train.json", "train"),
        ("arc_easy_test.json", "test"),
        ("routing_data_train_v2.jsonl.gz", "train"),
        ("strain.csv", None),
        ("contest.json", None),
    ],
)
def test_the_split_is_in_the_name(name: str, expected: str | None) -> None:
    assert reading.split_of(Path(name)) == expected


def test_shapes_of_json(tmp_path: Path) -> None:
    for name, text in {
        "list.json": '[{"a": 1}, {"a": 2}]',
        "data.json": '{"data": [{"a": 1}, {"a": 2}]}',
        "lines.json": '{"a": 1}\n{"a": 2}\n',
        "lines.jsonl": '{"a": 1}\n{"a": 2}\n',
    }.items():
        (tmp_path / name).write_text(text)
        assert [row for _, row in reading.rows(tmp_path / name)] == [{"a": 1}, {"a": 2}], name
    (tmp_path / "one.json").write_text('{"a": NaN,\n "b": 1}')
    assert [row for _, row in reading.rows(tmp_path / "one.json")] == [{"a": None, "b": 1}]


def test_csv(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    long = "x" * 200_000  # longer than the reader of the standard library allows
    path.write_bytes(gzip.compress(f'\ufeffa,b\n"one\ntwo",{long}\n'.encode()))
    ((where, row),) = reading.rows(path)
    assert (where, row) == (f"{path}:3", {"a": "one\ntwo", "b": long})
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b\n1\n")
    with pytest.raises(DataError, match=r"bad\.csv:2.*1 cells under 2"):
        list(reading.rows(bad))
    bad.write_text("a,a\n1,2\n")
    with pytest.raises(DataError, match="twice"):
        list(reading.rows(bad))


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"holds no \.csv file"):
        reading.files(tmp_path, (".csv",))
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "a.csv").touch()
    with pytest.raises(DataError, match="holds no"):
        reading.files(tmp_path, (".csv",))
    (tmp_path / "a.txt").touch()
    with pytest.raises(DataError, match="cannot read"):
        list(reading.rows(tmp_path / "a.txt"))

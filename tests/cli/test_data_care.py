"""`tasks build`, `audit`, `contamination` as commands."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from fugu_lite import jsonl, tasks
from fugu_lite.rewards.attempts import path_beside

Cli = Callable[..., Any]
GSM8K = [{"question": f"Ann has {n} red eggs and buys 4. How many?", "answer": f"#### {n + 4}"} for n in range(20)]
AUDIT = "audit --data data/rewards.mock.jsonl --tasks data/tasks.sample.jsonl"


def test_tasks_build_says_what_is_found_and_what_is_missing(cli: Cli, clone: Path) -> None:
    jsonl.write(clone / "sources" / "gsm8k_test.jsonl", GSM8K)
    ran = cli("tasks build --sources sources --output my/tasks.jsonl --split 50,25,25 --total 16")
    assert ran.code == 0, ran.err
    assert "missing" in ran.out
    assert "cut to balance" in ran.out
    written = tasks.load(clone / "my" / "tasks.jsonl")
    assert len(written) == 16
    told = orjson.loads(cli("tasks build --sources sources --output my/tasks.jsonl --json").out)
    assert {row["kind"]: row["status"] for row in told["sources"]}["gsm8k"] == "used"
    assert told["counts"]["domain"] == {"math": 20}


def test_tasks_build_without_sources(cli: Cli, clone: Path) -> None:
    ran = cli("tasks build --sources nowhere --output my/tasks.jsonl")
    assert (ran.code, ran.out) == (1, "")
    assert "no such folder" in ran.err


def test_audit_writes_marks_and_reads_them_back(cli: Cli, clone: Path, mock_matrix: Path) -> None:
    shutil.copy(path_beside(mock_matrix), clone / "data")
    ran = cli(f"{AUDIT} --mark my/marks.jsonl --sample 6")
    assert ran.code == 0, ran.err
    assert "write right, wrong or unsure" in ran.out
    rows = jsonl.read_rows(clone / "my" / "marks.jsonl")
    assert {row["mark"] for row in rows} == {""}
    jsonl.write(clone / "my" / "marks.jsonl", [row | {"mark": "right"} for row in rows])
    told = orjson.loads(cli(f"{AUDIT} --mark my/marks.jsonl --json").out)
    assert told["marks"]["marked"] == len(rows)
    assert {"grader", "low", "high", "n", "drawn"} <= told["marks"]["errors"][0].keys()
    assert {"flips", "graders", "leaked_answers", "duplicates"} <= told.keys()
    assert "response" not in str(told)


def test_contamination_is_reported_and_strict_fails(cli: Cli, clone: Path) -> None:
    jsonl.write(clone / "bench.jsonl", [{"task_id": "q", "prompt": "What colour is the sky on a clear day at noon?"}])
    line = "contamination --data data/tasks.sample.jsonl --benchmark bench.jsonl --strict"
    clean = cli(line)
    assert clean.code == 0, clean.err
    assert "examples" not in clean.out
    copied = tasks.load(clone / "data" / "tasks.sample.jsonl")[0]
    jsonl.write(clone / "bench.jsonl", [{"task_id": "q", "prompt": copied.text}])
    assert cli(line.removesuffix(" --strict")).code == 0
    ran = cli(line + " --json")
    assert ran.code == 1
    told = orjson.loads(ran.out)
    assert told["counts"]["exact"] == 1
    assert told["matches"][0]["train"] == copied.task_id


@pytest.mark.parametrize("line", ["audit --data none.jsonl", "contamination --data none.jsonl --benchmark none.jsonl"])
def test_missing_files_are_one_line(cli: Cli, line: str) -> None:
    ran = cli(line)
    assert (ran.code, ran.out) == (1, "")
    assert "none.jsonl" in ran.err

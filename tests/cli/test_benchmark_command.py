"""`benchmark` from the command line, on the mock pool with the hashing backbone."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from tests.cli.conftest import TRAIN, Cli

RUN = "benchmark --workers configs/workers.mock.yaml --tasks data/tasks.sample.jsonl --output out"


@pytest.fixture
def measured(cli: Cli) -> str:
    """A head whose rewards have their attempts and conditions beside them."""
    line = "generate --workers configs/workers.mock.yaml --tasks data/tasks.sample.jsonl --output data/own.jsonl"
    assert cli(f"{line} --repetitions 1").code == 0
    trained = cli(TRAIN.replace("data/rewards.mock.jsonl", "data/own.jsonl"))
    assert trained.code == 0, trained.err
    return "artifacts/head"


def test_it_answers_grades_and_writes(cli: Cli, measured: str, clone: Path) -> None:
    ran = cli(f"{RUN} --checkpoint {measured} --split test --compare best-fixed")
    assert ran.code == 0, ran.err
    assert "score" in ran.out
    assert "exact McNemar" in ran.out
    assert {path.name for path in (clone / "out").iterdir()} >= {
        "attempts.jsonl",
        "decisions.jsonl",
        "benchmark.json",
        "benchmark.md",
    }
    again = cli(f"{RUN} --checkpoint {measured} --split test --compare best-fixed --resume --json")
    assert again.code == 0, again.err
    found = orjson.loads(again.out)
    assert found["n_questions"] == found["graded"] == len(found["questions"]) > 10
    assert found["looks"] == 2
    assert found["settings"][found["comparison"]["comparator"]]["as_measured"] is True
    assert found["settings"]["math"]["sources"]["max_tokens"] == "checkpoint"
    stored = (clone / "out" / "attempts.jsonl").read_bytes().count(b"\n")
    assert stored == 2 * found["graded"] - found["comparison"]["same"]


def test_other_conditions_and_an_existing_folder_are_refused(cli: Cli, measured: str) -> None:
    refused = cli(f"{RUN} --checkpoint {measured} --temperature 0.9 --limit 3")
    assert refused.code == 1
    assert "--allow-condition-mismatch" in refused.err
    assert "temperature was 0.1, is 0.9" in refused.err
    allowed = cli(f"{RUN} --checkpoint {measured} --temperature 0.9 --limit 3 --allow-condition-mismatch")
    assert allowed.code == 0, allowed.err
    assert "is not set as it was when its rewards were measured (temperature was 0.1, is 0.9)" in allowed.out
    assert cli(f"{RUN} --checkpoint {measured} --limit 3").code == 1


def test_a_failing_worker_ends_with_exit_code_one(cli: Cli, measured: str, clone: Path) -> None:
    pool = clone / "configs" / "workers.mock.yaml"
    text = pool.read_text().replace("    options:\n", '    options:\n      fault: {"429": 1.0}\n')
    pool.write_text(text.replace("  retries: 3\n", "  retries: 0\n"))
    ran = cli(f"{RUN} --checkpoint {measured} --limit 4 --json")
    assert ran.code == 1
    found = orjson.loads(ran.out)
    assert (found["score"], found["graded"], found["error"]) == (None, 0, 4)
    assert found["status"] == "incomplete"

"""The benches themselves: they run, state ratios against limits, and say a miss aloud. Sizes are small, limits moot."""

import io
import os
from collections.abc import Callable
from typing import Literal

import orjson
import pytest
from bench.measure import Result, Row, Sample, interleaved, median_cpu_s, one_thread
from rich.console import Console

from bench import __main__ as command
from bench import collection, evolution, report
from fugu_lite.errors import MissingWeightsError

WITH_LIMIT = {"collection": 3, "evolution": 4}


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    runs: dict[str, Callable[[bool], Result]] = {"collection": collection.run, "evolution": evolution.run}
    return {name: run(True) for name, run in runs.items()}


@pytest.mark.parametrize("name", ["collection", "evolution"])
def test_quick_run_states_ratio_limit_and_verdict_for_every_claim(results: dict[str, Result], name: str) -> None:
    result = results[name]
    judged = [row for row in result.rows if row.limit is not None]
    assert result.name == name
    assert result.quick
    assert len(judged) >= WITH_LIMIT[name]
    assert all(row.ratio > 0 and row.n >= 1 and row.details for row in judged)
    assert {row.verdict for row in judged} <= {"pass", "MISS"}


def test_evolution_compares_every_size_and_the_memory_is_diagonal(results: dict[str, Result]) -> None:
    rows = results["evolution"].rows
    assert [row.limit for row in rows] == [1.5, 1.5, 1.0, 2.2]
    assert all(row.details["ours_ms"] and row.details["peer_ms"] for row in rows[:2])
    assert rows[-1].passed, "memory does not depend on how busy the machine is"


def test_collection_names_its_peer_and_reads_memory_twice(results: dict[str, Result]) -> None:
    rows = results["collection"].rows
    assert any("openai" in row.claim for row in rows)
    assert rows[-1].details.keys() >= {"tenth_mib", "end_mib"}


@pytest.mark.parametrize(
    ("sense", "ratio", "verdict"),
    [
        ("at least", 0.95, "pass"),
        ("at least", 0.94, "MISS"),
        ("at most", 1.5, "pass"),
        ("at most", 1.51, "MISS"),
        ("at most", float("nan"), "MISS"),
        ("none", 9.0, "-"),
    ],
)
def test_verdict(sense: Literal["at least", "at most", "none"], ratio: float, verdict: str) -> None:
    limit = {"at least": 0.95, "at most": 1.5, "none": None}[sense]
    assert Row("claim", ratio, sense, limit).verdict == verdict


def test_works_run_in_turn_after_their_warm_up() -> None:
    order: list[str] = []
    taken = interleaved({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, 2)
    assert "".join(order) == "ab" + "abab"
    assert [len(samples) for samples in taken.values()] == [2, 2]
    assert median_cpu_s([Sample(3, 0), Sample(1, 0), Sample(2, 0)]) == 2


def test_one_thread_restores_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    with one_thread():
        assert (os.environ["OMP_NUM_THREADS"], os.environ["MKL_NUM_THREADS"]) == ("1", "1")
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "MKL_NUM_THREADS" not in os.environ


def test_table_and_markdown_say_a_miss_aloud() -> None:
    result = Result("demo", "ours / theirs", (Row("speed", 0.5, "at least", 1.0, 3, {"ms": 2.0}),), False)
    shown = io.StringIO()
    report.show(result, Console(file=shown, width=120))
    assert "MISS" in shown.getvalue()
    assert "| speed | at least 1 | 0.5 | MISS | 3 | ms 2 |" in report.markdown(result)


def test_command_prints_json_and_names_what_could_not_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(name: str) -> Callable[[bool], Result]:
        if name == "embedding":
            raise MissingWeightsError("smollm2-135m", "run `fugu-lite weights fetch smollm2-135m`")
        return lambda quick: Result(name, "demo", (Row("claim", 2.0, "at most", 1.0),), quick)

    monkeypatch.setattr(command, "runner", run)
    assert command.main(["evolution", "embedding", "--quick", "--json"]) == 1
    out, err = capsys.readouterr()
    told = orjson.loads(out)
    assert (told["name"], told["quick"], told["rows"][0]["passed"]) == ("evolution", True, False)
    assert "embedding: could not be run" in err

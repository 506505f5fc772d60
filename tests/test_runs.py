"""A run's folder says what was asked, what happened and how it ended."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from fugu_lite import jsonl
from fugu_lite.runs import Event, Run, Silent
from fugu_lite.specs import Spec


class Asked(Spec):
    epochs: int = 3


def manifest(run: Run) -> dict[str, Any]:
    loaded: dict[str, Any] = orjson.loads((run.folder / "manifest.json").read_bytes())
    return loaded


def test_a_run_keeps_spec_events_manifest_and_outputs(tmp_path: Path) -> None:
    seen: list[Event] = []
    with Run("train-sft", Asked(), tmp_path, {"data": Path("m.jsonl"), "tasks": None}, (seen.append,)) as run:
        run.log("hello", rows=2)
        run.metric(1, train=0.5, validation=None)
        run.progress("embed", 1, 2, rate=3.0)
        run.output("checkpoint", Path("artifacts/x"))
        run.results["gain"] = 0.1
        assert manifest(run)["status"] == "running"
    events = jsonl.read_rows(run.folder / "events.jsonl")
    assert events == seen
    assert [event["type"] for event in events] == ["status", "log", "metric", "progress", "status"]
    assert [event["status"] for event in events if event["type"] == "status"] == ["running", "succeeded"]
    assert (events[2]["step"], events[2]["validation"]) == (1, None)
    assert orjson.loads((run.folder / "spec.json").read_bytes()) == {"epochs": 3}
    written = manifest(run)
    assert (written["status"], written["kind"], written["inputs"]) == ("succeeded", "train-sft", {"data": "m.jsonl"})
    assert (written["outputs"], written["results"]) == ({"checkpoint": "artifacts/x"}, {"gain": 0.1})


@pytest.mark.parametrize(
    ("error", "status", "told"),
    [
        (ValueError("too small"), "failed", "ValueError: too small"),
        (KeyboardInterrupt(), "cancelled", "KeyboardInterrupt: "),
    ],
)
def test_how_it_ended_is_recorded_and_the_error_goes_on(
    tmp_path: Path, error: BaseException, status: str, told: str
) -> None:
    run = Run("evaluate", {"split": "test"}, tmp_path)
    with pytest.raises(type(error)), run:
        raise error
    last = jsonl.read_rows(run.folder / "events.jsonl")[-1]
    assert (last["status"], last["error"]) == (status, told)
    assert manifest(run)["status"] == status


def test_work_that_ended_its_interrupt_cleanly_is_cancelled_too(tmp_path: Path) -> None:
    with Run("generate", {}, tmp_path) as run:
        run.cancel()
    assert manifest(run)["status"] == "cancelled"


def test_two_runs_in_one_second_have_two_folders(tmp_path: Path) -> None:
    runs = [Run("generate", {}, tmp_path) for _ in range(20)]
    assert len({run.folder for run in runs}) == 20
    assert all(run.id.split("-")[2] == "generate" for run in runs)


def test_silence_makes_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    reporter = Silent()
    reporter.log("x", y=1)
    reporter.metric(1, train=0.0)
    reporter.progress("embed", 1, None)
    assert list(tmp_path.iterdir()) == []

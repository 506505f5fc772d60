"""The matrix file: round trip, joins, and errors that name the line."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rewards.stubs import task

from fugu_lite import jsonl
from fugu_lite.errors import DataError, MismatchError
from fugu_lite.rewards import RewardMatrix
from fugu_lite.rewards.matrix import load

EXAMPLE = Path(__file__).resolve().parents[2] / "data" / "rewards.schema.example.jsonl"
cells = st.one_of(st.just(float("nan")), st.floats(-5, 5))


def row(name: str = "t", **fields: Any) -> dict[str, Any]:
    return {"task_id": name, "worker_ids": ["a", "b"], "rewards": [1.0, 0.0], **fields}


def written(path: Path, *rows: dict[str, Any]) -> Path:
    jsonl.write(path / "rewards.jsonl", rows)
    return path / "rewards.jsonl"


@settings(deadline=None, max_examples=60)
@given(values=st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=6))
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, values: list[tuple[float, float, float]]) -> None:
    array = np.array(values)
    tasks = tuple(task(f"t{i}", split="test", difficulty="easy", tags=["x"]) for i in range(len(values)))
    matrix = RewardMatrix(tasks, ("a", "b", "c"), array, array / 2, array * array, array + 1)
    path = tmp_path_factory.mktemp("m") / "r.jsonl"
    matrix.save(path)
    back = load(path)
    for name in ("rewards", "qualities", "costs", "latencies"):
        np.testing.assert_array_equal(getattr(back, name), getattr(matrix, name))
    assert back.worker_ids == matrix.worker_ids
    assert [t.model_dump(exclude={"grader", "reference_answer"}) for t in back.tasks] == [
        t.model_dump(exclude={"grader", "reference_answer"}) for t in tasks
    ]
    back.save(path.with_name("again.jsonl"))
    assert path.with_name("again.jsonl").read_bytes() == path.read_bytes()


def test_the_shipped_example_loads() -> None:
    matrix = load(EXAMPLE)
    assert matrix.worker_ids == ("math", "code", "general")
    assert matrix.rewards.shape == (len(matrix), 3)
    assert {task.split for task in matrix.tasks} == {"train", "validation", "test"}


def test_benchgen_rows_load(tmp_path: Path) -> None:
    given_row = {
        "task_id": "aime/1",
        "agent_order": ["x", "y", "z"],
        "mean_reward": [1.0, 2 / 3, 1.0],
        "best_agents": ["x", "z"],
        "is_tie": True,
    }
    matrix = load(written(tmp_path, given_row), [task("aime/1", domain="math"), task("other")])
    assert (matrix.worker_ids, matrix.domains, matrix.prompts) == (("x", "y", "z"), ["math"], ["say aime/1"])
    assert matrix.notes == ("1 tasks have no row, e.g. 'other'",)
    assert matrix.to_rows()[0]["best_workers"] == ["x", "z"]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (
            row(worker_ids=list("abcde"), rewards=[1, 0, 1, 0]),
            r"rewards\.jsonl:2: row has 4 rewards but worker_ids has 5",
        ),
        (row(qualities=[1.0]), r"rewards\.jsonl:2: row has 1 qualities but worker_ids has 2"),
        (row("first"), r"rewards\.jsonl:2: task_id 'first' appears twice"),
        (
            row(worker_ids=["b", "a"]),
            r"rewards\.jsonl:2: worker_ids \['b', 'a'\] differ from the first row's \['a', 'b'\]",
        ),
        (row(worker_ids=["a", "a"]), r"rewards\.jsonl:2: worker_ids repeats a name"),
        (row(rewards=[1.0, "x"]), r"rewards\.jsonl:2: rewards holds 'x', which is not a number or null"),
        (row(rewards=[True, 1.0]), r"rewards\.jsonl:2: rewards holds True"),
        ({"task_id": "t", "rewards": [1.0]}, r"rewards\.jsonl:2: row has no 'worker_ids' list of names"),
        ({"worker_ids": ["a", "b"], "rewards": [1, 0]}, r"rewards\.jsonl:2: row has no 'task_id'"),
        ({"task_id": "t", "worker_ids": ["a", "b"]}, r"rewards\.jsonl:2: row has no 'rewards' list"),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, bad: dict[str, Any], message: str) -> None:
    first = row("first")
    if len(bad.get("worker_ids", ())) == 5:
        first = row("first", worker_ids=list("abcde"), rewards=[1, 0, 1, 0, 1])
    with pytest.raises(DataError, match=message):
        load(written(tmp_path, first, bad))


def test_rows_and_columns_are_picked_by_name(tmp_path: Path) -> None:
    matrix = load(written(tmp_path, row("t1", split="train"), row("t2", split="test", rewards=[None, 0.5])))
    test = matrix.split("test").only(["b", "a"])
    assert test.worker_ids == ("b", "a")
    np.testing.assert_array_equal(test.rewards, [[0.5, np.nan]])
    with pytest.raises(DataError, match="no row has split 'dev'; splits in the file: test, train"):
        matrix.split("dev")
    with pytest.raises(MismatchError, match="no column 'c'; columns: a, b"):
        matrix.only(["c"])


def test_an_empty_matrix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no row"):
        load(written(tmp_path))


def test_a_row_with_a_bad_field_is_named(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    jsonl.write(path, [{"task_id": "t", "prompt": "p", "split": 5, "worker_ids": ["a"], "rewards": [1.0]}])
    with pytest.raises(DataError, match=r"r\.jsonl:1: row field 'split': .*found 5"):
        load(path)

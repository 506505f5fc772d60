"""Tasks files: what loads, what is refused and where, and the leak check."""

import gzip
from pathlib import Path
from typing import Any

import orjson
import pytest

from fugu_lite.errors import DataError
from fugu_lite.tasks import Task, in_split, leaked_answers, load, parse


def write(path: Path, *rows: Any) -> Path:
    data = b"".join(orjson.dumps(row) + b"\n" for row in rows)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize("name", ["tasks.jsonl", "tasks.jsonl.gz"])
def test_tasks_load_in_order_and_keep_unknown_keys(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, {"task_id": "b", "prompt": "x", "note": 1}, {"task_id": "a", "prompt": "y"})
    tasks = load(path)
    assert [task.task_id for task in tasks] == ["b", "a"]
    assert tasks[0].model_extra == {"note": 1}


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ({"prompt": "x"}, "task_id"),
        ({"task_id": 3, "prompt": "x"}, "task_id"),
        ({"task_id": "a"}, "neither 'prompt' nor 'messages'"),
        ({"task_id": "a", "messages": []}, "neither"),
        ({"task_id": "a", "prompt": "x", "tags": "t"}, "tags"),
    ],
)
def test_a_malformed_row_names_its_line(tmp_path: Path, row: dict[str, Any], found: str) -> None:
    path = write(tmp_path / "tasks.jsonl", {"task_id": "first", "prompt": "x"}, row)
    with pytest.raises(DataError, match=found) as error:
        load(path)
    assert error.value.where == f"{path}:2"


def test_a_duplicate_id_names_both_lines(tmp_path: Path) -> None:
    row = {"task_id": "a", "prompt": "x"}
    with pytest.raises(DataError, match="already on line 1") as error:
        load(write(tmp_path / "tasks.jsonl", row, row))
    assert error.value.where.endswith(":2")


def test_an_empty_and_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no task"):
        load(write(tmp_path / "tasks.jsonl"))
    with pytest.raises(DataError, match="no such file"):
        load(tmp_path / "other.jsonl")


def test_a_broken_line_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text('{"task_id": "a", "prompt": "x"}\n{"task_id": \n{"task_id": "b", "prompt": "y"}\n')
    with pytest.raises(DataError, match="not valid JSON") as error:
        load(path)
    assert error.value.where == f"{path}:2"


def test_text_of_prompt_and_messages() -> None:
    assert parse({"task_id": "a", "prompt": "x"}, "here").text == "x"
    parts = [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "u"}}]
    messages = [{"role": "system", "content": "be brief"}, {"role": "user", "content": parts}]
    assert parse({"task_id": "a", "messages": messages}, "here").text == "system: be brief\nuser: look"


def test_the_group_is_the_task_unless_named() -> None:
    assert Task(task_id="a", prompt="x").group == "a"
    assert Task(task_id="a", prompt="x", task_group="g").group == "g"


def test_in_split_names_what_exists() -> None:
    tasks = [Task(task_id="a", prompt="x", split="train"), Task(task_id="b", prompt="x")]
    assert [task.task_id for task in in_split(tasks, "train")] == ["a"]
    assert len(in_split(tasks, None)) == 2
    with pytest.raises(DataError, match=r"\(none\), train"):
        in_split(tasks, "test")


@pytest.mark.parametrize(
    ("prompt", "answer", "kind", "leaks"),
    [
        ("The capital is Paris. What is it?", "Paris", "exact", True),
        ("the capital is PARIS!", "Paris", "exact", True),
        ("A parisian?", "Paris", "exact", False),
        ("What is 12 + 3? (not 153)", "153", "numeric", False),
        ("Is it 1530 or not?", "1530", "numeric", True),
        ("A) Paris B) Rome", "Paris", "choice", False),
        ("No answer", None, "llm_judge", False),
    ],
)
def test_leaks(prompt: str, answer: str | None, kind: str, leaks: bool) -> None:
    task = Task(task_id="a", prompt=prompt, reference_answer=answer, grader={"type": kind})
    assert leaked_answers([task]) == ([task] if leaks else [])

from pathlib import Path

from fugu_lite import jsonl
from fugu_lite.evaluation import looks
from fugu_lite.rewards.matrix import RewardMatrix


def test_every_look_at_the_same_split_counts(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    assert looks.count("abc", "test", "artifacts/router-sft", root) == 1
    assert looks.count("abc", "test", "artifacts/router-es", root) == 2
    assert looks.count("abc", "validation", "artifacts/router-es", root) == 1
    assert looks.count("other", "test", "artifacts/router-es", root) == 1
    assert looks.count("abc", "test", "artifacts/router-sft", root) == 3


def test_a_look_says_what_was_looked_at(tmp_path: Path) -> None:
    looks.count("abc", "test", "artifacts/router-sft", tmp_path)
    (row,) = jsonl.read_rows(tmp_path / "looks.jsonl")
    assert (row["data"], row["split"], row["checkpoint"]) == ("abc", "test", "artifacts/router-sft")


def test_the_digest_is_of_the_tasks_only(worked: RewardMatrix) -> None:
    assert looks.data_digest(worked) == looks.data_digest(worked.rows([3, 1, 0, 2]).only(["b", "a"]))
    assert looks.data_digest(worked) != looks.data_digest(worked.rows([0, 1]))

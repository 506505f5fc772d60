"""The attempts file."""

from pathlib import Path

import pytest

from fugu_lite.errors import DataError, LockedError
from fugu_lite.rewards import Attempt, AttemptLog
from fugu_lite.rewards import attempts as log


def attempt(repetition: int = 0, status: str = "ok", **fields: object) -> Attempt:
    return Attempt.model_validate(
        {"task_id": "t", "worker_id": "w", "repetition": repetition, "status": status, **fields}
    )


def test_round_trip_keeps_unknown_keys_and_nulls(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    first = attempt(quality=0.5, response="é\n", note={"kept": [1]})
    with AttemptLog(path) as writer:
        writer.append(first)
        writer.append(attempt(1, "error", error={"kind": "server", "http_status": 500, "message": "no"}))
    back = list(log.read(path))
    assert back[0] == first
    assert (back[0].answered, back[1].answered, back[1].quality) == (True, False, None)


def test_the_last_line_of_a_key_counts(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with AttemptLog(path) as writer:
        for each in (attempt(0, "error"), attempt(1), attempt(0, "ok", quality=1.0)):
            writer.append(each)
    kept = log.latest(log.read(path))
    assert [(key[2], each.status) for key, each in kept.items()] == [(0, "ok"), (1, "ok")]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"task_id":"t","worker_id":"w","repetition":0,"status":"fine"}', r":1: attempt field 'status'"),
        ('{"task_id":"t","worker_id":"w","repetition":-1,"status":"ok"}', r":1: attempt field 'repetition'"),
        ('{"task_id":"t","worker_id":"w","repetition":0,"status":"ok","quality":1.5}', r":1: attempt field 'quality'"),
        ('{"task_id":"t"}', r":1: attempt field 'worker_id'"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(DataError, match=message):
        list(log.read(path))


def test_the_lock_is_released_when_the_log_closes(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with AttemptLog(path):
        with pytest.raises(LockedError, match="is being written by another process"):
            AttemptLog(path).__enter__()
    with AttemptLog(path) as writer:
        writer.append(attempt())
    assert len(list(log.read(path))) == 1


def test_attempts_lie_beside_the_matrix() -> None:
    assert log.path_beside(Path("x/rewards.mock.jsonl")) == Path("x/rewards.mock.attempts.jsonl")
    assert log.path_beside(Path("rewards.jsonl.gz")) == Path("rewards.attempts.jsonl")


def test_only_an_empty_answer_of_the_worker_itself_counts_as_answered() -> None:
    own = attempt(0, "empty", quality=0.0, usage={"completion_tokens": 7})
    provider = attempt(0, "empty", error={"kind": "empty", "http_status": None, "message": "no token"})
    assert (own.answered, provider.answered) == (True, False)

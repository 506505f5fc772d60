"""What may be passed on, and nothing else."""

from pathlib import Path

import pytest
from tests.rewards.stubs import entry, pool, task

from fugu_lite import jsonl
from fugu_lite.errors import SpecError
from fugu_lite.rewards import attempts as log
from fugu_lite.rewards import collect, publish
from fugu_lite.rewards.matrix import load

FREE = {"dataset": "ours", "license": "Apache-2.0", "redistributable": True}
CLOSED = {"dataset": "theirs", "license": "unclear", "redistributable": False}


@pytest.mark.anyio
async def test_the_pair_of_datasets(tmp_path: Path) -> None:
    tasks = [
        task("t1", "fine secret", source=FREE),
        task("t2", "fine hidden", source=CLOSED),
        task("t3", "empty", source=FREE),
        task("t4", "fine unknown"),
    ]
    output, folder = tmp_path / "r.jsonl", tmp_path / "published"
    workers = pool(entry("a", cost_usd=1.0), entry("b", lie=True), entry("c", fail="server"), repetitions=2)
    await collect(workers, tasks, output)
    summary = publish(log.path_beside(output), tasks, folder, ["a", "b", "c"])
    assert (summary.reward_rows, summary.task_rows) == (3, 2)
    assert summary.left_out == {"unclear": 1, "not stated": 1}

    rows = jsonl.read_rows(folder / "rewards.jsonl")
    assert rows[0] == {
        "task_id": "t1",
        "a": 1.0,
        "b": 0.0,
        "c": None,
        "repetitions": 2,
        "agent_order": ["a", "b", "c"],
        "mean_reward": [1.0, 0.0, None],
        "best_agents": ["a"],
        "is_tie": False,
        "empty_counts": [0, 0, 0],
        "error_counts": [0, 0, 2],
    }
    assert load(folder / "rewards.jsonl").worker_ids == ("a", "b", "c")
    text = (folder / "rewards.jsonl").read_text() + (folder / "README.md").read_text()
    assert not any(word in text for word in ("secret", "hidden", "unknown"))
    published = jsonl.read_rows(folder / "tasks.jsonl")
    assert [(row["task_id"], row["license"]) for row in published] == [("t1", "Apache-2.0"), ("t3", "Apache-2.0")]
    card = (folder / "README.md").read_text()
    assert "| `a` | 1.0000 | 6 | 0 | 2 | 0 | 0 | 0 | 0.000 |" in card
    assert "| unclear | 0 | 1 |" in card


@pytest.mark.anyio
async def test_columns_and_folders_are_not_overwritten(tmp_path: Path) -> None:
    output = tmp_path / "r.jsonl"
    await collect(pool(entry("is_tie")), [task("t1")], output)
    with pytest.raises(SpecError, match="'is_tie' is the name of a column"):
        publish(log.path_beside(output), [task("t1")], tmp_path / "p")
    other = tmp_path / "s.jsonl"
    await collect(pool(entry("a")), [task("t1")], other)
    publish(log.path_beside(other), [task("t1")], tmp_path / "p")
    with pytest.raises(SpecError, match="already holds a dataset"):
        publish(log.path_beside(other), [task("t1")], tmp_path / "p")

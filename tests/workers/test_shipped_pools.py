"""The files that a newcomer copies: they load, agree with each other, and hold no secret."""

import re
from pathlib import Path

import pytest
import yaml

from fugu_lite import tasks
from fugu_lite.chat import ChatRequest
from fugu_lite.graders import contract
from fugu_lite.specs import load
from fugu_lite.workers import CollectionSpec, Pool, PoolSpec, UtilitySpec
from fugu_lite.workers.environment import parse_env
from fugu_lite.workers.mock import MockWorker

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).resolve().parents[2]
MOCK, REAL = ROOT / "configs/workers.mock.yaml", ROOT / "configs/workers.openrouter.example.yaml"
SAMPLE = ROOT / "data/tasks.sample.jsonl"
DOMAINS = ("math", "code", "general")


async def qualities(repetitions: int = 3) -> dict[tuple[str, str], list[float]]:
    """Return (worker, domain) -> mean quality of each sample task, graded by the task's own grader."""
    found: dict[tuple[str, str], list[float]] = {}
    pool = Pool.load(MOCK)
    for task in tasks.load(SAMPLE):
        grader = contract.build(task.grader)
        for name, worker in pool.items():
            answers = [await worker.complete(ChatRequest.of(task.text, seed=seed)) for seed in range(repetitions)]
            grades = [grader.grade(answer.text, task).quality for answer in answers]
            found.setdefault((name, str(task.domain)), []).append(sum(grades) / repetitions)
    return found


async def test_each_expert_wins_in_its_own_domain() -> None:
    found = await qualities()
    means = {key: sum(values) / len(values) for key, values in found.items()}
    for domain in DOMAINS:
        others = [means[name, domain] for name in DOMAINS if name != domain]
        assert means[domain, domain] > max(others) + 0.3
        assert means[domain, domain] < 1.0
    assert any(0 < quality < 1 for values in found.values() for quality in values)
    assert found == await qualities()


async def test_every_task_is_in_the_book_under_its_domain_and_its_answer_is_right() -> None:
    for name, worker in Pool.load(MOCK).items():
        assert isinstance(worker, MockWorker)
        for task in tasks.load(SAMPLE):
            answer = worker.options.book[str(task.domain)][task.text]
            assert contract.build(task.grader).grade(answer, task).quality == 1.0, (name, task.task_id)
        assert sum(len(page) for page in worker.options.book.values()) == len(tasks.load(SAMPLE))


async def test_wrong_answers_are_graded_wrong() -> None:
    pool = PoolSpec.parse(yaml.safe_load(MOCK.read_text(encoding="utf-8")))
    options = pool.workers[0].options | {"skills": {}}
    worker = MockWorker(pool.workers[0].model_copy(update={"options": options}))
    for task in tasks.load(SAMPLE):
        for seed in range(10):
            answer = await worker.complete(ChatRequest.of(task.text, seed=seed))
            assert contract.build(task.grader).grade(answer.text, task).quality == 0.0, (task.task_id, answer.text)


def test_the_sample_has_every_split_domain_and_grader_of_the_readme() -> None:
    sample = tasks.load(SAMPLE)
    assert {(task.domain, task.split) for task in sample} == {
        (domain, split) for domain in DOMAINS for split in ("train", "validation", "test")
    }
    assert {(task.grader or {})["type"] for task in sample} == {"numeric", "exact", "contains", "regex"}
    assert "math-101" in {task.task_id for task in sample}
    assert tasks.leaked_answers(sample) == []
    assert len({task.text for task in sample}) == len(sample)


@pytest.mark.parametrize("path", [MOCK, REAL])
def test_every_reward_and_collection_key_is_shown(path: Path) -> None:
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert data["reward"].keys() == UtilitySpec.model_fields.keys()
    assert data["collection"].keys() == CollectionSpec.model_fields.keys()
    assert load(PoolSpec, path).collection == CollectionSpec()


def test_the_mock_pool_is_the_three_experts_with_prices() -> None:
    pool = load(PoolSpec, MOCK)
    assert pool.worker_ids == DOMAINS
    assert all(worker.price.input_per_million for worker in pool.workers)


def test_the_example_pool_has_different_models_and_a_commented_server() -> None:
    pool = load(PoolSpec, REAL)
    assert len({worker.model for worker in pool.workers}) == len(pool.workers) == 4
    assert {worker.api_key_env for worker in pool.workers} == {"OPENROUTER_API_KEY"}
    text = REAL.read_text(encoding="utf-8")
    _, _, after = text.partition("  # - id: own")
    block = "- id: own" + after.partition("\n\n")[0]
    (entry,) = yaml.safe_load("\n".join(re.sub(r"^  # ", "", line) for line in block.splitlines()))
    both = PoolSpec.parse({"workers": [*yaml.safe_load(text)["workers"], entry]})
    assert (both.workers[-1].type, both.workers[-1].base_url) == ("openai_compatible", "http://127.0.0.1:8000/v1")


@pytest.mark.parametrize("path", [MOCK, REAL, ROOT / ".env.example"])
def test_no_key_is_shipped(path: Path) -> None:
    assert re.search(r"sk-[\w-]{8,}", path.read_text(encoding="utf-8")) is None


def test_the_example_environment_names_the_key_and_leaves_it_empty() -> None:
    assert parse_env((ROOT / ".env.example").read_text(encoding="utf-8")) == ({"OPENROUTER_API_KEY": ""}, [])

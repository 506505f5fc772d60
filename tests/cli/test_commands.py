"""Every command at work: results for people, or one JSON document and nothing else on standard output."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.workers.faulty_server import faulty_server

from fugu_lite import jsonl, specs
from fugu_lite.cli.data import _bounded
from fugu_lite.trainers.es import EsSpec
from fugu_lite.workers import Pool

Cli = Callable[..., Any]
GENERATE = "generate --workers configs/workers.mock.yaml --tasks data/tasks.sample.jsonl"


def document(ran: Any) -> dict[str, Any]:
    """Return the one JSON document of standard output."""
    assert ran.code == 0, ran.err
    loaded: dict[str, Any] = orjson.loads(ran.out)
    return loaded


@pytest.fixture
def catalogue() -> Iterator[str]:
    """A model server in another thread."""
    ready, stop, found = threading.Event(), asyncio.Event(), list[str]()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with faulty_server() as server:
            server.models = {"data": [{"id": "qwen/q"}, {"id": "x/y", "pricing": {"prompt": "0", "completion": "0"}}]}
            found.append(server.url)
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    assert ready.wait(30)
    yield found[0]
    loop.call_soon_threadsafe(stop.set)
    thread.join(30)


def test_doctor(cli: Cli) -> None:
    told = document(cli("doctor --json"))
    assert {"state", "what", "found"} == set(told["checks"][0])
    assert {"ok", "note", "problem"} >= {check["state"] for check in told["checks"]}
    key = next(check for check in told["checks"] if check["what"] == "OPENROUTER_API_KEY")
    assert key["found"].startswith("not set")
    assert "Python" in cli("doctor").out


def test_list_models(cli: Cli, catalogue: str) -> None:
    ids = [model["id"] for model in document(cli(f"list-models --base-url {catalogue} --json"))["models"]]
    assert ids == ["qwen/q", "x/y"]
    shown = cli(f"list-models --contains qwen --limit 30 --base-url {catalogue}").out
    assert "qwen/q" in shown
    assert "x/y" not in shown
    assert "None" not in shown


def test_preflight(cli: Cli) -> None:
    told = document(cli("preflight --workers configs/workers.mock.yaml --calls 3 --json"))
    assert told["passed"]
    assert list(told["workers"]) == ["math", "code", "general"]


def test_a_failed_preflight_exits_1(cli: Cli, clone: Path) -> None:
    (clone / "bad.yaml").write_text("workers: [{id: a, type: mock, options: {fault: '500'}}]\n")
    ran = cli("preflight --workers bad.yaml --calls 2 --json")
    assert ran.code == 1
    assert orjson.loads(ran.out)["passed"] is False


def test_weights_list(cli: Cli) -> None:
    assert "smollm2-135m" in {entry["name"] for entry in document(cli("weights list --json"))["weights"]}


def test_split(cli: Cli, clone: Path) -> None:
    told = document(cli("split --tasks data/tasks.sample.jsonl --output s.jsonl --seed 3 --json"))
    assert sum(told["counts"].values()) == len(jsonl.read_rows(clone / "s.jsonl")) == 72
    assert told["counts"]["train"] == pytest.approx(0.6 * 72, abs=3)


def test_generate_dry_run_asks_nothing(cli: Cli, clone: Path) -> None:
    told = document(cli(f"{GENERATE} --output m.jsonl --limit 4 --dry-run --json"))
    assert told["calls"] == 4 * 3 * 3
    assert told["cost_usd"] > 0
    assert not (clone / "m.jsonl").exists()


def test_generate_resume_regrade_rewards_publish(cli: Cli, clone: Path) -> None:
    part = document(cli(f"{GENERATE} --output m.jsonl --limit 6 --json"))
    assert (part["status"], part["rows"], part["done"]) == ("complete", 6, 54)
    whole = document(cli(f"{GENERATE} --output m.jsonl --limit 8 --resume --json"))
    assert (whole["rows"], whole["done"]) == (8, 18)
    attempts = "--attempts m.attempts.jsonl --tasks data/tasks.sample.jsonl"
    assert document(cli(f"regrade {attempts} --json"))["attempts"] == "m.attempts.jsonl"
    told = document(cli(f"rewards {attempts} --output r.jsonl --workers configs/workers.mock.yaml --json"))
    assert (told["rows"], list(told["mean_reward"])) == (8, ["math", "code", "general"])
    same, made = jsonl.read_rows(clone / "r.jsonl"), jsonl.read_rows(clone / "m.jsonl")
    assert [row["rewards"] for row in same] == [row["rewards"] for row in made]
    priced = document(cli(f"rewards {attempts} --output c.jsonl --latency-weight 0.5 --json"))
    assert priced["weights"]["latency_weight"] == 0.5
    assert all(priced["mean_reward"][name] < told["mean_reward"][name] for name in told["mean_reward"])
    document(cli(f"publish {attempts} --output pair --json"))
    assert any((clone / "pair").iterdir())


def test_a_collection_without_answers_says_why_and_exits_1(cli: Cli, clone: Path) -> None:
    (clone / "bad.yaml").write_text("workers: [{id: a, type: mock, options: {fault: '500'}}]\n")
    line = "generate --workers bad.yaml --tasks data/tasks.sample.jsonl --limit 1 --repetitions 1 --retries 0"
    ran = cli(f"{line} --output m.jsonl")
    assert ran.code == 1
    assert "a: last failed call: server: " in ran.out
    assert "a has not answered a single call" in ran.out
    assert "below 100" not in ran.err  # a part of the tasks is no small test split
    assert document(cli(f"{GENERATE} --output n.jsonl --limit 1 --max-cost-usd 0 --json"))["status"] == "budget"


def test_warnings_speak_of_splits_that_exist(cli: Cli, clone: Path) -> None:
    rows = [row | {"split": "train"} for row in jsonl.read_rows(clone / "data/tasks.sample.jsonl")[:2]]
    jsonl.write(clone / "train.jsonl", rows)
    ran = cli("generate --workers configs/workers.mock.yaml --tasks train.jsonl --output m.jsonl --repetitions 1")
    assert (ran.code, "holds 0 tasks" in ran.err) == (0, False)


@pytest.mark.parametrize("flags", ["--limit 0", "--max-cost-usd -1", "--concurrency 0", "--repetitions 0"])
def test_a_number_out_of_range_ends_in_one_line(cli: Cli, flags: str) -> None:
    ran = cli(f"{GENERATE} --output m.jsonl {flags}")
    assert ran.code == 1
    assert ran.err.startswith(f"error: flags: {flags.split()[0][2:].replace('-', '_')}: Input should be")
    assert ran.err.count("\n") == 1


def test_concurrency_reaches_the_pool_entries(clone: Path) -> None:
    pool = Pool.load(clone / "configs" / "workers.mock.yaml")
    assert {worker.spec.max_concurrency for worker in _bounded(pool, 31).values()} == {31}
    assert _bounded(pool, None) is pool


def test_a_folder_is_no_output_file(cli: Cli, clone: Path) -> None:
    (clone / "folder").mkdir()
    ran = cli("split --tasks data/tasks.sample.jsonl --output folder")
    assert (ran.code, ran.err) == (1, "error: --output: folder is a folder; name a file in it\n")


def test_rewards_of_other_tasks_are_refused_and_the_output_stays(cli: Cli, clone: Path) -> None:
    assert cli(f"{GENERATE} --output m.jsonl --limit 1 --repetitions 1 --json").code == 0
    rows = jsonl.read_rows(clone / "data/tasks.sample.jsonl")
    jsonl.write(clone / "other.jsonl", rows[1:2])
    before = (clone / "m.jsonl").read_bytes()
    ran = cli("rewards --attempts m.attempts.jsonl --tasks other.jsonl --output m.jsonl")
    assert (ran.code, "holds no graded attempt" in ran.err) == (1, True)
    assert (clone / "m.jsonl").read_bytes() == before


def test_regrade_asks_the_judge_of_the_pool(cli: Cli, clone: Path) -> None:
    row = jsonl.read_rows(clone / "data/tasks.sample.jsonl")[0]
    jsonl.write(clone / "judged.jsonl", [row | {"grader": {"type": "llm_judge"}}])
    verdict = orjson.dumps({"quality": 0.5, "reason": "half"}).decode()
    judge = {"id": "judge", "type": "mock", "options": {"reply": verdict}}
    pool = {"workers": [{"id": "a", "type": "mock"}, judge], "reward": {"judge_model": "judge"}}
    (clone / "pool.yaml").write_bytes(orjson.dumps(pool))
    line = "--tasks judged.jsonl --repetitions 1 --only-workers a --workers pool.yaml --output m.jsonl"
    assert cli(f"generate {line}").code == 0
    attempts = "regrade --attempts m.attempts.jsonl --tasks judged.jsonl"
    told = document(cli(f"{attempts} --rejudge --workers pool.yaml --json"))
    assert (told["judge_calls"], told["regraded"], told["changed"]) == (1, 1, 0)
    assert "add --workers" in cli(f"{attempts} --rejudge").err


def test_train_evaluate_route_ask(cli: Cli, head: str, clone: Path) -> None:
    data = "--data data/rewards.mock.jsonl"
    told = document(cli(f"evaluate --checkpoint {head} {data} --split test --output metrics.json --no-cache --json"))
    assert told == orjson.loads((clone / "metrics.json").read_bytes())
    six = {"router_utility", "oracle_utility", "best_fixed_utility", "random_utility", "regret"}
    assert six | {"oracle_route_accuracy"} <= set(told)
    routed = document(cli(f"route --checkpoint {head} --no-cache --json --domain code --prompt", "What is 17 + 28?"))
    assert routed["worker_id"] == routed["ranking"][0]
    assert sum(routed["probabilities"].values()) == pytest.approx(1.0)
    pool = "--workers configs/workers.mock.yaml"
    asked = document(cli(f"ask --checkpoint {head} {pool} --json --prompt", "What is 17 + 28?"))
    assert asked["fugu_lite"]["worker_id"] == routed["worker_id"]
    assert asked["answer"]


def test_an_answer_is_printed_as_it_is(cli: Cli, head: str, clone: Path) -> None:
    answer = "[n ** 2 for n in range(5)] [/x] :smile: " + "long " * 60
    pool = {"workers": [{"id": n, "type": "mock", "options": {"reply": answer}} for n in ("math", "code", "general")]}
    (clone / "pool.yaml").write_bytes(orjson.dumps(pool))
    ran = cli(f"ask --checkpoint {head} --workers pool.yaml --prompt hi")
    assert ran.code == 0, ran.err
    assert answer.strip() in ran.out


def test_models(cli: Cli, head: str, clone: Path) -> None:
    name = document(cli(f"models register {head} --json"))["name"]
    assert cli(f"models promote {name}").code == 1  # not evaluated yet
    assert "has no evaluation" in cli(f"models promote {name}").err
    assert document(cli(f"models promote {name} --force --json")) == {
        "alias": "production",
        "name": name,
        "forced": True,
    }
    (version,) = document(cli("models list --json"))["versions"]
    assert (version["name"], version["aliases"]) == (name, ["production"])
    assert "not evaluated" in cli("models list").out
    assert document(cli("route --checkpoint production --no-cache --json --prompt hi"))["head"] == name


def test_an_evaluation_without_an_interval_can_be_listed(cli: Cli, head: str, clone: Path) -> None:
    (clone / head / "evaluation.json").write_bytes(b'{"gain": 0.05, "gain_low": null, "gain_high": null}')
    cli(f"models register {head}")
    assert "+0.0500" in cli("models list").out


def test_export_refuses_by_name_what_has_no_place(cli: Cli, head: str) -> None:
    ran = cli(f"export --checkpoint {head} --output e --format router-head")
    assert (ran.code, "'hashing' backbone has no place" in ran.err) == (1, True)


def test_flags_win_over_the_file_and_both_are_kept(cli: Cli, clone: Path) -> None:
    (clone / "es.yaml").write_text("generations: 2\nsigma0: 0.25\nbackbone: {type: hashing, dimension: 32}\n")
    line = "train-es --config es.yaml --data data/rewards.mock.jsonl --output out --no-cache --sigma0 0.75"
    document(cli(f"{line} --backbone.dimension 64 --json"))
    (run,) = (clone / "runs").iterdir()
    spec = orjson.loads((run / "spec.json").read_bytes())
    assert (spec["generations"], spec["sigma0"], spec["backbone"]["dimension"]) == (2, 0.75, 64)
    assert spec == specs.load(EsSpec, None, spec).model_dump(mode="json")
    manifest = orjson.loads((run / "manifest.json").read_bytes())
    assert (manifest["status"], manifest["outputs"]) == ("succeeded", {"checkpoint": "out"})
    assert {event["type"] for event in jsonl.read_rows(run / "events.jsonl")} >= {"status", "metric", "progress"}
    assert (clone / "out" / "training.svg").stat().st_size > 1000

"""The traps of single formats, beyond what is in the cells."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from fugu_lite import datasets, jsonl
from fugu_lite.errors import DataError, SpecError
from fugu_lite.rewards import RewardMatrix
from fugu_lite.tasks import Task

FIXTURES = Path(__file__).parent / "fixtures"


def read(kind: str, path: str | Path, **options: object) -> datasets.Imported:
    return datasets.read(kind, FIXTURES / path, datasets.ImportOptions.parse(options))


def matrix_of(found: datasets.Imported) -> RewardMatrix:
    assert found.matrix is not None
    return found.matrix


# benchgen


def test_benchgen_joins_permuted_agents_by_name() -> None:
    rows = {task.task_id: i for i, task in enumerate(matrix_of(read("benchgen", "benchgen")).tasks)}
    matrix = matrix_of(read("benchgen", "benchgen"))
    assert matrix.qualities[rows["t2"]].tolist() == [0.0, 1.0]  # the row's own order is deep, quick


def test_benchgen_a_failed_call_is_missing_and_costs_are_means() -> None:
    matrix = matrix_of(read("benchgen", "benchgen"))
    assert matrix.qualities[0, 1] == 1.0  # mean_reward says 0.5, counting a timeout as wrong
    np.testing.assert_allclose(matrix.costs[0], [0.002, 0.01])
    np.testing.assert_allclose(matrix.latencies[0], [1.0, 4.0])


def test_benchgen_tasks_keep_grader_group_and_licence() -> None:
    first, second, third = read("benchgen", "benchgen").tasks
    assert (first.grader, first.reference_answer, first.task_group) == ({"type": "numeric"}, "6", "sides")
    assert (first.source or {})["redistributable"] is True
    assert second.grader is None
    assert (second.model_extra or {})["benchgen_grader"] == "palindrome_check"
    assert third.task_id == "t3"


def test_benchgen_attempts_name_the_model_behind_an_alias() -> None:
    found = read("benchgen", "benchgen")
    assert {a.served_model for a in found.attempts} == {"acme/quick-2", "acme/deep-9"}
    assert [(a.worker_id, a.repetition) for a in found.attempts if a.task_id == "t1"] == [
        ("quick", 0),
        ("quick", 1),
        ("deep", 0),
        ("deep", 1),
    ]
    assert matrix_of(read("benchgen", "benchgen", by_served=True)).worker_ids == ("acme/quick-2", "acme/deep-9")


def test_benchgen_lists_of_different_length_are_refused(tmp_path: Path) -> None:
    jsonl.write(tmp_path / "rewards.jsonl", [{"task_id": "a", "agent_order": ["x", "y"], "mean_reward": [1.0]}])
    with pytest.raises(DataError, match=r"rewards\.jsonl:1.*length"):
        datasets.read("benchgen", tmp_path)


# embedllm, routerdc, routellm


def test_embedllm_reads_names_and_splits_not_ids() -> None:
    matrix = matrix_of(read("embedllm", "embedllm"))
    assert matrix.worker_ids == ("bee", "ant")  # model_id 0 is ant in train.csv and bee in test.csv
    assert [task.split for task in matrix.tasks] == ["test", "train", "train"]


def test_embedllm_one_id_with_two_prompts_is_refused(tmp_path: Path) -> None:
    head = "prompt_id,model_id,category_id,label,model_name,category,prompt\n"
    (tmp_path / "train.csv").write_text(head + "0,0,0,1,ant,c,one\n0,1,0,1,bee,c,two\n")
    with pytest.raises(DataError, match=r"train\.csv:3.*two prompts"):
        datasets.read("embedllm", tmp_path)


def test_routerdc_reads_permuted_scores_by_name() -> None:
    assert matrix_of(read("routerdc", "sums_train.json")).qualities[1].tolist() == [0.2, 1.0]


def test_routellm_joins_spellings_when_told() -> None:
    found = read("routellm", "routellm", rename={"org/Weak-8x7B": "weak-8x7b"})
    assert found.report.renamed == {"org/Weak-8x7B": "weak-8x7b"}
    assert matrix_of(found).worker_ids == ("strong-4", "weak-8x7b")


def test_battles_are_preferences_and_no_scores() -> None:
    found = read("routellm", "routellm_battles")
    assert found.matrix is None
    assert [each.winner for each in found.preferences] == ["red", "blue", "red", "green", None]
    assert found.tasks[0].prompt == "Write a verse.\n\nNow shorter."
    assert found.tasks[3].task_id == "routellm-3"
    assert found.tasks[3].prompt is None
    assert found.report.dropped == {"battles of a worker with itself": 1}


# costs


def test_a_cost_without_a_unit_is_not_read_and_zero_is_not_free() -> None:
    assert np.isnan(matrix_of(read("graphrouter", "graphrouter.csv")).costs).all()
    bench = matrix_of(read("llmrouterbench", "llmrouterbench"))
    assert np.isnan(bench.costs[:, 1]).all()
    np.testing.assert_allclose(bench.costs[:, 0], [0.004, 0.002])


def test_llmrouter_makes_a_cost_only_of_one_price() -> None:
    matrix = matrix_of(read("llmrouter", "llmrouter"))
    np.testing.assert_allclose(matrix.costs[0, 0], (50 + 150) / 2 * 0.2 / 1e6)
    assert np.isnan(matrix.costs[0, 1])  # eagle: 0.5 in, 1.5 out, and token_num does not say which


def test_weights_make_rewards_and_unknown_costs_make_none() -> None:
    reward = {"quality_weight": 1.0, "cost_weight": 0.5, "cost_scale_usd": 0.01}
    matrix = matrix_of(read("llmrouterbench", "llmrouterbench", reward=reward))
    np.testing.assert_allclose(matrix.rewards[0, 0], 1.0 - 0.5 * 0.004 / 0.01)
    assert np.isnan(matrix.rewards[:, 1]).all()


# splits


def test_a_query_in_train_and_test_gets_no_split() -> None:
    found = read("llmrouter", "llmrouter")
    assert [task.split for task in matrix_of(found).tasks] == [None, "train"]
    assert any("two splits" in note for note in found.report.notes)


def test_llmrouterbench_keeps_the_data_sets_split_apart() -> None:
    task = matrix_of(read("llmrouterbench", "llmrouterbench")).tasks[0]
    assert (task.split, task.source) == (None, {"dataset": "riddles", "split": "test"})


# routerarena, nvidia


def test_routerarena_is_partial_feedback_without_grades_of_failed_calls() -> None:
    found = read("routerarena", "routerarena")
    assert {a.task_id: (a.status, a.quality) for a in found.attempts} == {
        "Maze_1": ("ok", 1.0),
        "Maze_2": ("error", None),
        "Maze_3": ("ok", 0.0),
    }
    assert np.isnan(matrix_of(found).costs[1]).all()
    assert any("partial feedback" in note for note in found.report.notes)
    assert any("slow-v2" in note for note in found.report.notes)


def test_routerarena_a_redirected_slug_is_its_own_worker_when_told() -> None:
    assert matrix_of(read("routerarena", "routerarena", by_served=True)).worker_ids == ("fast", "slow-v2")


def test_nvidia_tags_images() -> None:
    tagged, plain = read("nvidia", "nvidia.json").tasks
    assert (tagged.tags, plain.tags) == (["vision"], [])


def test_nvidia_csv_holds_verdicts_only(tmp_path: Path) -> None:
    task = Task(task_id="t", prompt="p")
    half_grade, one, unknown = (np.array([[value]]) for value in (0.5, 1.0, np.nan))
    half = RewardMatrix((task,), ("w",), half_grade, half_grade, unknown, unknown)
    with pytest.raises(SpecError, match="between"):
        datasets.named("nvidia").write(half, tmp_path / "out.csv")
    whole = RewardMatrix((task,), ("w",), one, one, unknown, unknown)
    datasets.named("nvidia").write(whole, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().splitlines()[1] == "p,w,1,,t"


# routerbench


def test_routerbench_parses_a_prompt_and_never_runs_it() -> None:
    prompts = [task.prompt for task in read("routerbench", "routerbench.csv").tasks]
    assert prompts[1] == "Tell a joke.\n\nExplain it."
    assert prompts[2] == '__import__("os").system("true")'


# logs


def test_litellm_has_attempts_and_no_matrix() -> None:
    found = read("litellm", "litellm.jsonl")
    assert found.matrix is None
    first, second, third = found.attempts
    assert (first.worker_id, first.served_model, first.response) == ("helper", "azure/helper-2024", "On its way.")
    assert (first.cost_usd, first.latency_s) == (0.0004, 2.5)
    assert (second.repetition, second.cost_usd, second.usage["prompt_tokens"]) == (1, None, None)
    assert (third.status, third.quality) == ("error", None)
    assert found.tasks[0].prompt == "Where is my parcel?"
    assert [turn["role"] for turn in found.tasks[1].messages or []] == ["system", "user"]
    assert any("mixture" in note for note in found.report.notes)


def test_litellm_takes_redirected_calls_apart_when_told() -> None:
    found = read("litellm", "litellm.jsonl", by_served=True)
    assert [a.worker_id for a in found.attempts] == ["azure/helper-2024", "local/helper-mini", "expert"]
    assert not any("mixture" in note for note in found.report.notes)


def test_langfuse_takes_a_traces_score_only_if_it_has_one_generation() -> None:
    found = read("langfuse", "langfuse")
    assert [(a.worker_id, a.quality) for a in found.attempts] == [("pine", 1.0), ("oak", 0.5), ("oak", None)]
    assert found.report.dropped["scores of traces with several generations"] == 1


def test_langfuse_asks_which_of_several_scores(tmp_path: Path) -> None:
    for file in (FIXTURES / "langfuse").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    with (tmp_path / "scores.jsonl").open("a") as out:
        out.write(json.dumps({"traceId": "tr1", "name": "polite", "value": 0.25, "dataType": "NUMERIC"}) + "\n")
    several = datasets.read("langfuse", tmp_path)
    assert several.matrix is None
    assert any("correct, polite" in note for note in several.report.notes)
    chosen = datasets.read("langfuse", tmp_path, datasets.ImportOptions(score="polite"))
    assert matrix_of(chosen).qualities.tolist() == [[0.25]]
    with pytest.raises(DataError, match="correct, polite"):
        datasets.read("langfuse", tmp_path, datasets.ImportOptions(score="kind"))


def test_otel_reads_old_and_new_names() -> None:
    found = read("otel", "otel.jsonl")
    new, old, failed = found.attempts
    assert (new.worker_id, new.served_model, new.response, new.latency_s) == ("m-small", "m-small-0613", "Yes.", 2.5)
    assert new.usage == {"prompt_tokens": 9, "completion_tokens": 2}
    assert (old.worker_id, old.response, old.latency_s, old.provider) == ("m-big", "Until five.", 2.0, "acme")
    assert (failed.status, failed.repetition) == ("error", 1)
    assert new.task_id == old.task_id  # the same question, whichever shape it is logged in

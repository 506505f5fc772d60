"""Every format on its fixture: what is in the cells, what stays missing, what is said about it; and back again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from fugu_lite import datasets
from fugu_lite.datasets.contract import Format
from fugu_lite.errors import DataError, SpecError, UnknownKindError
from fugu_lite.rewards import RewardMatrix, matrix_from_attempts
from fugu_lite.rewards import matrix as matrices
from fugu_lite.tasks import Task
from fugu_lite.workers import UtilitySpec

FIXTURES = Path(__file__).parent / "fixtures"
NAN = float("nan")


@dataclass(frozen=True)
class Case:
    """A fixture and what it holds, worked by hand.

    Attributes:
        workers: columns in order of first appearance.
        qualities: rows in order of first appearance, ungraded ones left out.
        averaged: cells with several grades.
        dropped: how many things are counted as not used.
    """

    kind: str
    path: str
    workers: tuple[str, ...]
    qualities: list[list[float]]
    averaged: int = 0
    dropped: int = 0


CASES = [
    Case("benchgen", "benchgen", ("quick", "deep"), [[0.5, 1.0], [0.0, 1.0]], averaged=1, dropped=4),
    Case("benchgen", "benchgen_means", ("x", "y"), [[0.25, NAN], [0.0, 1.0]]),
    Case("embedllm", "embedllm", ("bee", "ant"), [[1.0, NAN], [1.0, 0.5], [0.0, NAN]], averaged=1),
    Case("routerdc", "sums_train.json", ("org/alpha", "org/beta"), [[0.9, 0.0], [0.2, 1.0], [1.0, NAN]]),
    Case("avengerspro", "avengerspro.jsonl", ("p/one", "p/two"), [[1.0, 0.5], [NAN, 0.5]], averaged=1, dropped=1),
    Case("vllm_sr", "vllm_sr.jsonl", ("llama-s", "llama-l"), [[0.5, 1.0], [NAN, 0.5]], averaged=1),
    Case("graphrouter", "graphrouter.csv", ("mini", "maxi"), [[0.0, 1.0], [0.75, NAN]], dropped=8),
    Case("nvidia", "nvidia.json", ("eyes", "blind"), [[1.0, 0.0], [NAN, 1.0]], dropped=1),
    Case("nvidia", "nvidia_train.csv", ("eyes", "blind"), [[1.0, 0.5], [NAN, 1.0]], averaged=1, dropped=5),
    Case("llmrouter", "llmrouter", ("sparrow", "eagle"), [[0.5, 1.0], [0.0, NAN]], averaged=1, dropped=2),
    Case("llmrouterbench", "llmrouterbench", ("big-1", "lab/small-1"), [[1.0, NAN], [1.0, 0.5]], averaged=1, dropped=1),
    Case(
        "routellm",
        "routellm",
        ("strong-4", "weak-8x7b"),
        [[1.0, NAN], [1.0, 1.0], [1.0, 0.5]],
        averaged=2,
        dropped=1,
    ),
    Case("routerarena", "routerarena", ("fast", "slow"), [[1.0, NAN], [NAN, 0.0]], dropped=2),
    Case("routerarena", "routerarena_cached.jsonl", ("fast",), [[1.0]], dropped=1),
    Case("routerbench", "routerbench.csv", ("tiny/m", "big-m"), [[1.0, 1.0], [0.25, 0.75], [NAN, 0.0]], dropped=1),
    Case(
        "routerbench",
        "routerbench_2.pkl",
        ("tiny/model", "big-model"),
        [[1.0, 1.0], [0.25, 1.0], [NAN, 0.0]],
        dropped=1,
    ),
    Case("langfuse", "langfuse", ("pine", "oak"), [[1.0, 0.5]], dropped=3),
    Case("otel", "otel.jsonl", ("m-small",), [[0.75]], dropped=2),
]
NAMES = [f"{case.kind}:{case.path}" for case in CASES]


def imported(kind: str, path: str, **options: object) -> datasets.Imported:
    return datasets.read(kind, FIXTURES / path, datasets.ImportOptions.parse(options))


def graded(kind: str, path: str, **options: object) -> RewardMatrix:
    matrix = imported(kind, path, **options).matrix
    assert matrix is not None
    return matrix


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_the_cells(case: Case) -> None:
    found = imported(case.kind, case.path)
    assert found.matrix is not None
    assert found.matrix.worker_ids == case.workers
    np.testing.assert_allclose(found.matrix.qualities, case.qualities)
    assert found.report.averaged == case.averaged
    assert sum(found.report.dropped.values()) == case.dropped
    assert found.report.missing == int(np.isnan(case.qualities).sum())


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_attempts_say_the_same_as_the_matrix(case: Case) -> None:
    found = imported(case.kind, case.path)
    assert found.matrix is not None
    if len(found.attempts) == found.report.records:
        again = matrix_from_attempts(found.attempts, found.tasks, found.matrix.worker_ids, UtilitySpec())
        assert [task.task_id for task in again.tasks] == [task.task_id for task in found.matrix.tasks]
        np.testing.assert_allclose(again.qualities, found.matrix.qualities)
        np.testing.assert_allclose(again.costs, found.matrix.costs)


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_an_import_is_a_matrix_file(case: Case, tmp_path: Path) -> None:
    matrix = graded(case.kind, case.path)
    matrix.save(tmp_path / "m.jsonl")
    again = matrices.load(tmp_path / "m.jsonl")
    assert again.worker_ids == matrix.worker_ids
    np.testing.assert_array_equal(again.rewards, matrix.rewards)


def test_every_format_has_a_fixture_and_says_what_it_is() -> None:
    assert {case.kind for case in CASES} | {"litellm"} == set(datasets.registry.shipped())
    for name in datasets.registry.shipped():
        kind = datasets.registry.get(name)
        assert kind.kind == name
        assert kind.holds
        assert kind.traps
        assert (kind.not_written is None) == (kind.write is not Format.write)


# file or folder, what comes back: cost, latency, domain, split
WRITTEN = {
    "benchgen": ("out", {"costs", "latencies", "domain", "split"}),
    "routerbench": ("out.csv", {"costs", "domain", "split"}),
    "llmrouterbench": ("out", {"costs", "latencies", "domain", "split"}),
    "llmrouter": ("out.jsonl", {"costs", "latencies", "domain", "split"}),
    "embedllm": ("out.csv", {"domain"}),
    "routellm": ("out.csv", {"domain", "split"}),
    "avengerspro": ("out.jsonl", {"costs", "latencies", "domain", "split"}),
    "graphrouter": ("out.csv", {"domain", "split"}),
    "nvidia": ("out.json", {"domain", "split"}),
    "vllm_sr": ("out.jsonl", {"costs", "latencies", "domain", "split"}),
    "routerdc": ("out.json", {"domain", "split"}),
}


def example(missing: bool) -> RewardMatrix:
    """A matrix with prompts that are hard to write: a line break, quotes, commas, brackets, other scripts."""
    prompts = ["one\ntwo, 'three'", '["a", "b"] is a list', "Ölçü: 3 < π"]
    tasks = [
        Task(task_id=f"t/{i}", prompt=prompt, domain=domain, split=split)
        for i, (prompt, domain, split) in enumerate(zip(prompts, ("x", "y", "x"), ("train", "test", None), strict=True))
    ]
    quality = np.array([[1.0, 0.1 + 0.2], [0.0, 1 / 3], [0.5, 1.0]])
    costs, latencies = quality / 7 + 0.01, quality * 3 + 0.1
    costs[1, 0] = NAN
    if missing:
        quality[2, 0] = costs[2, 0] = latencies[2, 0] = NAN
    return RewardMatrix(tuple(tasks), ("b/two", "a:one"), quality.copy(), quality, costs, latencies)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("kind", sorted(WRITTEN))
def test_what_is_written_comes_back(kind: str, missing: bool, tmp_path: Path) -> None:
    name, kept = WRITTEN[kind]
    matrix = example(missing)
    datasets.named(kind).write(matrix, tmp_path / name)
    again = datasets.read(kind, tmp_path / name).matrix
    assert again is not None
    again = again.only(matrix.worker_ids)
    by_id = {task.task_id: i for i, task in enumerate(matrix.tasks)}
    if kind == "routerdc" and missing:
        assert by_id.pop("t/2") == 2
    assert {task.task_id for task in again.tasks} == set(by_id)
    order = [by_id[task.task_id] for task in again.tasks]
    np.testing.assert_array_equal(again.qualities, matrix.qualities[order])
    assert [task.prompt for task in again.tasks] == [matrix.tasks[i].prompt for i in order]
    for name in ("costs", "latencies"):
        there = getattr(matrix, name)[order] if name in kept else np.full((len(order), 2), NAN)
        np.testing.assert_array_equal(getattr(again, name), there)
    for name in ("domain", "split"):
        there = [getattr(matrix.tasks[i], name) if name in kept else None for i in order]
        assert [getattr(task, name) for task in again.tasks] == there


def test_every_format_is_written_or_says_why_not(tmp_path: Path) -> None:
    for kind in set(datasets.registry.shipped()) - WRITTEN.keys():
        with pytest.raises(SpecError, match="cannot be written"):
            datasets.named(kind).write(example(False), tmp_path / "out")


def test_what_a_format_cannot_hold_is_said(tmp_path: Path) -> None:
    notes = datasets.named("embedllm").write(example(True), tmp_path / "out.csv")
    assert any("costs, latencies, split" in note for note in notes)
    assert any("1 missing cells" in note for note in notes)
    notes = datasets.named("routerdc").write(example(True), tmp_path / "out.json")
    assert any("1 rows" in note and "position" in note for note in notes)


def test_rewards_stand_in_for_qualities_only_if_they_are_scores(tmp_path: Path) -> None:
    matrix = example(False)
    unknown = np.full((3, 2), NAN)
    bare = RewardMatrix(matrix.tasks, matrix.worker_ids, matrix.rewards, unknown, unknown, unknown)
    notes = datasets.named("vllm_sr").write(bare, tmp_path / "out.jsonl")
    assert any("no qualities" in note for note in notes)
    worse = RewardMatrix(matrix.tasks, matrix.worker_ids, matrix.rewards - 1, unknown, unknown, unknown)
    with pytest.raises(DataError, match="outside"):
        datasets.named("vllm_sr").write(worse, tmp_path / "out2.jsonl")


def test_names_are_forgiving_and_unknown_ones_are_not() -> None:
    assert datasets.named("vLLM-SR").kind == "vllm_sr"
    with pytest.raises(UnknownKindError, match="routerbench"):
        datasets.named("routebench")
    with pytest.raises(DataError, match="no such file"):
        datasets.read("nvidia", FIXTURES / "nowhere.json")


def test_a_file_of_another_format_is_refused(tmp_path: Path) -> None:
    for kind, path in (("routerdc", "nvidia.json"), ("vllm_sr", "avengerspro.jsonl"), ("embedllm", "graphrouter.csv")):
        with pytest.raises(DataError):
            datasets.read(kind, FIXTURES / path)
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(DataError, match="holds no vllm_sr record"):
        datasets.read("vllm_sr", tmp_path / "empty.jsonl")

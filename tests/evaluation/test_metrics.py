import math
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fugu_lite import tasks
from fugu_lite.errors import DataError, MismatchError
from fugu_lite.evaluation import baselines
from fugu_lite.evaluation.metrics import evaluate
from fugu_lite.evaluation.policy import Policy
from fugu_lite.evaluation.results import Evaluation
from fugu_lite.rewards import matrix as matrices
from fugu_lite.rewards.fixed import best_fixed
from fugu_lite.rewards.matrix import RewardMatrix

Build = Callable[..., RewardMatrix]
NAN = float("nan")


def routed(matrix: RewardMatrix, workers: str) -> Policy:
    scores = np.array([[float(name == worker) for name in matrix.worker_ids] for worker in workers])
    return Policy.greedy("router", matrix.worker_ids, scores)


def judged(matrix: RewardMatrix, workers: str, comparator: str | None, fit: RewardMatrix | None = None) -> Evaluation:
    return evaluate(routed(matrix, workers), matrix, comparator, np.random.default_rng(0), fit=fit, draws=200)


def test_the_worked_matrix(worked: RewardMatrix) -> None:
    found = judged(worked, "abba", "a")
    head = found.headline
    assert (head.router_utility, head.oracle_utility, head.best_fixed_utility) == (0.625, 0.875, 0.5)
    assert head.random_utility == pytest.approx(5 / 12)
    assert (head.regret, head.oracle_route_accuracy) == (0.25, 0.75)
    versus = found.comparison
    assert (versus.comparator, versus.comparator_utility, versus.gain) == ("a", 0.375, 0.25)
    assert (versus.headroom, versus.headroom_captured) == (0.5, 0.5)
    assert versus.verdict == "cannot tell"
    assert (versus.n_rows, versus.n_given, versus.dropped) == (4, 4, {})
    assert versus.mcnemar_p is None
    assert found.best_fixed == "c"
    assert any("too few" in warning for warning in found.warnings)


def test_worker_rows_of_the_worked_matrix(worked: RewardMatrix) -> None:
    a, b, c = judged(worked, "abba", "a").workers
    assert [row.routed for row in (a, b, c)] == [0.5, 0.5, 0.0]
    assert [row.oracle for row in (a, b, c)] == [0.5, 0.5, 0.5]
    assert [row.unique_wins for row in (a, b, c)] == [1, 0, 1]
    assert [row.reward for row in (a, b, c)] == [0.375, 0.375, 0.5]
    assert a.quality is None
    assert a.cost_usd == pytest.approx(0.01)
    assert c.cost_usd is None
    assert b.latency_p50_s == 3.0
    assert b.latency_p95_s == pytest.approx(5.7)


def test_totals_are_unknown_as_soon_as_one_row_is(worked: RewardMatrix) -> None:
    use = judged(worked, "abba", "a").usage
    assert use.cost_usd == pytest.approx(0.06)
    assert use.comparator_cost_usd == pytest.approx(0.04)
    assert (use.latency_s, use.comparator_latency_s, use.latency_p50_s) == (14.0, 6.0, 3.5)
    assert use.effective_workers == pytest.approx(2)
    assert use.share_entropy == pytest.approx(math.log(2))
    through_c = judged(worked, "abbc", "a").usage
    assert through_c.cost_usd is None
    assert through_c.comparator_cost_usd == pytest.approx(0.04)


def test_slices_and_small_slices_without_interval(worked: RewardMatrix) -> None:
    found = judged(worked, "abba", "a")
    code, math_ = found.domains
    assert (code.name, code.n, code.router, code.comparator, code.gain) == ("code", 2, 0.25, 0.25, 0.0)
    assert (math_.router, math_.comparator, math_.oracle, math_.gain_low) == (1.0, 0.5, 1.0, None)
    assert [row.name for row in found.difficulties] == ["(none)", "easy"]
    assert found.languages == ()
    assert found.worst_slice is None


def test_missing_cells_drop_rows_with_a_reason_and_never_count_as_zero(build: Build) -> None:
    matrix = build([[1, 0, 0], [0, NAN, 1], [NAN, 0.5, 0], [NAN, NAN, NAN], [NAN, NAN, 1]])
    found = judged(matrix, "abbab", "a")
    assert found.comparison.dropped == {
        "no worker was measured": 1,
        "the router's pick was not measured": 2,
        "the comparator was not measured": 1,
    }
    assert (found.comparison.n_rows, found.comparison.n_given) == (1, 5)
    assert found.headline.router_utility == 1.0
    assert [row.missing for row in found.workers] == [3, 3, 1]
    assert "4 of 5 rows could not be judged" in found.warnings


def test_nothing_to_judge_and_nothing_to_compare_with(build: Build) -> None:
    matrix = build([[NAN, 1.0]], "ab")
    with pytest.raises(DataError, match="none of 1 rows"):
        judged(matrix, "a", "b")
    with pytest.raises(DataError, match="name the comparator"):
        judged(matrix, "b", None)
    with pytest.raises(MismatchError, match="1 decisions for 4 rows"):
        evaluate(routed(matrix, "a"), matrix.rows([0, 0, 0, 0]), "a", np.random.default_rng(0))


def test_mcnemar_counts_rows_that_one_side_alone_got_right(build: Build) -> None:
    """b alone is right in six rows, a alone in one: p = 2 (1 + 7) / 128."""
    rewards = [[0, 1]] * 6 + [[1, 0]] + [[1, 1]] * 20
    found = judged(build(rewards, "ab"), "b" * 27, "a").comparison
    assert (found.router_only, found.comparator_only) == (6, 1)
    assert found.mcnemar_p == pytest.approx(0.125)
    grouped = build(rewards, "ab", [{"task_group": f"g{i // 2}"} for i in range(27)])
    clustered = judged(grouped, "b" * 27, "a").comparison
    assert (clustered.router_only, clustered.mcnemar_p, clustered.n_groups) == (6, None, 14)


def test_comparator_and_table_come_from_the_fitted_rows(build: Build) -> None:
    fields = [{"domain": "x"}] * 30 + [{"domain": "y"}] * 30
    fit = build([[1, 0]] * 30 + [[0, 0.5]] * 30, "ab", fields)
    test = build([[1, 0]] * 30 + [[0, 1]] * 30, "ba", fields)
    found = judged(test, "b" * 60, None, fit)
    assert found.comparison.comparator == "a"
    assert found.comparison.gain == 0.0
    assert found.table is not None
    assert (found.table.domain_table_utility, found.table.gain_over_domain_table) == (0.0, 0.5)
    assert found.table.domain_table_verdict == "better"


def test_verdicts_on_clear_rows(build: Build) -> None:
    matrix = build([[0, 1]] * 30 + [[1, 1]] * 30, "ab")
    assert judged(matrix, "b" * 60, "a").comparison.verdict == "better"
    assert judged(matrix, "a" * 60, "b").comparison.verdict == "worse"


def test_a_collapsed_router_is_called_by_its_worker(build: Build) -> None:
    found = judged(build([[0, 1]] * 100, "ab"), "b" * 99 + "a", "a")
    assert any("collapse" in warning and "'b'" in warning for warning in found.warnings)


def test_baselines_are_judged_on_the_same_rows(build: Build) -> None:
    matrix = build([[1, 0, NAN], [0, 1, 1], [NAN, 1, 1]])
    others = baselines.standard(matrix, None, "a")
    found = evaluate(routed(matrix, "abb"), matrix, "a", np.random.default_rng(0), others=others)
    rows = {row.name: row for row in found.baselines}
    assert (rows["always a"].n, rows["always a"].utility, rows["always a"].gain) == (2, 0.5, 0.0)
    assert (rows["always c"].n, rows["always c"].utility, rows["always c"].gain) == (1, 1.0, 1.0)
    assert rows["oracle"].utility == found.headline.oracle_utility == 1.0
    assert rows["random"].utility == pytest.approx(found.headline.random_utility)


def test_the_comparator_itself_gains_exactly_nothing(build: Build) -> None:
    rng = np.random.default_rng(3)
    matrix = build(rng.random((200, 3)))
    found = evaluate(baselines.fixed(matrix, "b"), matrix, "b", rng).comparison
    assert (found.gain, found.gain_low, found.gain_high, found.verdict) == (0.0, 0.0, 0.0, "cannot tell")


TENTHS = st.integers(0, 10).map(lambda value: value / 10)
CELLS = st.one_of(TENTHS, st.just(NAN))


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[list[float]], str]:
    """Rewards of three workers, some missing but never the comparator's or the pick's, and a route."""
    rows, route = [], ""
    for _ in range(draw(st.integers(1, 8))):
        pick = draw(st.sampled_from("abc"))
        rows.append([draw(TENTHS if name in {"a", pick} else CELLS) for name in "abc"])
        route += pick
    return rows, route


@settings(max_examples=60, deadline=None)
@given(problem=problems())
def test_bounds_hold(build: Build, problem: tuple[list[list[float]], str]) -> None:
    rows, route = problem
    matrix = build(rows)
    head, found = judged(matrix, route, "a").headline, judged(matrix, route, "a").comparison
    slack = 1e-9
    assert head.oracle_utility >= head.best_fixed_utility - slack
    assert head.best_fixed_utility >= found.comparator_utility - slack
    assert head.regret >= 0
    assert np.nanmin(matrix.rewards, axis=1).mean() - slack <= head.random_utility
    assert head.random_utility <= head.oracle_utility + slack
    assert found.gain == pytest.approx(head.router_utility - found.comparator_utility)
    if not np.isnan(matrix.rewards).any():
        assert head.best_fixed_utility >= head.random_utility - slack
        assert head.random_utility == pytest.approx(matrix.rewards.mean())


@settings(max_examples=40, deadline=None)
@given(problem=problems(), order=st.permutations("abc"))
def test_the_order_of_workers_changes_nothing(
    build: Build, problem: tuple[list[list[float]], str], order: list[str]
) -> None:
    matrix = build(problem[0])
    first, again = judged(matrix, problem[1], "a"), judged(matrix.only(order), problem[1], "a")
    assert asdict(again.headline) == pytest.approx(asdict(first.headline))
    assert again.best_fixed == first.best_fixed
    assert [row.worker for row in again.workers] == [row.worker for row in first.workers]
    assert again.comparison.gain_low == pytest.approx(first.comparison.gain_low)


def test_public_matrix_agrees_with_its_published_numbers(shared_data: Path) -> None:
    folder = shared_data / "llmrouter9"
    matrix = matrices.load(folder / "rewards.jsonl.gz", tasks.load(folder / "tasks.jsonl.gz"))
    fit, test = baselines.fit_rows(matrix), matrix.split("test")
    comparator = best_fixed(matrix.split("train"))
    table = baselines.domain_table(test, fit, comparator)
    found = evaluate(table, test, comparator, np.random.default_rng(0), fit=fit)
    assert found.comparison.n_rows == 1418
    assert found.comparison.comparator_utility == pytest.approx(0.6548, abs=5e-5)
    assert found.headline.oracle_utility == pytest.approx(0.8352, abs=5e-5)
    assert found.headline.random_utility == pytest.approx(0.4530, abs=5e-5)
    assert found.headline.router_utility == pytest.approx(0.7133, abs=5e-5)
    assert (found.comparison.gain_low, found.comparison.gain_high) == pytest.approx((0.040, 0.078), abs=0.003)
    assert found.comparison.verdict == "better"
    assert len(found.domains) == 13
    assert found.table is not None
    assert found.table.gain_over_domain_table == 0.0

"""Scores, slices, the comparison and the tables, on rows worked by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.benchmark.stubs import benchmark, pool, questions
from tests.rewards.stubs import entry

from fugu_lite.benchmark import tables
from fugu_lite.benchmark.rows import QuestionRow
from fugu_lite.benchmark.scores import compare, routing_of, score, slices

BLANK = QuestionRow(
    task_id="",
    question="?",
    difficulty=None,
    domain=None,
    language=None,
    group="",
    worker="a",
    probabilities={},
    reason="head",
    status="ok",
    answer=None,
    quality=None,
    correct=None,
    cost_usd=None,
    latency_s=None,
    route_s=None,
    truncated_input=False,
    error=None,
)


def rows(*qualities: float | None, other: tuple[float | None, ...] = ()) -> list[QuestionRow]:
    made = [replace(BLANK, task_id=f"t{i}", group=f"t{i}", quality=q) for i, q in enumerate(qualities)]
    return [replace(row, comparator_quality=q) for row, q in zip(made, other, strict=True)] if other else made


def test_the_guides_result_has_its_score_and_an_honest_interval() -> None:
    easy = [replace(row, difficulty="easy") for row in rows(*[1.0] * 39, *[0.0] * 11)]
    medium = [replace(row, difficulty="medium") for row in rows(*[1.0] * 11, *[0.0] * 2)]
    hard = [replace(row, difficulty="hard") for row in rows(1.0, *[0.0] * 6)]
    found = score("overall", [*hard, *easy, *medium])
    assert found.score == pytest.approx(51 / 70)
    assert found.low == pytest.approx(0.614, abs=1e-3)
    assert found.high == pytest.approx(0.819, abs=1e-3)
    parts = slices([*hard, *easy, *medium], "difficulty")
    assert [(part.name, part.correct, part.graded) for part in parts] == [
        ("easy", 39, 50),
        ("medium", 11, 13),
        ("hard", 1, 7),
    ]
    assert parts[2].high == pytest.approx(0.513, abs=1e-3)  # one of seven says little


def test_missing_is_not_wrong() -> None:
    found = score("x", rows(1.0, None, 0.0, None))
    assert (found.score, found.graded, found.questions, found.missing) == (0.5, 2, 4, 2)
    nothing = score("x", rows(None))
    assert (nothing.score, nothing.low, nothing.graded) == (None, None, 0)


def test_partial_grades_get_a_bootstrap() -> None:
    found = score("x", rows(0.5, 1.0, 0.25, 0.25))
    assert (found.score, found.interval) == (0.5, "bootstrap")
    assert found.low is not None
    assert found.high is not None
    assert 0.25 <= found.low < 0.5 < found.high <= 1.0


def test_unlabelled_questions_stand_beside_labelled_ones_only() -> None:
    assert slices(rows(1.0), "domain") == ()
    mixed = [replace(row, domain=name) for row, name in zip(rows(1.0, 0.0), ("art", None), strict=True)]
    assert [part.name for part in slices(mixed, "domain")] == ["(none)", "art"]


def test_shares_are_of_the_decided_questions() -> None:
    given = [replace(row, worker=name) for row, name in zip(rows(1, 0, None), ("a", "a", None), strict=True)]
    a, b = routing_of(given, ("a", "b"))
    assert (a.questions, a.share, a.score) == (2, 1.0, 0.5)
    assert (b.questions, b.share, b.score) == (0, 0.0, None)


def test_the_comparison_is_over_pairs() -> None:
    found = compare(rows(1, 1, 0, None, 1, other=(0, 1, 1, 1, None)), "b")
    assert (found.pairs, found.left_out) == (3, 2)
    assert found.router_score == found.comparator_score == pytest.approx(2 / 3)
    assert found.gain == 0
    assert (found.router_only, found.comparator_only, found.mcnemar_p) == (1, 1, 1.0)
    assert found.router_cost_usd is None
    partial = compare(rows(0.5, 1, other=(0.25, 1)), "b")
    assert (partial.gain, partial.mcnemar_p) == (0.125, None)
    nothing = compare(rows(None, other=(1,)), "b")
    assert (nothing.pairs, nothing.gain, nothing.mcnemar_p, nothing.verdict) == (0, None, None, "cannot tell")


@pytest.mark.anyio
async def test_the_tables_say_what_happened_and_escape_what_is_not_ours(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    workers = pool(entry("alpha", cost_usd=0.001), entry("beta", lie=True), entry("gamma", fail="server"))
    tasks = questions("alpha | <b>x</b> *1*", "beta 2", "gamma 3", "broken", difficulty="hard")
    result = await benchmark(workers, tasks, folder, compare="beta")
    sentence = tables.sentence(result)
    assert "score 50.0 % (1 of 2 graded questions" in sentence
    assert "4 questions, 2 missing" in sentence
    assert "0 empty" in sentence
    assert "1 no decision" in sentence
    assert "1 error" in sentence
    told = "\n".join(tables.remarks(result))
    assert "if they were, the score would be 25.0 %" in told
    assert "Failed calls: server 1" in told
    assert "--resume" in told
    page = (folder / "benchmark.md").read_text()
    assert "| alpha \\| &lt;b>x&lt;/b> \\*1\\* | hard | alpha |" in page
    assert "| gamma 3 | hard | gamma |" in page
    assert "(no decision)" in page
    assert len(tables.terminal(result)) == 5

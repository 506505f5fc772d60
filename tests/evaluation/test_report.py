from io import StringIO

import numpy as np
import orjson
from rich.console import Console

from fugu_lite.evaluation import baselines, evaluate, report
from fugu_lite.evaluation.results import Evaluation
from fugu_lite.rewards.matrix import RewardMatrix


def evaluation(matrix: RewardMatrix, looks: int | None = None) -> Evaluation:
    policy, rng = baselines.fixed(matrix, "c", "my router"), np.random.default_rng(0)
    others = baselines.standard(matrix, None, "a")
    return evaluate(policy, matrix, "a", rng, fit=matrix, others=others, looks=looks)


def test_json_starts_with_the_six_and_then_the_comparison(worked: RewardMatrix) -> None:
    found = report.to_json(evaluation(worked))
    assert list(found)[:12] == [
        "router_utility",
        "oracle_utility",
        "best_fixed_utility",
        "random_utility",
        "regret",
        "oracle_route_accuracy",
        "comparator",
        "comparator_utility",
        "gain",
        "gain_low",
        "gain_high",
        "verdict",
    ]
    assert (found["router_utility"], found["comparator_utility"], found["gain"]) == (0.5, 0.375, 0.125)


def test_json_is_plain_and_has_the_same_keys_without_a_table(worked: RewardMatrix) -> None:
    found = report.to_json(evaluation(worked))
    assert orjson.loads(orjson.dumps(found)) == found
    assert found["cost_usd"] is None
    assert found["workers"][0]["worker"] == "a"
    bare = evaluate(baselines.fixed(worked, "c"), worked, "a", np.random.default_rng(0))
    assert list(report.to_json(bare)) == list(found)
    assert report.to_json(bare)["domain_table_utility"] is None


def test_the_sentence_says_n_and_interval(worked: RewardMatrix) -> None:
    text = report.sentence(evaluation(worked))
    assert text.startswith("my router: cannot tell it from the comparator (a). Gain +0.1250, 95 % interval [")
    assert text.endswith("n = 4 rows in 4 groups.")


def test_looks_and_warnings_are_printed(worked: RewardMatrix) -> None:
    lines = report.remarks(evaluation(worked, looks=3))
    assert "This split has been looked at 3 times." in lines
    assert any(line.startswith("Warning: collapse: 100.0% of rows go to 'c'") for line in lines)
    assert any(line.startswith("Against the domain table (0.5000, label given): cannot tell") for line in lines)


def test_terminal_and_markdown_hold_the_same_cells(worked: RewardMatrix) -> None:
    found, out = evaluation(worked), StringIO()
    report.show(found, Console(file=out, width=200))
    text, markdown = out.getvalue(), report.to_markdown(found)
    for grid in report.grids(found):
        assert f"## {grid.title}" in markdown
        for row in grid.rows:
            assert all(cell in text for cell in row)
            assert "| " + " | ".join(row) + " |" in markdown
    assert "| oracle_utility | 0.8750 |" in markdown


def test_unknown_numbers_are_dashes() -> None:
    assert report.number(None) == "-"
    assert report.number(0.65479) == "0.6548"

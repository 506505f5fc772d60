"""Every source in its published shapes: what is read, how it is asked, what is left out and why."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from fugu_lite import jsonl
from fugu_lite.errors import DataError
from fugu_lite.taskpool import asking, build, registry
from fugu_lite.taskpool.contract import Item
from fugu_lite.tasks import Task
from tests.taskpool.conftest import ARC, GSM8K, MMLU, quality, rlpr_row, write_csv

HERE = PurePosixPath("x")


def rows_of(pool: Any) -> dict[str, Any]:
    return {row.kind: row for row in pool.sources}


def ask(kind: str, row: dict[str, Any], path: PurePosixPath = HERE) -> Any:
    source = registry.get(kind)()
    return source.draft(source.item(row, path))


def why_not(kind: str, row: dict[str, Any]) -> str:
    with pytest.raises(DataError) as error:
        ask(kind, row)
    return error.value.found


@pytest.mark.parametrize("kind", registry.shipped())
def test_every_source_is_read_in_its_published_shape(kind: str, published: Path) -> None:
    pool = build(published, quality, total=1000)
    row = rows_of(pool)[kind]
    assert row.status == "used", row
    assert row.kept > 0
    assert row.read == row.kept + sum(row.dropped.values())
    mine = [task for task in pool.tasks if task.task_id.startswith(f"{kind}/")]
    assert len(mine) == row.kept
    for task in mine:
        assert task.source is not None
        assert {"dataset", "license", "redistributable", "published_split"} <= task.source.keys()
        assert quality(task, "") == 0.0 if task.grader != {"type": "math"} else True


def test_the_table_says_what_became_of_every_row(published: Path) -> None:
    pool = build(published, quality, total=1000)
    rows = rows_of(pool)
    assert rows["gsm8k"].dropped == {"split train is not used beside test": 1}
    assert rows["mmlu_pro"].dropped == {"split validation is not used beside test": 1}
    assert rows["rlpr"].dropped == {"free-form answer: no grader can be trusted with it": 2}
    assert rows["rlpr"].kept == 3
    assert rows["aime2025_i"].kept == rows["aime2025_ii"].kept == 3
    assert len(pool.strangers) == 2  # ARC-Easy, and MMLU's auxiliary rows, which are other sets'
    assert all("of no known source" in line for line in pool.strangers)


def test_gsm8k() -> None:
    draft = ask("gsm8k", GSM8K[2])
    assert (draft.reference, draft.grader, draft.difficulty) == ("6", {"type": "numeric"}, "easy")
    assert "no '####'" in why_not("gsm8k", {"question": "?", "answer": "72"})


def test_mmlu_asks_for_the_letter_of_its_index() -> None:
    draft = ask("mmlu", MMLU[0])
    assert draft.reference == "B"
    assert "A. 0\nB. 1\nC. 2\nD. 3" in draft.prompt
    assert "same" in why_not("mmlu", {**MMLU[0], "choices": ["a", "A", "b", "c"]})
    assert "position" in why_not("mmlu", {**MMLU[0], "answer": 4})


def test_mmlu_csv_has_no_header_and_its_subject_in_its_name(tmp_path: Path) -> None:
    write_csv(tmp_path / "test" / "astronomy_test.csv", [["Which is a star?", "Sun", "Moon", "Mars", "Io", "A"]])
    (task,) = build(tmp_path, quality).tasks
    assert (task.task_id, task.reference_answer, task.tags) == ("mmlu/test/000000", "A", ["astronomy"])


def test_mmlu_pro_drops_padding_and_refuses_a_contradiction() -> None:
    row = {"question": "?", "options": ["x", "y", "N/A"], "answer": "B", "answer_index": 1, "category": "law"}
    assert ask("mmlu_pro", row).grader == {"type": "choice", "letters": "AB"}
    assert "disagree" in why_not("mmlu_pro", {**row, "answer": "A"})
    assert "disagree" in why_not("mmlu_pro", {**row, "answer": "C", "answer_index": 2})


def test_arc_in_both_shapes() -> None:
    nested = {
        "id": "1",
        "question": {"stem": "Which?", "choices": [{"text": "x", "label": "A"}, {"text": "y", "label": "B"}]},
        "answerKey": "B",
    }
    assert ask("arc_challenge", nested).reference == "B"
    assert ask("arc_challenge", ARC[0]).reference == "D"  # labelled 4
    assert "answerKey" in why_not("arc_challenge", {**ARC[0], "answerKey": "E"})


def test_math500_takes_its_difficulty_from_the_level() -> None:
    row = {"problem": "x?", "answer": "\\frac{1}{2}", "subject": "Algebra", "unique_id": "u"}
    told = [ask("math500", {**row, "level": level}).difficulty for level in (1, 2, 3, 4, 5, None)]
    assert told == ["easy", "easy", "medium", "hard", "hard", None]


def test_a_set_of_both_aime_examinations_is_told_apart_by_number(tmp_path: Path) -> None:
    rows = [{"problem_idx": n, "problem": f"Problem {n} of the year.", "answer": n} for n in range(1, 31)]
    jsonl.write(tmp_path / "aime_2025" / "train.jsonl", rows)
    rows_found = rows_of(build(tmp_path, quality))
    assert [rows_found[kind].kept for kind in ("aime2025_i", "aime2025_ii")] == [15, 15]


def test_aime_of_another_year_is_not_taken(tmp_path: Path) -> None:
    jsonl.write(tmp_path / "aime2024-I.jsonl", [{"question": "?", "answer": "7"}])
    with pytest.raises(DataError, match="no usable source"):
        build(tmp_path, quality)


@pytest.mark.parametrize("answer", ["2.74%", "-3", "$1,250.50", "3/4", "\\frac{3}{4}", "1e3", "$18$"])
def test_rlpr_numbers_can_be_checked(answer: str) -> None:
    assert ask("rlpr", rlpr_row("How much?", answer)).grader["type"] == "numeric"


@pytest.mark.parametrize("answer", ["Business", "12 meters", "True", "x^2 + 1", "between 3 and 4", "3, 4", "(1, 2)"])
def test_rlpr_free_answers_cannot(answer: str) -> None:
    assert "no grader can be trusted" in why_not("rlpr", rlpr_row("How much?", answer))


def test_rlpr_decimals_may_be_rounded_and_integers_may_not() -> None:
    rounded, whole = (ask("rlpr", rlpr_row("How much?", answer)) for answer in ("31.62", "1250"))
    task = Task(task_id="t", prompt="?", reference_answer="31.62", grader=rounded.grader)
    assert [quality(task, f"Answer: {told}") for told in ("31.6", "31.9", "32")] == [1.0, 1.0, 0.0]
    assert whole.grader == {"type": "numeric"}


def test_a_source_with_nothing_to_check_is_left_out_with_the_reason(tmp_path: Path) -> None:
    jsonl.write(tmp_path / "rlpr_train.jsonl", [rlpr_row(f"Why {n}?", "Because it is so.") for n in range(9)])
    jsonl.write(tmp_path / "gsm8k_test.jsonl", GSM8K)
    row = rows_of(build(tmp_path, quality))["rlpr"]
    assert (row.status, row.why) == ("left out", "no row has an answer that can be checked")
    assert row.dropped == {"free-form answer: no grader can be trusted with it": 9}


def test_a_grader_that_fails_on_reference_answers_costs_the_source(tmp_path: Path) -> None:
    jsonl.write(tmp_path / "gsm8k_test.jsonl", GSM8K)
    jsonl.write(tmp_path / "arc_challenge_test.jsonl", ARC)

    def broken(task: Task, response: str) -> float:
        return 1.0 if (task.grader or {})["type"] == "numeric" else quality(task, response)  # accepts anything

    rows = rows_of(build(tmp_path, broken))
    assert (rows["gsm8k"].status, rows["gsm8k"].why) == ("left out", "the grader failed on 5 of 5 reference answers")
    assert rows["arc_challenge"].kept == 4


def test_task_files_are_read_too(tmp_path: Path) -> None:
    ending = "\nPlease reason step by step, and put your final answer within \\boxed{}."
    task = {"domain": "math", "split": "test", "tags": ["", "level:"]}
    graded = {"grader": {"type": "exact", "normalise": "math"}}
    jsonl.write(
        tmp_path / "math500.jsonl.gz",
        [{"task_id": "math500/0", "prompt": f"What is $2x$?{ending}", "reference_answer": "2x", **task, **graded}],
    )
    pro = {"task_id": "mmlu_pro/9", "prompt": "Which?\nA. x\nB. y", "reference_answer": "B", "domain": "law"}
    jsonl.write(tmp_path / "pro.jsonl", [{**pro, "split": "train"}])
    jsonl.write(tmp_path / "exams.jsonl", [{**pro, "task_id": "exams/9"}])
    pool = build(tmp_path, quality)
    first, second = pool.tasks
    assert (first.task_id, first.grader) == ("math500/0", {"type": "math"})
    assert first.text == f"What is $2x$?\n\n{asking.MATH}"
    assert (second.task_id, second.reference_answer, second.tags) == ("mmlu_pro/9", "B", ["law"])
    assert pool.strangers == ["exams.jsonl: of no known source"]


def test_public_task_sets(shared_data: Path, tmp_path: Path) -> None:
    folder = shared_data / "tasksets"
    if not folder.is_dir():
        pytest.skip("the public task sets (../shared/data/tasksets) are not here")
    for name in ("gsm8k", "exams_tr"):
        (tmp_path / f"{name}.jsonl.gz").symlink_to(folder / f"{name}.jsonl.gz")
    pool = build(tmp_path, quality, per_source=100)
    row = rows_of(pool)["gsm8k"]
    assert (row.read, row.kept) == (8792, 100)
    assert row.dropped["split train is not used beside test"] == 7473
    assert pool.strangers == ["exams_tr.jsonl.gz: of no known source"]


def test_other_published_forms_of_json(tmp_path: Path) -> None:
    (tmp_path / "gsm8k_test.json").write_text(json.dumps({"rows": [{"row_idx": 0, "row": GSM8K[0]}]}))
    (tmp_path / "more.json").write_text("\n".join(json.dumps(row) for row in GSM8K[1:]))
    assert rows_of(build(tmp_path, quality))["gsm8k"].kept == 5


def test_a_file_that_was_not_fetched_is_named(tmp_path: Path) -> None:
    jsonl.write(tmp_path / "gsm8k_test.jsonl", GSM8K)
    (tmp_path / "test.parquet").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    (tmp_path / "broken.parquet").write_bytes(b"no parquet")
    told = build(tmp_path, quality).strangers
    assert "test.parquet: not read: is a Git LFS pointer, not the file" in told
    assert any(line.startswith("broken.parquet: not read: is not a parquet file") for line in told)


def test_links_are_followed_and_hidden_folders_are_not(tmp_path: Path) -> None:
    jsonl.write(tmp_path / "elsewhere" / "gsm8k_test.jsonl", GSM8K)
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "linked").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "round").symlink_to(tmp_path / "sources")
    jsonl.write(tmp_path / "sources" / ".cache" / "mmlu.jsonl", MMLU)
    rows = rows_of(build(tmp_path / "sources", quality))
    assert (rows["gsm8k"].read, rows["gsm8k"].kept, rows["mmlu"].status) == (5, 5, "missing")


def test_options_are_found_only_where_their_letters_run() -> None:
    assert asking.split_options("Which?\nA. x\nmore\nB) y") == ("Which?", ("x\nmore", "y"))
    assert asking.split_options("Which?\nA. x\nC. y") == ("Which?\nA. x\nC. y", ())
    assert asking.split_options("No options") == ("No options", ())


def test_a_letter_must_be_on_offer() -> None:
    with pytest.raises(DataError, match="not the letter"):
        asking.choice(Item("?", "C", ("x", "y")))
    with pytest.raises(DataError, match="1 options"):
        asking.choice(Item("?", "A", ("x",)))

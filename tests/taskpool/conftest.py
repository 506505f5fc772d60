"""Small hand-written copies of every source, in the shapes in which they are published."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from fugu_lite import graders, jsonl
from fugu_lite.tasks import Task


def quality(task: Task, response: str) -> float:
    """Grade a response offline."""
    return graders.build(task.grader).grade(response, task).quality


def rlpr_row(question: str, answer: str, difficulty: str = "University") -> dict[str, Any]:
    """One row of RLPR."""
    return {
        "data_source": "WebInstruct-verified",
        "prompt": [{"role": "system", "content": "Think first."}, {"role": "user", "content": question}],
        "ability": "Business",
        "reward_model": {"ground_truth": answer, "style": "rule"},
        "extra_info": {"difficulty": difficulty},
    }


MATH500 = [
    {
        "problem": f"Simplify the fraction $\\frac{{{2 * n}}}{{{6 * n}}}$ as far as you can.",
        "solution": "...",
        "answer": "\\frac{1}{3}",
        "subject": "Prealgebra",
        "level": n,
        "unique_id": f"test/prealgebra/{n}.json",
    }
    for n in range(1, 6)
]
GSM8K = [{"question": f"Ann has {n} eggs and buys 4. How many?", "answer": f"...\n#### {n + 4}"} for n in range(5)]
MMLU_PRO = [
    {
        "question_id": 70 + n,
        "question": f"Which number is the number {n} in words of the English language?",
        "options": ["ten", "eleven", "twelve", "thirteen", f"number {n}", "N/A"],
        "answer": "E",
        "answer_index": 4,
        "cot_content": "",
        "category": ("math", "other")[n % 2],
        "src": "x",
    }
    for n in range(4)
]
MMLU = [
    {"question": f"What is {n} + 1?", "subject": "arithmetic", "choices": [str(n + k) for k in range(4)], "answer": 1}
    for n in range(6)
]
ARC = [
    {
        "id": f"Mercury_{n}",
        "question": f"Which tool measures the thing called {n}?",
        "choices": {"text": ["ruler", "scale", "clock", f"meter {n}"], "label": ["1", "2", "3", "4"]},
        "answerKey": "4",
    }
    for n in range(4)
]
AIME = [{"question": f"Find the sum of all bases {n} with a property.", "answer": str(n * 7)} for n in range(1, 4)]
RLPR = [
    rlpr_row("What is the yearly return in percent?", "2.74%"),
    rlpr_row("How many shares were sold in the second year?", "1,250", "Primary School"),
    rlpr_row("Which is right?\nA. a bond\nB. a share", "B"),
    rlpr_row("What kind of subject is this course about?", "Business"),
    rlpr_row("How long is the bridge in the drawing?", "12 meters"),
]


def write_published(folder: Path) -> None:
    """Write all eight sources, each in one of its published shapes."""
    parquet = pytest.importorskip("pyarrow.parquet")
    pyarrow = pytest.importorskip("pyarrow")
    jsonl.write(folder / "MATH-500" / "test.jsonl", MATH500)
    jsonl.write(folder / "AIME2025" / "aime2025-I.jsonl", AIME)
    second = [{"problem_idx": n, "problem": f"Second {row['question']}", "answer": n} for n, row in enumerate(AIME, 1)]
    (folder / "aime_2025_II.json").write_text(json.dumps(second))
    for name, rows in {
        "gsm8k/main/test-00000-of-00001.parquet": GSM8K,
        "gsm8k/main/train-00000-of-00001.parquet": [{"question": "Old?", "answer": "#### 1"}],
        "MMLU-Pro/data/test-00000-of-00001.parquet": MMLU_PRO,
        "MMLU-Pro/data/validation-00000-of-00001.parquet": MMLU_PRO[:1],
        "ai2_arc/ARC-Challenge/test-00000-of-00001.parquet": ARC,
        "ai2_arc/ARC-Easy/test-00000-of-00001.parquet": ARC,
        "mmlu/all/test-00000-of-00001.parquet": MMLU,
        "mmlu/all/auxiliary_train-00000-of-00001.parquet": MMLU,
        "RLPR-Train-Dataset/rlpr_train.parquet": RLPR,
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(pyarrow.Table.from_pylist(rows), folder / name)


def write_csv(path: Path, rows: list[list[str]]) -> None:
    """Write a CSV without a header."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """A folder with all eight sources."""
    write_published(tmp_path / "sources")
    return tmp_path / "sources"

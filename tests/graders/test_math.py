"""math: equal values in different clothes; a runaway comparison is killed, not scored."""

import asyncio
import os
import signal
from typing import Any

import pytest

from fugu_lite.errors import GradingError
from fugu_lite.graders import Grade, GradingServices, build
from fugu_lite.graders import math as math_grader
from fugu_lite.tasks import Task


def grade(reference: Any, response: str, **options: Any) -> Grade:
    task = Task(task_id="t", prompt="?", reference_answer=reference)
    return build({"type": "math", **options}).grade(response, task)


@pytest.mark.parametrize(
    ("reference", "response", "quality"),
    [
        ("1/2", r"The answer is $\boxed{\frac{1}{2}}$", 1),
        (r"\frac{1}{2}", "Answer: 0.5", 1),
        (r"\sqrt{8}", r"\boxed{2\sqrt{2}}", 1),
        ("x^2 + 2x + 1", r"<answer>(x+1)^2</answer>", 1),
        (r"\{1, 2\}", r"\boxed{\{2, 1\}}", 1),
        ("(1, 2)", r"\boxed{(2, 1)}", 0),
        ("42", "so it is 42.", 1),
        ("1,234", r"\boxed{1234}", 1),
        ("18", r"\boxed{1.8}", 0),
        (r"\pi", r"\boxed{3.1}", 0),
        ("$5$", "$5$", 1),
    ],
)
def test_equality(reference: str, response: str, quality: int) -> None:
    judged = grade(reference, response)
    assert judged.quality == quality, judged


def test_a_response_that_is_no_mathematics_is_wrong_with_a_reason() -> None:
    judged = grade("1/2", "Answer: \\\\\\{")
    assert judged.quality == 0
    assert "mathematics" in judged.reason or "differs" in judged.reason


def test_a_reference_that_is_no_mathematics_is_no_zero() -> None:
    with pytest.raises(GradingError, match="reference"):
        grade("", r"\boxed{1}")


@pytest.mark.anyio
async def test_it_works_in_threads() -> None:
    task = Task(task_id="t", prompt="?", reference_answer="1/2")
    grader = build({"type": "math"})
    judged = await asyncio.gather(*(asyncio.to_thread(grader.grade, f"0.{n}", task) for n in range(8)))
    assert [one.quality for one in judged] == [0, 0, 0, 0, 0, 1, 0, 0]
    assert (await grader.grade_with("0.5", task, GradingServices())).quality == 1


def test_a_runaway_is_killed_and_the_next_one_is_graded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert grade("1", r"\boxed{1}").quality == 1
    process = math_grader._child._process
    assert process is not None
    os.kill(process.pid, signal.SIGSTOP)  # as good as a comparison without end
    monkeypatch.setattr(math_grader, "TIMEOUT_S", 0.2)
    with pytest.raises(GradingError, match="took over"):
        grade("1", r"\boxed{1}")
    assert process.poll() == -signal.SIGKILL
    monkeypatch.undo()
    assert grade("1", r"\boxed{1}").quality == 1

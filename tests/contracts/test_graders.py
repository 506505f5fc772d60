"""What every grader keeps to, whatever its kind."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fugu_lite.errors import FuguLiteError, GradingError, SpecError
from fugu_lite.graders import Grade, GradingServices, build, registry
from fugu_lite.tasks import Task

# kind -> (options, reference answer, a right response, a wrong one)
EXAMPLES: dict[str, tuple[dict[str, Any], Any, str, str]] = {
    "exact": ({}, "Paris", "Paris.", "Rome"),
    "contains": ({}, "Paris", "It is Paris, I think", "It is Rome"),
    "numeric": ({}, "42", "It is 42.", "It is 43."),
    "regex": ({"pattern": r"\bParis\b"}, None, "Paris it is", "Parisian"),
    "choice": ({}, "B", "(B)", "(C)"),
    "math": ({}, r"\frac{1}{2}", r"\boxed{0.5}", r"\boxed{0.4}"),
    "json_schema": ({"schema": {"type": "object"}}, None, '{"a": 1}', "[1]"),
}
NEED_SERVICES = {"code", "llm_judge"}
CHEAP = sorted(EXAMPLES.keys() - {"math"})


def task_for(kind: str) -> Task:
    options, reference, _, _ = EXAMPLES[kind]
    return Task(task_id="t", prompt="?", reference_answer=reference, grader={"type": kind, **options})


async def grade(kind: str, response: str) -> Grade:
    task = task_for(kind)
    grader = build(task.grader)
    grader.check(task)
    return await grader.grade_with(response, task, GradingServices())


def test_every_kind_has_an_example() -> None:
    assert set(registry.shipped()) == EXAMPLES.keys() | NEED_SERVICES


@pytest.mark.parametrize("kind", registry.shipped())
def test_a_kind_is_its_file(kind: str) -> None:
    grader = registry.get(kind)
    assert (grader.kind, grader.__module__) == (kind, f"fugu_lite.graders.{kind}")
    assert grader.version >= 1


@pytest.mark.anyio
@pytest.mark.parametrize("kind", sorted(EXAMPLES))
async def test_right_and_wrong(kind: str) -> None:
    _, _, right, wrong = EXAMPLES[kind]
    assert (await grade(kind, right)).quality == 1.0
    assert (await grade(kind, wrong)).quality == 0.0


@pytest.mark.anyio
@pytest.mark.parametrize("kind", registry.shipped())
@pytest.mark.parametrize("response", ["", " \n\t", "\u00a0", "<think>Paris 42 B 1/2 {}</think>", "<think>42"])
async def test_an_empty_response_is_never_correct(kind: str, response: str) -> None:
    options = {"tests": "assert True"} if kind == "code" else EXAMPLES.get(kind, ({},))[0]
    task = Task(task_id="t", prompt="?", reference_answer=EXAMPLES.get(kind, ({}, "x"))[1])
    grader = build({"type": kind, **options})
    assert (await grader.grade_with(response, task, GradingServices(allow_code=True))).quality == 0.0


@pytest.mark.anyio
@pytest.mark.parametrize("kind", sorted(EXAMPLES))
async def test_the_reason_and_the_range(kind: str) -> None:
    for response in EXAMPLES[kind][2:]:
        judged = await grade(kind, response)
        assert judged.reason
        assert 0.0 <= judged.quality <= 1.0
        assert judged.judge is None


@pytest.mark.parametrize("kind", CHEAP)
@given(text=st.text(max_size=200) | st.text(alphabet="AB(). 01,-/^*_<>\\{}$answer:boxed\n", max_size=200))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_text_gets_a_grade(kind: str, text: str) -> None:
    task = task_for(kind)
    judged = build(task.grader).grade(text, task)
    assert judged.quality in (0.0, 1.0)


@pytest.mark.parametrize("kind", ["exact", "contains", "numeric", "choice", "math"])
def test_a_missing_reference_is_no_zero(kind: str) -> None:
    task = Task(task_id="t", prompt="?")
    with pytest.raises(GradingError, match="'t'"):
        build({"type": kind}).check(task)


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(SpecError, match="tolerance"):
        build({"type": "numeric", "tolerence": 1})


def test_an_unknown_kind_names_the_nearest() -> None:
    with pytest.raises(FuguLiteError, match="numeric"):
        build({"type": "numerik"})


def test_no_grader_is_no_zero() -> None:
    with pytest.raises(GradingError, match="no grader"):
        build(None)

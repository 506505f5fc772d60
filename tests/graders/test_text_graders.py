"""exact, contains, numeric, regex and choice: options, aliases and refusals."""

import threading
import time
from typing import Any, ClassVar

import pytest

from fugu_lite.errors import GradingError, SpecError
from fugu_lite.graders import Grade, Grader, GradingServices, build, registry
from fugu_lite.tasks import Task


def grade(kind: str, reference: Any, response: str, **options: Any) -> Grade:
    task = Task(task_id="t", prompt="?", reference_answer=reference)
    return build({"type": kind, **options}).grade(response, task)


@pytest.mark.parametrize(
    ("response", "quality"),
    [
        ("Paris", 1),
        ("  paris.\n", 1),
        ("**Paris**", 1),
        ('"Paris"', 1),
        ("“Paris”.", 1),
        ("Answer: Paris", 1),
        ("I think so.\nThe answer is Paris.", 1),
        (r"\boxed{Paris}", 1),
        ("<answer>PARIS</answer>", 1),
        ("Paris, France", 0),
        ("It is Paris", 0),
        ("<answer>Rome</answer> Paris", 0),
        ("Ｐaris", 1),
    ],
)
def test_exact(response: str, quality: int) -> None:
    assert grade("exact", "Paris", response).quality == quality


def test_exact_keeps_inner_words_and_collapses_space() -> None:
    assert grade("exact", "New  York", "new\nyork").quality == 1
    assert grade("exact", "New York", "NewYork").quality == 0


def test_exact_case_sensitive_and_aliases() -> None:
    assert grade("exact", "Pa", "pa", case_sensitive=True).quality == 0
    assert grade("exact", "Paris", "Lutetia", aliases=["Lutetia"]).quality == 1


def test_exact_of_punctuation_only() -> None:
    assert grade("exact", "!", "!").quality == 1
    assert grade("exact", "!", "?").quality == 0


@pytest.mark.parametrize("written", ["İstanbul", "istanbul", "Istanbul", "İSTANBUL", "ISTANBUL", "ıstanbul"])
def test_contains_takes_every_turkish_i(written: str) -> None:
    for reference in ("İstanbul", "istanbul", "Istanbul"):
        assert grade("contains", reference, f"Bence {written}'dur.").quality == 1


@pytest.mark.parametrize(
    ("reference", "response", "quality"),
    [
        ("ACCEPT", "ACCEPTABLE", 0),
        ("ACCEPT", "I accept.", 1),
        ("5", "It is 5.", 1),
        ("5", "It is 3.5", 0),
        ("5", "It is 5,000", 0),
        ("5", "It is 15", 0),
        ("C++", "Use C++ here", 1),
        ("New York", "new\nyork", 1),
        ("cat", "concatenate", 0),
    ],
)
def test_contains_is_bounded_by_words(reference: str, response: str, quality: int) -> None:
    assert grade("contains", reference, response).quality == quality


def test_contains_all_any_and_aliases() -> None:
    assert grade("contains", ["red", "blue"], "red only").quality == 0
    assert grade("contains", ["red", "blue"], "blue and red").quality == 1
    assert grade("contains", ["red", "blue"], "red only", any=True).quality == 1
    assert grade("contains", ["red", "blue"], "purple", aliases=["purple"]).quality == 1


@pytest.mark.parametrize("reference", ["", "  ", [], ["a", ""]])
def test_contains_refuses_an_empty_reference(reference: Any) -> None:
    with pytest.raises(GradingError, match="not empty"):
        grade("contains", reference, "anything")


def test_numeric_tolerance() -> None:
    assert grade("numeric", "3.14", "3.15").quality == 0
    assert grade("numeric", "3.14", "3.15", tolerance=0.0100001).quality == 1
    assert grade("numeric", 200, "201", tolerance=0.01, relative=True).quality == 1
    assert grade("numeric", 200, "203", tolerance=0.01, relative=True).quality == 0
    assert grade("numeric", "1/3", "2/6").quality == 1
    assert grade("numeric", "1/3", "0.333").quality == 0


def test_numeric_references_of_every_type() -> None:
    assert grade("numeric", 18, "18.00").quality == 1
    assert grade("numeric", 0.1, "0.10").quality == 1
    assert grade("numeric", "1,234", "1234").quality == 1
    assert grade("numeric", 7, "seven, 8", aliases=[8]).quality == 1


@pytest.mark.parametrize("reference", ["abc", True, [1], "", "5 or 7"])
def test_numeric_refuses_a_reference_that_is_no_number(reference: Any) -> None:
    with pytest.raises(GradingError, match="number"):
        grade("numeric", reference, "1")


def test_numeric_shows_what_it_read() -> None:
    judged = grade("numeric", 18, "The answer is 1.8")
    assert (judged.quality, judged.extracted) == (0, "1.8")
    assert "labelled" in judged.reason


def test_choice_tells_why() -> None:
    assert "ambiguous: A, B" in grade("choice", "B", "A or B").reason
    assert grade("choice", "(b)", "B").quality == 1
    assert grade("choice", "E", "E", letters="ABCDE").quality == 1


@pytest.mark.parametrize("reference", ["E", "AB", "", 3])
def test_choice_refuses_a_reference_outside_its_letters(reference: Any) -> None:
    with pytest.raises(GradingError, match="ABCD"):
        grade("choice", reference, "A")


def test_regex_needs_no_reference_and_shows_the_match() -> None:
    judged = grade("regex", None, "say ABC", pattern="b.", flags="i")
    assert (judged.quality, judged.extracted) == (1, "BC")
    assert grade("regex", None, "say ABC", pattern="b.").quality == 0


def test_regex_refuses_a_bad_pattern() -> None:
    with pytest.raises(GradingError, match="bad pattern"):
        grade("regex", None, "x", pattern="(")
    with pytest.raises(SpecError, match="pattern"):
        build({"type": "regex", "pattern": "a" * 2000})


def test_regex_that_explodes_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fugu_lite.graders.regex.TIMEOUT_S", 0.5)
    begin = time.monotonic()
    with pytest.raises(GradingError, match="ran over"):
        grade("regex", None, "a" * 40 + "!", pattern="^(a+)+$")
    assert time.monotonic() - begin < 5


def test_regex_in_the_child_finds_the_same() -> None:
    judged = grade("regex", None, "x" * 5000 + "\nThe answer is  é7", pattern=r"answer.*is\s+(\w)+$")
    assert (judged.quality, judged.extracted) == (1, "answer is  é7")


def test_regex_refuses_an_endless_response() -> None:
    with pytest.raises(GradingError, match="characters"):
        grade("regex", None, "a" * 200_001, pattern="b")


@pytest.mark.anyio
@pytest.mark.parametrize("slow", [True, False])
async def test_only_slow_graders_leave_the_event_loops_thread(slow: bool) -> None:
    class Where(Grader):
        kind: ClassVar[str] = "where"
        slow: ClassVar[bool] = False

        def grade(self, response: str, task: Task) -> Grade:
            return Grade(1.0, threading.current_thread().name, "")

    Where.slow = slow
    judged = await Where().grade_with("x", Task(task_id="t", prompt="?"), GradingServices())
    assert (judged.extracted != threading.current_thread().name) is slow


def test_graders_that_wait_for_a_process_are_slow() -> None:
    assert {name for name in registry.names() if registry.get(name, "here").slow} == {"math", "regex"}

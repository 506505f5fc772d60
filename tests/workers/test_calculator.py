"""The calculator: what it reads as arithmetic, exactly, and what it declines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fugu_lite.chat import Json
from fugu_lite.workers.calculator import ARITHMETIC_ONLY, calculator, evaluate

TABLE = [
    ("What is 17 * 23?", "391"),
    ("Work out 16 - 1. Reply with just the number.", "15"),
    ("5 + 6 + 3 = ? Finish the sum.", "14"),
    ("Evaluate 5 + 3 * 4. Multiplication goes first.", "17"),
    ("Calculate (4 + 30) * 3 and write the value alone.", "102"),
    ("10 - 3 - 2", "5"),
    ("2 * (3 + (4 - 1))", "12"),
    ("3x4", "12"),
    ("3 x 4", "12"),
    ("6 × 7", "42"),
    ("84 ÷ 7", "12"),
    ("84/7", "12"),
    ("7 / 2", "3.5"),
    ("1 / 3", "0.333333"),
    ("2 / 3", "0.666667"),
    ("-1 / 8", "-0.125"),
    ("17 % 5", "2"),
    ("17 mod 5", "2"),
    ("15% of 80", "12"),
    ("12 % of 50", "6"),
    ("7 // 2", "3"),
    ("2 ** 10", "1024"),
    ("2^10", "1024"),
    ("2 to the power of 5", "32"),
    ("12 squared", "144"),
    ("26 squared minus 9 squared", "595"),
    ("3 cubed plus 1", "28"),
    ("19 times 12", "228"),
    ("363 multiplied by 54 equals what?", "19602"),
    ("What is 144 divided by 12?", "12"),
    ("9 plus 5 minus 4", "10"),
    ("12 artı 30 kaç eder?", "42"),
    ("50 eksi 8 kaç?", "42"),
    ("9 çarpı 8 kaçtır?", "72"),
    ("81 bölü 9 kaçtır?", "9"),
    ("1,000 + 2", "1002"),
    ("1,234,567 * 2", "2469134"),
    ("3,5 + 2", "5.5"),
    ("0.1 + 0.2", "0.3"),
    ("007 + 1", "8"),
    ("-5 * -3", "15"),
    ("print((3 + 4) * 2)", "14"),
    ("A) what is 3 + 4", "7"),
    ("8 \u2212 3", "5"),
    ("99999999999 * 99999999999", "9999999999800000000001"),
]

DECLINED = [
    "",
    "What is the capital of France?",
    "Which number comes next: 7, 11, 15, 19?",
    "Ella has 3 apples and buys 4.",
    "12",
    "Solve 2x - 3 = 7.",
    "a = 6\nb = 3\nprint(a * b)",
    "3 +",
    "2 ** 100000",
    "9 ** 9 ** 9",
    "9" * 100 + " * 3",
    "(" * 300 + "1 + 1" + ")" * 300,
]


def asked(text: str) -> str:
    return calculator([{"role": "user", "content": text}])


@pytest.mark.parametrize(("text", "expected"), TABLE)
def test_reads_and_answers(text: str, expected: str) -> None:
    assert asked(text) == f"Answer: {expected}"


@pytest.mark.parametrize("text", DECLINED)
def test_declines_what_it_cannot_read(text: str) -> None:
    assert asked(text) == ARITHMETIC_ONLY


def test_division_by_zero_is_said_and_not_guessed() -> None:
    assert "zero" in asked("What is 4 / 0?")
    assert "zero" in asked("What is 4 % (2 - 2)?")


def test_answers_the_last_user_message_only() -> None:
    turns: list[Json] = [
        {"role": "user", "content": "1 + 1"},
        {"role": "assistant", "content": "5 + 5"},
        {"role": "user", "content": [{"type": "text", "text": "2 + 2"}]},
        {"role": "system", "content": "9 + 9"},
    ]
    assert calculator(turns) == "Answer: 4"


@pytest.mark.parametrize("text", ["__import__('os')", "a + 1", "1 if 1 else 2", "'a' * 3", "1j * 2", "True + 1", "~3"])
def test_evaluates_nothing_but_arithmetic(text: str) -> None:
    with pytest.raises(ValueError, match="not arithmetic"):
        evaluate(text)


whole = st.integers(min_value=0, max_value=10**9)
operators = st.sampled_from(["+", "-", "*"])


@given(first=whole, rest=st.lists(st.tuples(operators, whole), min_size=1, max_size=6))
def test_agrees_with_python_on_whole_numbers(first: int, rest: list[tuple[str, int]]) -> None:
    expression = f"{first}" + "".join(f" {operator} {number}" for operator, number in rest)
    assert asked(f"What is {expression}?") == f"Answer: {eval(expression)}"


@given(a=whole, b=st.integers(min_value=1, max_value=10**6))
def test_quotient_and_remainder_rebuild_the_number(a: int, b: int) -> None:
    quotient = int(asked(f"{a} // {b}").removeprefix("Answer: "))
    remainder = int(asked(f"{a} % {b}").removeprefix("Answer: "))
    assert quotient * b + remainder == a


@given(st.text(max_size=200))
def test_any_text_gets_an_answer(text: str) -> None:
    assert asked(text).strip()

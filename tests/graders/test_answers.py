"""Properties of extraction: however a number is written, it is the same number; nothing makes it slow."""

import time
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fugu_lite.graders._answers import boxed, extract, fold, labelled, tagged, trim, visible
from fugu_lite.graders.numeric import read_number

WRAPPERS = [
    "{}",
    "It is {}.",
    "**{}**",
    "${}$",
    r"\boxed{{{}}}",
    r"$\boxed{{\text{{{}}}}}$",
    "<answer>{}</answer>",
    "Answer: {}",
    "**Answer:** {}",
    "The final answer is {}.",
    "Cevap: {}",
    "First 7, then 8.\nAnswer: {}\n",
    "x = {}",
    "`{}`",
    "{} apples",
    "{} %",
]


def writings(value: int, decimals: int) -> list[str]:
    number = value / 10**decimals
    plain = f"{number:.{decimals}f}"
    return [plain, f"{number:,.{decimals}f}", plain.replace("-", "\u2212"), f"{number:.{decimals + 1}f}"]


@given(
    value=st.integers(-(10**9), 10**9), decimals=st.integers(0, 4), wrapper=st.sampled_from(WRAPPERS), data=st.data()
)
@settings(max_examples=400, deadline=None)
def test_a_number_is_the_same_however_it_is_written(
    value: int, decimals: int, wrapper: str, data: st.DataObject
) -> None:
    text = wrapper.format(data.draw(st.sampled_from(writings(value, decimals))))
    number, how = read_number(text)
    assert number is not None, how
    assert number.value == Fraction(value, 10**decimals)


@given(st.text(max_size=300))
def test_extraction_takes_any_text(text: str) -> None:
    found = extract(text)
    assert found is None or found.text.strip()
    for step in (tagged, boxed, labelled):
        answer = step(text)
        assert answer is None or answer.strip()


@given(st.text(max_size=80))
def test_trim_and_fold_settle(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert bool(trim(text)) == bool(text.strip())


@pytest.mark.parametrize(
    "text",
    [
        "<answer>",
        "</answer>",
        "\\boxed{",
        "{",
        "}",
        "answer: ",
        "answer to ",
        "1,",
        "1.",
        "12",
        "**",
        "a-",
        "1/",
        "(",
        "\\frac{",
        "A or ",
        "<",
        "`",
        "9^",
        "mart ",
        "1:",
        "_ ",
    ],
)
def test_hostile_repetition_is_read_in_reasonable_time(text: str) -> None:
    begin = time.process_time()
    extract(text * (60_000 // len(text)))
    assert time.process_time() - begin < 4


def test_thinking_is_not_an_answer() -> None:
    assert visible("<think>a</think>b") == "b"
    assert visible("a<think>b") == "a"
    assert visible("b</think>c") == "c"
    assert visible("plain") == "plain"

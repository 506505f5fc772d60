"""Requests and completions are thin wrappers around the raw JSON."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fugu_lite.chat import ChatRequest, Completer, Completion, Usage, completion_body, content_text
from fugu_lite.workers import Price, WorkerSpec
from tests.rewards.stubs import StubWorker


def test_unknown_fields_survive() -> None:
    body = {"messages": [{"role": "user", "content": "hi", "x": 1}], "tools": [{"deep": {"er": [1]}}], "odd": None}
    request = ChatRequest(body)
    assert request.replaced(seed=3).body == {**body, "seed": 3}
    assert request.body == body


counts = st.one_of(st.none(), st.text(), st.integers(), st.booleans(), st.floats())


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ("plain", "plain"),
        ([{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {}}, "b"], "a\nb"),
        ([{"type": "text", "text": None}, 5], ""),
        ([], ""),
        (7, "7"),
    ],
)
def test_content_flattens_to_text(content: Any, text: str) -> None:
    assert content_text(content) == text


def test_the_last_user_turn() -> None:
    turns = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}, {"role": "tool"}]
    assert ChatRequest.of(turns).last_user_text() == "one"
    assert ChatRequest.of([]).last_user_text() == ""
    assert ChatRequest.of("hi", stream=True).stream is True


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"choices": None},
        {"choices": []},
        {"choices": [None]},
        {"choices": [{"message": None}]},
        {"choices": [{"message": {"content": None, "tool_calls": []}}], "usage": []},
        {"error": {"message": "no"}, "model": 5},
    ],
)
def test_a_malformed_body_never_crashes(body: dict[str, Any]) -> None:
    completion = Completion(body)
    assert (completion.text, completion.served_model, completion.usage) == ("", None, Usage())


def test_a_whole_answer_is_read() -> None:
    usage = {
        "prompt_tokens": 9,
        "completion_tokens": 5,
        "completion_tokens_details": {"reasoning_tokens": 4},
        "prompt_tokens_details": {"cached_tokens": 3},
    }
    completion = Completion(completion_body("hello", "m", usage, "length"))
    assert (completion.text, completion.finish_reason, completion.served_model) == ("hello", "length", "m")
    assert completion.usage == Usage(9, 5, 4, 3)


@given(st.dictionaries(st.sampled_from(["prompt_tokens", "completion_tokens"]), counts))
def test_unusable_counts_are_unknown(usage: dict[str, Any]) -> None:
    read = Usage.of(usage)
    for name in ("prompt_tokens", "completion_tokens"):
        value = usage.get(name)
        usable = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        assert getattr(read, name) == (value if usable else None)


def test_prices_by_hand() -> None:
    price = Price(input_per_million=2.0, output_per_million=10.0, cached_input_per_million=0.5)
    assert price.cost_usd(Usage(1000, 100, 50, 400)) == pytest.approx((600 * 2 + 400 * 0.5 + 100 * 10) / 1e6)
    assert price.cost_usd(Usage(1000, None)) is None
    assert Price(input_per_million=2.0).cost_usd(Usage(1, 1)) is None
    assert Price(input_per_million=0, output_per_million=0).cost_usd(Usage(1, 1)) == 0.0


def test_a_worker_is_a_completer_and_fills_in_its_defaults() -> None:
    worker = StubWorker(WorkerSpec(id="w", type="stub", system="Be brief.", stop=("END",), max_tokens=7))
    assert isinstance(worker, Completer)
    sent = worker.prepared(ChatRequest.of("hi", temperature=0.9)).body
    assert [message["role"] for message in sent["messages"]] == ["system", "user"]
    assert (sent["max_tokens"], sent["temperature"], sent["stop"]) == (7, 0.9, ["END"])
    own = worker.prepared(ChatRequest.of([{"role": "developer", "content": "x"}], max_completion_tokens=3)).body
    assert "max_tokens" not in own
    assert len(own["messages"]) == 1

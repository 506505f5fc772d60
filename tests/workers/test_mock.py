import time
from typing import Any

import pytest

from fugu_lite.chat import ChatRequest, Completion, Json
from fugu_lite.errors import CallError, SpecError
from fugu_lite.workers import WorkerSpec
from fugu_lite.workers.mock import FAULTS, MockWorker, wrong_answer

pytestmark = pytest.mark.anyio
BOOK = {"math": {f"What is {n} + 1?": str(n + 1) for n in range(200)}, "code": {"Reverse s.": "s[::-1]", "Len?": "len"}}


def worker(name: str = "w", price: Json | None = None, **options: Any) -> MockWorker:
    defaults = {"book": BOOK, "skills": {"math": 0.8}}
    spec = {"id": name, "type": "mock", "options": defaults | options, "price": price or {}}
    return MockWorker(WorkerSpec.parse(spec))


async def right(made: MockWorker, seed: int | None = None) -> list[bool]:
    extra = {} if seed is None else {"seed": seed}
    answers = [await made.complete(ChatRequest.of(prompt, **extra)) for prompt in BOOK["math"]]
    return [answer.text == truth for answer, truth in zip(answers, BOOK["math"].values(), strict=True)]


async def streamed(made: MockWorker, request: ChatRequest) -> list[Json]:
    return [piece async for piece in made.stream(request)]


async def test_skill_is_the_rate_of_right_answers() -> None:
    assert 0.7 < sum(await right(worker())) / 200 < 0.9  # binomial: 0.8 +- 3.5 standard errors
    assert sum(await right(worker(skills={"math": 1.0}))) == 200
    assert sum(await right(worker(skills={}))) == 0


async def test_the_same_call_has_the_same_answer() -> None:
    assert await right(worker()) == await right(worker())
    assert await right(worker(), 5) == await right(worker(), 5)


async def test_seed_worker_and_repetition_change_the_pattern() -> None:
    patterns = [
        await right(worker()),
        await right(worker("other")),
        await right(worker(seed=1)),
        await right(worker(), 1),
        await right(worker(), 2),
    ]
    assert len({tuple(pattern) for pattern in patterns}) == 5


async def test_what_a_client_adds_does_not_change_the_answer() -> None:
    made, request = worker(), ChatRequest.of("What is 3 + 1?")
    answer = await made.complete(request.replaced(domain="code", fugu_lite={}, tools=[], stream=True))
    assert answer.text == (await made.complete(request)).text
    spaced = ChatRequest.of([{"role": "user", "content": [{"type": "text", "text": "  What is\n3 + 1? "}]}])
    assert (await made.complete(spaced)).text == answer.text


async def test_an_unknown_prompt_gets_the_reply() -> None:
    assert (await worker().complete(ChatRequest.of("Who?"))).text == "[w] mock answer to: Who?"
    assert (await worker(reply="None").complete(ChatRequest.of("Who?"))).text == "None"


async def test_facts_of_a_call() -> None:
    made = worker(skills={"math": 1.0}, latency_s=2.5, price={"input_per_million": 1.0, "output_per_million": 10.0})
    begun = time.perf_counter()
    answer = await made.complete(ChatRequest.of("What is 3 + 1?"))
    assert time.perf_counter() - begun < 1
    assert (answer.text, answer.latency_s, answer.finish_reason) == ("4", 2.5, "stop")
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (5, 1)
    assert answer.cost_usd == pytest.approx(15e-6)
    assert (await worker().complete(ChatRequest.of("x"))).cost_usd is None


async def test_latency_is_waited_for_when_asked() -> None:
    made, begun = worker(latency_s=0.05, sleep=True), time.perf_counter()
    await made.complete(ChatRequest.of("x"))
    assert time.perf_counter() - begun >= 0.05


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
async def test_the_token_limit_is_respected(name: str) -> None:
    made = worker(reply="one two three four")
    cut = await made.complete(ChatRequest.of("x", **{name: 2}))
    assert (cut.text, cut.finish_reason, cut.usage.completion_tokens) == ("one two ", "length", 2)
    whole = await made.complete(ChatRequest.of("x", **{name: 4}))
    assert (whole.text, whole.finish_reason) == ("one two three four", "stop")


async def test_a_stream_says_the_same() -> None:
    made = worker(reply="one  two\nthree")
    chunks = await streamed(made, ChatRequest.of("x"))
    text = "".join(piece["choices"][0]["delta"].get("content", "") for piece in chunks)
    assert text == "one  two\nthree"
    assert [piece["choices"][0]["finish_reason"] for piece in chunks][-2:] == [None, "stop"]
    assert chunks[-1]["usage"] == Completion(made._body(ChatRequest.of("x"), text)).body["usage"]


@pytest.mark.parametrize("fault", list(FAULTS))
async def test_faults_are_the_errors_of_the_http_worker(fault: str) -> None:
    with pytest.raises(CallError) as caught:
        await worker(fault=fault).complete(ChatRequest.of("x"))
    assert (caught.value.kind, caught.value.http_status) == (FAULTS[fault].kind, FAULTS[fault].http_status)
    assert caught.value is not FAULTS[fault]
    with pytest.raises(CallError, match="mock: "):
        await streamed(worker(fault=fault), ChatRequest.of("x"))


async def test_a_stall_strikes_in_the_middle() -> None:
    stream, seen = worker(fault="stall").stream(ChatRequest.of("x")), list[Json]()

    async def drain() -> None:
        async for piece in stream:
            seen.append(piece)

    with pytest.raises(CallError, match="timeout"):
        await drain()
    assert [piece["choices"][0]["delta"] for piece in seen] == [{"role": "assistant"}, {"content": "[w] "}]


async def test_an_empty_answer_is_an_answer() -> None:
    answer = await worker(fault="empty").complete(ChatRequest.of("x"))
    assert (answer.text, answer.finish_reason, answer.usage.completion_tokens) == ("", "stop", 0)


async def test_faults_with_rates_are_drawn_per_call_and_repeat() -> None:
    async def kinds() -> list[str]:
        made, found = worker(fault={429: 0.3, "reset": 0.2}), []
        for _ in range(300):
            try:
                await made.complete(ChatRequest.of("What is 3 + 1?"))
                found.append("ok")
            except CallError as error:
                found.append(error.kind)
        return found

    first = await kinds()
    assert first == await kinds()
    assert 60 < first.count("rate_limit") < 120
    assert 35 < first.count("connect") < 85


@pytest.mark.parametrize("options", [{"fault": "429s"}, {"fault": {"x": 1}}, {"skill": {}}, {"latency_s": -1}])
def test_bad_options_name_the_worker(options: Json) -> None:
    with pytest.raises(SpecError, match="worker 'w', options"):
        worker(**options)


@pytest.mark.parametrize("draw", [0.0, 0.5, 0.999])
def test_wrong_answers_are_wrong(draw: float) -> None:
    assert wrong_answer("-7", ["-7"], draw).lstrip("-").isdecimal()
    assert wrong_answer("-7", ["-7"], draw) != "-7"
    assert wrong_answer("iron", ["iron", "IRON man", "ir", "gold"], draw) == "gold"
    assert wrong_answer("iron", ["iron"], draw) == "I do not know."

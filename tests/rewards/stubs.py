"""A worker that fails on request and a grader that needs nothing: what the collection tests share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, ClassVar

from fugu_lite import graders
from fugu_lite.chat import ChatRequest, Completion, Json, completion_body
from fugu_lite.errors import CallError, GradingError, MissingWeightsError
from fugu_lite.graders import Grade, Grader
from fugu_lite.tasks import Task
from fugu_lite.workers import Pool, PoolSpec, Worker, registry

USAGE = {"prompt_tokens": 10, "completion_tokens": 5}


class StubWorker(Worker):
    """Answers the prompt's number, counts its calls (in memory, and in `options.count_file`), fails as told.

    The prompt says what happens: `fail <kind>` raises, `empty`, `cut`, `filtered`, `silent` answer so, `boom` is a
    defect. Options: `sleep` seconds per call, `cost_usd`, `lie` (answers wrong), `fail` (every call), `bare` (has
    no weights), `away` (does not start).
    """

    def __init__(self, spec: Any) -> None:
        super().__init__(spec)
        self.asked: list[str] = []
        self.seeds: list[Any] = []
        self.most = self.running = 0

    async def start(self) -> None:
        if self.spec.options.get("bare"):
            raise MissingWeightsError("stub-weights", "run: fugu-lite weights fetch stub-weights")
        if self.spec.options.get("away"):
            raise CallError("connect", "stub: nobody there")

    async def complete(self, request: ChatRequest) -> Completion:
        text, options = request.last_user_text(), self.spec.options
        self.asked.append(text)
        self.seeds.append(request.body.get("seed"))
        if "count_file" in options:
            _note(Path(options["count_file"]), f"{self.id}|{text}|{request.body.get('seed')}\n")
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await asyncio.sleep(options.get("sleep", 0))
            return self._answer(text)
        finally:
            self.running -= 1

    def _answer(self, text: str) -> Completion:
        options = self.spec.options
        if text.startswith("fail ") or "fail" in options:
            kind = options.get("fail") or text.split()[1]
            raise CallError(kind, f"stub: {kind}", 503 if kind == "server" else None)
        if text == "boom":
            raise ZeroDivisionError("stub defect")
        if text == "silent":
            return Completion(completion_body("", "stub", USAGE, "length"), cost_usd=0.01)
        if text == "empty":
            return Completion(completion_body("", "stub", {"prompt_tokens": 10, "completion_tokens": 0}))
        finish = {"cut": "length", "filtered": "content_filter"}.get(text.split()[0], "stop")
        said = "wrong" if options.get("lie") else text
        body = completion_body(said, "stub-1", USAGE, finish)
        return Completion(body, options.get("cost_usd"), latency_s=options.get("latency_s"), provider="here")

    async def stream(self, request: ChatRequest) -> AsyncIterator[Json]:
        raise CallError("client", "stub: no streams")
        yield {}


def _note(path: Path, line: str) -> None:
    with path.open("a") as file:
        file.write(line)


class Echo(Grader):
    """Right when the response holds the reference; `undecided` cannot be graded."""

    kind: ClassVar[str] = "echo"
    strict: bool = False

    def grade(self, response: str, task: Task) -> Grade:
        if response.startswith("undecided"):
            raise GradingError("stub: cannot decide")
        right = response == task.reference_answer if self.strict else str(task.reference_answer) in response
        return Grade(float(right), response, "stub")


registry.register("stub", StubWorker)
graders.registry.register("echo", Echo)


def task(name: str, prompt: str | None = None, **fields: Any) -> Task:
    """A task whose right answer is to repeat the prompt."""
    prompt = prompt or f"say {name}"
    given = {"reference_answer": prompt, "grader": {"type": "echo"}, "domain": "echo", "split": "train", **fields}
    return Task(task_id=name, prompt=prompt, **given)


def entry(name: str, **fields: Any) -> Json:
    """A stub worker's entry; unknown names become its options."""
    known = {"max_concurrency", "requests_per_minute", "timeout_s", "temperature", "price", "max_tokens"}
    options = {key: value for key, value in fields.items() if key not in known}
    kept = {key: value for key, value in fields.items() if key in known}
    return {"id": name, "type": "stub", "model": "stub-1", "options": options, **kept}


def pool(*entries: Json, **collection: Any) -> Pool:
    """A pool without retries and with one repetition unless told."""
    given = {"repetitions": 1, "retries": 0, **collection}
    reward = given.pop("reward", {})
    return Pool(PoolSpec.parse({"workers": list(entries), "collection": given, "reward": reward}))

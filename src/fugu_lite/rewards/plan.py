"""What a collection will ask, and what it is likely to cost."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fugu_lite.chat import ChatRequest, Usage
from fugu_lite.rewards.attempts import Key
from fugu_lite.tasks import Task
from fugu_lite.workers import WorkerSpec

CHARACTERS_PER_TOKEN = 4
EXPECTED_OUTPUT_TOKENS = 256  # what an answer is taken to need before any was measured
SEEDED = ("local", "mock")  # kinds that take `seed`; others when their options say `send_seed: true`


@dataclass(frozen=True, slots=True)
class Call:
    """One planned call."""

    task: Task
    worker_id: str
    repetition: int

    @property
    def key(self) -> Key:
        """The attempt's key."""
        return self.task.task_id, self.worker_id, self.repetition

    def request(self, spec: WorkerSpec) -> ChatRequest:
        """Return what the worker is asked; with a seed of its own where the worker takes one."""
        takes_seed = spec.type in SEEDED or spec.options.get("send_seed") is True
        fields = {"seed": seed_of(self.task.task_id, self.repetition)} if takes_seed else {}
        return ChatRequest.of(self.task.messages or self.task.text, **fields)


def seed_of(task_id: str, repetition: int) -> int:
    """Return a stable 31-bit seed: repetitions differ, and a second run repeats them."""
    digest = hashlib.sha256(f"{task_id}\n{repetition}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def prompt_sha(task: Task) -> str:
    """Return a short hash of what is sent for a task (hex, 12 characters)."""
    return hashlib.sha256(task.text.encode()).hexdigest()[:12]


def calls_of(worker_id: str, tasks: Sequence[Task], answered: NDArray[np.bool_]) -> Iterator[Call]:
    """Yield one worker's open calls, task by task, so that a row is complete as early as possible.

    Args:
        worker_id: whom to ask.
        tasks: in order.
        answered: (tasks, repetitions); True cells are not asked again.
    """
    rows, repetitions = np.nonzero(~answered)
    for row, repetition in zip(rows.tolist(), repetitions.tolist(), strict=True):
        yield Call(tasks[row], worker_id, repetition)


def prompt_tokens(task: Task, spec: WorkerSpec) -> int:
    """Estimate the prompt's tokens from its characters, the worker's own additions included."""
    extra = len(spec.system or "") + sum(len(turn.user) + len(turn.assistant) for turn in spec.examples)
    return -(-(len(task.text) + extra) // CHARACTERS_PER_TOKEN)


def expected_cost(task: Task, spec: WorkerSpec) -> float | None:
    """Estimate a call's price in USD; None when the worker's prices are unknown."""
    output = min(EXPECTED_OUTPUT_TOKENS, spec.max_tokens)
    return spec.price.cost_usd(Usage(prompt_tokens(task, spec), output))


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a worker's part of the plan is likely to take.

    Attributes:
        calls: open calls.
        judge_calls: judge calls that their grading adds.
        prompt_tokens, completion_tokens: estimated, all calls together.
        cost_usd: estimated; None when a price is unknown.
        seconds: the least time that the requests-per-minute limit allows; None without one.
    """

    worker_id: str
    calls: int
    judge_calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None
    seconds: float | None


def estimate(spec: WorkerSpec, tasks: Sequence[Task], answered: NDArray[np.bool_]) -> Estimate:
    """Estimate one worker's open calls; `answered` is (tasks, repetitions)."""
    opened = (~answered).sum(axis=1)
    judged = np.array([(task.grader or {}).get("type") == "llm_judge" for task in tasks], dtype=bool)
    prompts = np.array([prompt_tokens(task, spec) for task in tasks], dtype=np.int64)
    calls, asked = int(opened.sum()), int((opened * prompts).sum())
    output = calls * min(EXPECTED_OUTPUT_TOKENS, spec.max_tokens)
    rate = spec.requests_per_minute
    return Estimate(
        spec.id,
        calls,
        int(opened[judged].sum()),
        asked,
        output,
        spec.price.cost_usd(Usage(asked, output)),
        60 * calls / rate if rate else None,
    )


def judge_estimate(spec: WorkerSpec, estimates: Sequence[Estimate]) -> Estimate:
    """Estimate the judge's calls that grading adds: each reads a prompt and an answer, and writes a verdict."""
    calls = sum(each.judge_calls for each in estimates)
    prompts = sum(each.prompt_tokens * each.judge_calls // each.calls for each in estimates if each.calls)
    output = min(EXPECTED_OUTPUT_TOKENS, spec.max_tokens)
    asked = prompts + calls * EXPECTED_OUTPUT_TOKENS
    rate = spec.requests_per_minute
    cost = spec.price.cost_usd(Usage(asked, calls * output))
    return Estimate(f"{spec.id} (judge)", calls, 0, asked, calls * output, cost, 60 * calls / rate if rate else None)

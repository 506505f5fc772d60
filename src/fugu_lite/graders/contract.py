"""What a grader is: its own configuration, and a pure judgement of one response."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, ClassVar

from fugu_lite.chat import Completer, Json
from fugu_lite.errors import GradingError
from fugu_lite.registry import Registry
from fugu_lite.specs import Spec
from fugu_lite.tasks import Task


@dataclass(frozen=True, slots=True)
class Grade:
    """A judgement: quality in [0, 1], the answer that was read out of the response, and why.

    `judge` keeps a judge call as a fact: model, verdict, usage, cost_usd.
    """

    quality: float
    extracted: str | None
    reason: str
    judge: Json | None = None


@dataclass(frozen=True, slots=True)
class GradingServices:
    """What graders may use beyond the text: a judge model, and leave to run code in the sandbox."""

    judge: Completer | None = None
    judge_model: str | None = None
    allow_code: bool = False


class Grader(Spec):
    """Base of all graders; subclasses add their options as fields.

    `version` rises with every change that can alter a grade, and is stored with each attempt. A `slow` grader waits
    for another process: it judges in a thread, so that calls in flight go on, and its `grade` must be thread-safe.
    """

    kind: ClassVar[str]
    version: ClassVar[int] = 1
    deterministic: ClassVar[bool] = True
    slow: ClassVar[bool] = False

    def check(self, task: Task) -> None:
        """Refuse a task that this grader could never grade.

        Raises:
            GradingError: e.g. no reference answer, or one that is not a number.
        """
        if task.reference_answer is None:
            raise GradingError(f"task {task.task_id!r}: grader {self.kind!r} needs a reference_answer")

    def grade(self, response: str, task: Task) -> Grade:
        """Judge one response without calling anything.

        Raises:
            GradingError: when it cannot decide.
        """
        raise GradingError(f"grader {self.kind!r} needs services: use grade_with")

    async def grade_with(self, response: str, task: Task, services: GradingServices) -> Grade:
        """Judge one response with what `services` offers; an empty response is never correct."""
        if not response.strip():
            return Grade(0.0, None, "empty response")
        if self.slow:
            return await asyncio.to_thread(self.grade, response, task)
        return self.grade(response, task)


registry: Registry[type[Grader]] = Registry(
    "grader",
    {
        "exact": "fugu_lite.graders.exact:Exact",
        "contains": "fugu_lite.graders.contains:Contains",
        "numeric": "fugu_lite.graders.numeric:Numeric",
        "regex": "fugu_lite.graders.regex:Regex",
        "choice": "fugu_lite.graders.choice:Choice",
        "math": "fugu_lite.graders.math:Math",
        "code": "fugu_lite.graders.code:Code",
        "json_schema": "fugu_lite.graders.json_schema:JsonSchema",
        "llm_judge": "fugu_lite.graders.llm_judge:LlmJudge",
    },
    "fugu_lite.graders",
)


def build(config: dict[str, Any] | None, where: str = "grader") -> Grader:
    """Build the grader that a task asks for.

    Raises:
        SpecError: if there is none, or an option is unknown.
        UnknownKindError: for an unknown type.
    """
    if not config or "type" not in config:
        raise GradingError(f"{where}: no grader; give {{'type': ...}} with one of {', '.join(registry.names())}")
    options = {key: value for key, value in config.items() if key != "type"}
    return registry.get(config["type"], where).parse(options, f"{where} ({config['type']})")


__all__ = ["Grade", "Grader", "GradingServices", "build", "registry"]

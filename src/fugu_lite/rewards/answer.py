"""What one answer becomes: its status, its facts and its grade."""

from __future__ import annotations

from fugu_lite import graders
from fugu_lite.chat import Completion, Json, content_text
from fugu_lite.errors import CallError, FuguLiteError
from fugu_lite.graders import Grade, GradingServices
from fugu_lite.rewards.attempts import Status
from fugu_lite.rewards.conditions import grader_facts
from fugu_lite.tasks import Task


def status_of(completion: Completion) -> Status:
    """Classify an answer: the provider declined, no text, cut at max_tokens, or ok."""
    reason, message = completion.finish_reason, completion.message
    if reason == "content_filter" or message.get("refusal"):
        return "refused"
    if not content_text(message.get("content")).strip():
        return "empty"
    return "truncated" if reason == "length" else "ok"


def came_to_nothing(completion: Completion) -> bool:
    """Whether an empty answer is the provider's failure and not the worker's doing.

    A worker that spent tokens and said nothing (it stopped at once, or only thought) answered badly; an empty body for
    which no token was counted shows nothing about it, and is asked again like any other failed call.
    """
    return status_of(completion) == "empty" and not completion.usage.completion_tokens


def failed(error: CallError) -> Json:
    """Return the fields of a call that brought no answer; there is nothing to grade, so quality stays null."""
    status = error.kind if error.kind in ("empty", "refused") else "error"
    return {
        "status": status,
        "quality": None,
        "error": {"kind": error.kind, "http_status": error.http_status, "message": error.message},
    }


def answer_facts(completion: Completion) -> Json:
    """Return the fields that an answer brought."""
    usage = completion.usage
    return {
        "response": completion.text,
        "usage": {
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "reasoning_tokens": usage.reasoning_tokens,
            "cached_tokens": usage.cached_tokens,
        },
        "cost_usd": completion.cost_usd,
        "latency_s": completion.latency_s,
        "ttft_s": completion.ttft_s,
        "finish_reason": completion.finish_reason,
        "served_model": completion.served_model,
        "provider": completion.provider,
    }


async def grade(response: str, task: Task, services: GradingServices) -> Json:
    """Return the fields of a grade; one that could not be had leaves quality null and says why in `grader_error`."""
    grader = graders.build(task.grader, f"task {task.task_id!r}")
    facts: Json = {"grader": grader_facts(task, grader)}
    try:
        judged = await grader.grade_with(response, task, services)
    except FuguLiteError as error:
        return {**facts, "quality": None, "grader_error": str(error)}
    except Exception as error:  # a grader's own defect must not end a paid run, and is never a grade
        return {**facts, "quality": None, "grader_error": f"{type(error).__name__}: {error}"}
    return {**facts, **grade_facts(judged)}


def grade_facts(judged: Grade) -> Json:
    """Return the fields of a grade."""
    return {
        "quality": judged.quality,
        "extracted": judged.extracted,
        "grade_reason": judged.reason,
        "judge": judged.judge,
    }

"""What the logs of gateways share: messages become a task, a logged call becomes an attempt without a grade."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from fugu_lite.chat import content_text
from fugu_lite.datasets import reading
from fugu_lite.datasets.gathering import Gathering
from fugu_lite.errors import DataError
from fugu_lite.tasks import Task

UNGRADED = (
    "a log has no grades: give the tasks graders and references, then `fugu-lite regrade` and `fugu-lite rewards`"
)


def parsed(value: Any) -> Any:
    """Return what a text holds when it is JSON of an object or list; anything else as it is."""
    if isinstance(value, str) and value.strip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def messages_of(value: Any) -> list[dict[str, Any]] | str | None:
    """Return the messages, or the text, that a call was asked with; None when the log does not keep them."""
    found = parsed(value)
    if isinstance(found, dict):
        found = parsed(found.get("messages", found.get("prompt", found.get("input"))))
    if isinstance(found, str):
        return found if found.strip() else None
    if not isinstance(found, list):
        return None
    turns = [plain(turn) for turn in found if isinstance(turn, dict) and turn.get("role")]
    if len(turns) == 1 and turns[0]["role"] == "user" and isinstance(turns[0]["content"], str):
        return turns[0]["content"] or None
    return turns or None


def plain(turn: Mapping[str, Any]) -> dict[str, Any]:
    """Return a turn in the chat format; `parts` of OpenTelemetry become text content."""
    if "content" in turn or not isinstance(turn.get("parts"), list):
        return {**turn, "content": turn.get("content")}
    texts = [part.get("content", part.get("text")) for part in turn["parts"] if isinstance(part, dict)]
    kept = {key: value for key, value in turn.items() if key != "parts"}
    return {**kept, "content": "\n".join(text for text in texts if isinstance(text, str))}


def task_of(kind: str, asked: list[dict[str, Any]] | str) -> Task:
    """Return the task; the same messages are the same task, whichever worker was asked."""
    text = asked if isinstance(asked, str) else json.dumps(asked, sort_keys=True, ensure_ascii=False)
    task_id = reading.own_id({}, kind, text)
    return Task(task_id=task_id, prompt=asked) if isinstance(asked, str) else Task(task_id=task_id, messages=asked)


def answer_of(value: Any) -> str | None:
    """Return the text of an answer: a completion, a message, a list of messages, or a text; None when not kept."""
    found = parsed(value)
    if isinstance(found, list):
        found = found[-1] if found else None
    if isinstance(found, dict) and isinstance(found.get("choices"), list):
        first = found["choices"][0] if found["choices"] else None
        found = first.get("message", first) if isinstance(first, dict) else None
    if isinstance(found, dict):
        if not found.keys() & {"content", "parts", "text"}:
            return None
        found = plain(found).get("content", found.get("text"))
        return content_text(found) if found is not None else None
    return found if isinstance(found, str) else None


def seconds(value: Any, where: str) -> float | None:
    """Return a time in seconds: a number, or a date and time in ISO form; None when absent.

    Raises:
        DataError: for anything else.
    """
    if value in (None, ""):
        return None
    if isinstance(value, int | float):
        return float(value)
    try:
        return datetime.fromisoformat(str(value).strip().replace("Z", "+00:00")).timestamp()
    except ValueError:
        raise DataError(where, f"{value!r:.40} is not a time") from None


def lasted(start: Any, end: Any, where: str) -> float | None:
    """Return the seconds between two times; None when one is unknown, or the clock went back."""
    first, last = seconds(start, where), seconds(end, where)
    return None if first is None or last is None or last < first else last - first


def usage_of(prompt: Any, completion: Any) -> dict[str, int | None]:
    """Return token counts; 0 and 0 mean that nothing was counted."""
    counts = reading.count(prompt), reading.count(completion)
    counts = counts if any(counts) else (None, None)
    return {"prompt_tokens": counts[0], "completion_tokens": counts[1]}


def status_of(answer: str | None, failed: bool) -> str:
    """Return the status of a logged call; an answer that the log does not keep is no empty answer."""
    return "error" if failed else "empty" if answer == "" else "ok"


def chosen_score(found: Mapping[str, float], into: Gathering) -> str | None:
    """Return the name of the score that is the quality: the one asked for, or the only one.

    Raises:
        DataError: if the one asked for is not there.
    """
    names = sorted(found)
    if into.score is not None:
        if into.score not in found:
            raise DataError("--score", f"no score {into.score!r}", f"scores in the log: {', '.join(names) or 'none'}")
        return into.score
    if len(names) > 1:
        into.note(f"several scores ({', '.join(names)}): none is taken; choose one with --score")
    return names[0] if len(names) == 1 else None

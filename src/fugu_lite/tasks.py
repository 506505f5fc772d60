"""Tasks: what workers are asked, and how their answers are checked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from fugu_lite import jsonl
from fugu_lite.chat import ChatRequest, content_text
from fugu_lite.errors import DataError


class Task(BaseModel):
    """One task. Unknown keys are kept (`model_extra`).

    Attributes:
        prompt: the user's text; or `messages` in the chat format.
        grader: `{"type": ..., options}`; None when the task cannot be graded.
        task_group: name shared by paraphrases or instances of one template; split and bootstrapped together.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    task_id: str
    prompt: str | None = None
    messages: list[dict[str, Any]] | None = None
    domain: str | None = None
    reference_answer: Any = None
    grader: dict[str, Any] | None = None
    split: str | None = None
    difficulty: str | None = None
    language: str | None = None
    tags: list[str] = []
    task_group: str | None = None
    source: dict[str, Any] | None = None

    @property
    def text(self) -> str:
        """The prompt as text: `prompt`, or the messages as `role: content` lines."""
        if self.prompt is not None:
            return self.prompt
        return "\n".join(f"{m.get('role', 'user')}: {content_text(m.get('content'))}" for m in self.messages or [])

    @property
    def routing_text(self) -> str:
        """What the router reads: the prompt, or the last user turn; the same for a task and for a live request."""
        return self.prompt if self.prompt is not None else ChatRequest.of(self.messages or []).last_user_text()

    @property
    def group(self) -> str:
        """The unit of splitting and of the bootstrap."""
        return self.task_group or self.task_id


def parse(row: dict[str, Any], where: str) -> Task:
    """Validate one row.

    Raises:
        DataError: naming the place and the field.
    """
    try:
        task = Task.model_validate(row)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise DataError(where, f"task field {field!r}: {first['msg']}, found {first['input']!r:.80}") from None
    if task.prompt is None and not task.messages:
        raise DataError(where, f"task {task.task_id!r} has neither 'prompt' nor 'messages'", "give one of them")
    return task


def load(path: Path) -> list[Task]:
    """Read a tasks file (`.jsonl`, `.jsonl.gz`, `.parquet`), in order.

    Raises:
        DataError: for a malformed row, a duplicate task id, or an empty file.
    """
    tasks, lines = [], dict[str, int]()
    for number, row in jsonl.read(path):
        task = parse(row, f"{path}:{number}")
        if task.task_id in lines:
            raise DataError(f"{path}:{number}", f"task_id {task.task_id!r} is already on line {lines[task.task_id]}")
        lines[task.task_id] = number
        tasks.append(task)
    if not tasks:
        raise DataError(str(path), "holds no task", "write one JSON object per line")
    return tasks


def in_split(tasks: Iterable[Task], split: str | None) -> list[Task]:
    """Keep the tasks of one split; None keeps all.

    Raises:
        DataError: if the split is empty, naming the splits that exist.
    """
    tasks = list(tasks)
    kept = [task for task in tasks if split is None or task.split == split]
    if not kept:
        known = sorted({task.split or "(none)" for task in tasks})
        raise DataError("--split", f"no task has split {split!r}", f"splits in the file: {', '.join(known)}")
    return kept


def leaked_answers(tasks: Sequence[Task]) -> list[Task]:
    """Return tasks whose answer stands in their own prompt (choice tasks and answers under 4 characters excepted)."""
    return [task for task in tasks if _leaks(task)]


def _leaks(task: Task) -> bool:
    answer = str(task.reference_answer).strip() if task.reference_answer is not None else ""
    if len(answer) < 4 or (task.grader or {}).get("type") == "choice":
        return False
    return re.search(rf"(?<!\w){re.escape(answer.casefold())}(?!\w)", task.text.casefold()) is not None

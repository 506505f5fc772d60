"""What a benchmark folder holds: append-only decisions and attempts, and the plan that they were made under."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from fugu_lite import graders, jsonl
from fugu_lite.benchmark.plan import Plan
from fugu_lite.chat import Json
from fugu_lite.errors import DataError, MismatchError, SpecError
from fugu_lite.rewards import attempts as log
from fugu_lite.rewards.attempts import Attempt, AttemptLog
from fugu_lite.rewards.conditions import grader_facts
from fugu_lite.rewards.plan import prompt_sha
from fugu_lite.tasks import Task

ATTEMPTS, DECISIONS, PLAN = "attempts.jsonl", "decisions.jsonl", "plan.json"


class Routed(BaseModel):
    """One line of `decisions.jsonl`. Unknown keys are kept.

    Attributes:
        worker_id: who was picked; None when no decision could be had.
        probabilities: worker id -> routing probability.
        reason: why, as the router says; None without a decision.
        truncated: whether the text was longer than the backbone reads.
        route_s: seconds of embedding and deciding.
        error: why there is no decision.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    task_id: str
    worker_id: str | None = None
    probabilities: dict[str, float] = {}
    reason: str | None = None
    truncated: bool = False
    route_s: float | None = None
    error: str | None = None
    prompt_sha: str | None = None


def check_folder(folder: Path, resume: bool) -> None:
    """Refuse a folder that would be overwritten."""
    if folder.exists() and not folder.is_dir():
        raise SpecError("--output", f"{folder} is a file", "name a folder")
    held = next((name for name in (ATTEMPTS, DECISIONS) if (folder / name).is_file()), None)
    if held is not None and not resume:
        raise SpecError(
            "--output", f"{folder / held} already exists", "add --resume to continue, or name another folder"
        )


class Ledger:
    """The facts of a run, on disk and in memory; a context manager that holds the folder's writer lock.

    Args:
        folder: the run's output.
        tasks: the questions; facts about others stay in the files and are not counted.
        plan: how they are asked.

    Attributes:
        decisions: task id -> its last decision.
        attempts: (task id, worker id) -> its last attempt.
        outside: stored decisions of questions that are not among `tasks`.

    Raises:
        MismatchError: on entering, when what is stored was had otherwise than planned now.
        LockedError: on entering, when another process writes the folder.
    """

    def __init__(self, folder: Path, tasks: Sequence[Task], plan: Plan) -> None:
        self.folder, self.plan = folder, plan
        self.tasks = {task.task_id: task for task in tasks}
        self.decisions: dict[str, Routed] = {}
        self.attempts: dict[tuple[str, str], Attempt] = {}
        self.outside = 0

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._attempts = stack.enter_context(AttemptLog(self.folder / ATTEMPTS))
            self._decisions = stack.enter_context(jsonl.Appender(self.folder / DECISIONS))
            stored = self._stored_plan()
            if stored:
                self.plan.check_same(stored, str(self.folder / PLAN))
            self._read_decisions()
            self._read_attempts(stored)
            jsonl.write_json(self.folder / PLAN, self.plan.to_json())
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def decided(self, routed: Routed) -> None:
        """Write one decision through."""
        self._decisions.append(routed.model_dump(mode="json"))
        self.decisions[routed.task_id] = routed

    def answered(self, attempt: Attempt) -> None:
        """Write one attempt through."""
        self._attempts.append(attempt)
        self.attempts[attempt.task_id, attempt.worker_id] = attempt

    def open_calls(self, task_id: str) -> list[str] | None:
        """Return whom a question must still ask; None when it is not routed yet."""
        routed = self.decisions.get(task_id)
        if routed is None or routed.worker_id is None:
            return None
        return [name for name in self.wanted(routed.worker_id) if not self.has_answer(task_id, name)]

    def wanted(self, picked: str | None) -> list[str]:
        """Return whom a question asks: the picked worker and the comparator, once when they are the same."""
        return [name for name in dict.fromkeys((picked, self.plan.comparator)) if name is not None]

    def has_answer(self, task_id: str, worker_id: str) -> bool:
        """Whether a call was answered, so that it is never made again."""
        attempt = self.attempts.get((task_id, worker_id))
        return attempt is not None and attempt.answered

    def _stored_plan(self) -> Json:
        """Return the plan of the earlier run; empty without one."""
        path = self.folder / PLAN
        if not path.is_file():
            return {}
        try:
            return dict(orjson.loads(path.read_bytes()))
        except (orjson.JSONDecodeError, ValueError):
            raise DataError(str(path), "is not a JSON object", "use another --output") from None

    def _read_decisions(self) -> None:
        path = self.folder / DECISIONS
        for number, row in jsonl.read(path):
            try:
                routed = Routed.model_validate(row)
            except ValidationError as error:
                raise DataError(f"{path}:{number}", f"not a decision: {error.errors()[0]['msg']}") from None
            if routed.task_id in self.tasks:
                _same_prompt(path, routed.prompt_sha, self.tasks[routed.task_id])
                self.decisions[routed.task_id] = routed
            else:
                self.outside += 1

    def _read_attempts(self, stored: Json) -> None:
        path = self.folder / ATTEMPTS
        for attempt in log.latest(log.read(path)).values():
            task, setting = self.tasks.get(attempt.task_id), self.plan.settings.get(attempt.worker_id)
            if task is None or setting is None:
                continue
            extra: Mapping[str, Any] = attempt.model_extra or {}
            _same_prompt(path, extra.get("prompt_sha"), task)
            if attempt.answered:
                if attempt.conditions not in (None, setting.conditions):
                    told = self.plan.difference(stored, attempt.worker_id)
                    found = f"worker {attempt.worker_id!r} answered under other conditions: {told}"
                    raise MismatchError(str(path), found, "resume with the same pool, or use another --output")
                _same_grader(path, attempt, task)
            self.attempts[attempt.task_id, attempt.worker_id] = attempt


def _same_prompt(path: Path, stored: str | None, task: Task) -> None:
    if stored is not None and stored != prompt_sha(task):
        found = f"task {task.task_id!r} was asked with another prompt"
        raise MismatchError(str(path), found, "give the changed task a new task_id, or use another --output")


def _same_grader(path: Path, attempt: Attempt, task: Task) -> None:
    facts = grader_facts(task, graders.build(task.grader, f"task {task.task_id!r}"))
    stored = attempt.grader or facts
    names = sorted(name for name in stored if stored[name] != facts.get(name))
    if names:
        found = f"task {task.task_id!r} was graded with another grader ({', '.join(names)} differs)"
        raise MismatchError(str(path), found, "run `fugu-lite regrade` first, or use another --output")

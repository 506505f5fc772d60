"""Attempts: one line per call, append-only, the only ground truth."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fugu_lite import jsonl
from fugu_lite.errors import DataError

Status = Literal["ok", "empty", "error", "refused", "truncated"]
Key = tuple[str, str, int]


class Attempt(BaseModel):
    """One call of one worker on one task. Unknown keys are kept.

    Attributes:
        status: `ok`; `empty` (an answer without text); `error` (transport or provider);
            `refused` (the provider declined); `truncated` (cut at max_tokens, still graded).
        quality: grade in [0, 1]; None when it could not be graded, which every failed call is.
        cost_usd: USD; None when unknown.
        latency_s: wall seconds of the successful try.
        conditions: hash of what shapes an answer (prompting mode, max_tokens, temperature, ...).
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    task_id: str
    worker_id: str
    repetition: int = Field(ge=0)
    status: Status
    quality: float | None = Field(None, ge=0, le=1)
    response: str | None = None
    extracted: str | None = None
    usage: dict[str, int | None] = {}
    cost_usd: float | None = Field(None, ge=0)
    latency_s: float | None = Field(None, ge=0)
    ttft_s: float | None = None
    finish_reason: str | None = None
    served_model: str | None = None
    provider: str | None = None
    conditions: str | None = None
    grader: dict[str, Any] | None = None
    judge: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    started_at: str | None = None

    @property
    def key(self) -> Key:
        """(task, worker, repetition): a later line with the same key replaces an earlier one."""
        return self.task_id, self.worker_id, self.repetition

    @property
    def answered(self) -> bool:
        """Whether a worker's own behaviour was seen, so that it is not asked again.

        `error` is infrastructure, and so is an empty body that came with an `error`: retried on resume, never
        quality 0. An `empty` answer without one is the worker's own and stays.
        """
        return self.status != "error" and not (self.status == "empty" and self.error is not None)


def read(path: Path) -> Iterator[Attempt]:
    """Yield the attempts of a file, in order, torn last line dropped.

    Raises:
        DataError: naming line and field.
    """
    for number, row in jsonl.read(path):
        try:
            yield Attempt.model_validate(row)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"])
            raise DataError(f"{path}:{number}", f"attempt field {field!r}: {first['msg']}") from None


def latest(attempts: Iterator[Attempt]) -> dict[Key, Attempt]:
    """Keep the last attempt of every key, in order of first appearance."""
    kept: dict[Key, Attempt] = {}
    for attempt in attempts:
        kept[attempt.key] = attempt
    return kept


class AttemptLog:
    """The append side of an attempts file; holds the writer lock while open."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> Self:
        self._lock = jsonl.locked(self.path)
        self._lock.__enter__()
        self._appender = jsonl.Appender(self.path)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._appender.close()
        self._lock.__exit__(kind, error, trace)

    def append(self, attempt: Attempt) -> None:
        """Write one attempt through to the file."""
        self._appender.append({**attempt.__dict__, **(attempt.model_extra or {})})


def path_beside(output: Path) -> Path:
    """Return where the attempts of a matrix file live: `rewards.jsonl` -> `rewards.attempts.jsonl`."""
    stem = output.name.removesuffix(".gz").removesuffix(".jsonl")
    return output.with_name(f"{stem}.attempts.jsonl")

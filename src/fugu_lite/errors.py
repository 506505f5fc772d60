"""The exception tree.

FuguLiteError
|-- InputError (ValueError)          something the user gave: where, what was found, how to fix it
|   |-- SpecError                    a configuration file or flag
|   |-- DataError                    a row of a data file
|   |-- MismatchError                two things that must agree do not (manifest, pool, backbone, conditions)
|   `-- UnknownKindError (LookupError)   no such grader, worker, embedder, head, trainer
|-- MissingExtraError (ImportError)  an optional dependency is not installed; names the extra
|-- MissingWeightsError (FileNotFoundError)  weights were not fetched; names the command
|-- CallError (RuntimeError)         a worker call failed: kind, http_status, message
|   `-- ExhaustedError               every worker that could have answered failed
|-- GradingError (RuntimeError)      a grader could not grade (never the same as a wrong answer)
|-- IsolationError (RuntimeError)    the sandbox cannot isolate here, so it refuses to run code
`-- LockedError (RuntimeError)       another process writes the same file
"""

from __future__ import annotations

from collections.abc import Sequence


class FuguLiteError(Exception):
    """Base of every error that fugu-lite raises on purpose."""


class InputError(FuguLiteError, ValueError):
    """Something the user gave cannot be used.

    Args:
        where: file and line, flag or field, e.g. ``rewards.jsonl:17``.
        found: what is there and why it does not fit.
        fix: what to do about it; empty when `found` says it already.
    """

    def __init__(self, where: str, found: str, fix: str = "") -> None:
        super().__init__(where, found, fix)
        self.where, self.found, self.fix = where, found, fix

    def __str__(self) -> str:
        return f"{self.where}: {self.found}" + (f"; {self.fix}" if self.fix else "")


class SpecError(InputError):
    """A configuration value is unknown or invalid."""


class DataError(InputError):
    """A data row is malformed or contradicts its neighbours."""


class MismatchError(InputError):
    """Two artefacts that must agree do not; `found` names the differing fields."""


class UnknownKindError(InputError, LookupError):
    """No kind of that name is registered."""


class MissingExtraError(FuguLiteError, ImportError):
    """An optional dependency is needed for what was asked."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(feature, extra)
        self.feature, self.extra = feature, extra

    def __str__(self) -> str:
        return f"{self.feature} needs the extra {self.extra!r}: pip install 'fugu-lite[{self.extra}]'"


class MissingWeightsError(FuguLiteError, FileNotFoundError):
    """Model weights are not on disk."""

    def __init__(self, name: str, fix: str) -> None:
        super().__init__(name, fix)
        self.name, self.fix = name, fix

    def __str__(self) -> str:
        return f"weights {self.name!r} are not installed; {self.fix}"


class CallError(FuguLiteError, RuntimeError):
    """One call to a worker failed.

    Args:
        kind: `connect`, `timeout`, `rate_limit`, `server`, `client` (the request is wrong, for every worker),
            `auth`, `unavailable` (no credit, model gone), `context` (too long for this worker), `empty`, `malformed`,
            `refused`.
        message: what happened, without secrets or prompt text.
        http_status: status code when there was one.
        retry_after_s: seconds the server asked to wait, when it did.
    """

    def __init__(
        self, kind: str, message: str, http_status: int | None = None, retry_after_s: float | None = None
    ) -> None:
        super().__init__(kind, message, http_status, retry_after_s)
        self.kind, self.message = kind, message
        self.http_status, self.retry_after_s = http_status, retry_after_s

    def __str__(self) -> str:
        status = f" (HTTP {self.http_status})" if self.http_status is not None else ""
        return f"{self.kind}{status}: {self.message}"

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later: transport, overload and empty answers, not bad requests."""
        return self.kind in {"connect", "timeout", "rate_limit", "server", "empty", "malformed"}


class ExhaustedError(CallError):
    """Every worker that could have answered failed; its kind is that of the calls, or `server` when they differ.

    Args:
        attempts: (worker id, error) in the order of the calls, at least one.
    """

    def __init__(self, attempts: Sequence[tuple[str, CallError]]) -> None:
        kinds = {error.kind for _, error in attempts}
        told = "; ".join(f"{worker_id}: {error}" for worker_id, error in attempts)
        waits = [error.retry_after_s for _, error in attempts if error.retry_after_s is not None]
        kind = kinds.pop() if len(kinds) == 1 else "server"
        super().__init__(kind, f"every worker failed: {told}", None, min(waits, default=None))
        self.attempts = tuple(attempts)
        self.args = (self.attempts,)  # so that a pickled copy is built from the same argument

    @property
    def retryable(self) -> bool:
        """False: every worker was tried already."""
        return False


class GradingError(FuguLiteError, RuntimeError):
    """The grader could not decide. The attempt keeps quality null; it is never scored 0."""


class IsolationError(FuguLiteError, RuntimeError):
    """The sandbox cannot isolate untrusted code on this machine, so nothing was run."""


class LockedError(FuguLiteError, RuntimeError):
    """Another process holds the file's writer lock."""

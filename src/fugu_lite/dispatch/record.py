"""What is known about one dispatched request: the `fugu_lite` object of an answer."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from fugu_lite.chat import Completion, Json
from fugu_lite.errors import CallError, ExhaustedError, FuguLiteError
from fugu_lite.router import Decision


@dataclass(slots=True)
class Record:
    """One request on its way through the pool.

    Attributes:
        decision: who should answer, and who may instead.
        expose: whether the answer's body carries the `fugu_lite` object.
        head: stable name of the checkpoint that decided, when one did.
        domain: the client's label.
        route_s: seconds spent deciding.
        routing_error: why the head could not decide, when it could not.
        failures: (worker id, error) of the calls that failed so far.
    """

    decision: Decision
    expose: bool = True
    head: str | None = None
    domain: str | None = None
    route_s: float = 0.0
    routing_error: str | None = None
    failures: list[tuple[str, CallError]] = field(default_factory=list)

    def failed(self, worker_id: str, error: FuguLiteError) -> None:
        """Note a failed call.

        Raises:
            CallError: the error itself when the client is at fault: no other worker would take the request either.
        """
        call_error = as_call_error(error)
        if call_error.kind == "client":
            raise call_error
        self.failures.append((worker_id, call_error))

    def exhausted(self) -> CallError:
        """Return the error of a request that nobody answered."""
        if self.decision.reason == "requested" and self.failures:  # one named worker: its error is the whole story
            return self.failures[-1][1]
        return ExhaustedError(self.failures)

    def essentials(self, worker_id: str) -> Json:
        """Return what is known before the answer is complete: for the first chunk of a stream."""
        return {"worker_id": worker_id, "reason": self.decision.reason, "head": self.head}

    def details(self, worker_id: str, served_model: str | None, cost_usd: float | None, worker_s: float) -> Json:
        """Return the whole `fugu_lite` object.

        Args:
            worker_id: who answered.
            served_model: what the provider says answered.
            cost_usd: USD of the answering call; None when unknown.
            worker_s: seconds of the answering call.
        """
        attempts: list[Json] = [{"worker_id": name, "error": _error(error)} for name, error in self.failures]
        return {
            **self.essentials(worker_id),
            "served_model": served_model,
            "probabilities": self.decision.probabilities,
            "ranking": list(self.decision.ranking),
            "truncated": self.decision.truncated,
            "domain": self.domain,
            "latency_s": {"route": round(self.route_s, 6), "worker": round(worker_s, 6)},
            "cost_usd": cost_usd,
            "attempts": [*attempts, {"worker_id": worker_id, "error": None}],
            **({"routing_error": self.routing_error} if self.routing_error else {}),
        }

    def labelled(self, worker_id: str, completion: Completion, worker_s: float) -> Completion:
        """Return a worker's answer under the worker's id and with the details."""
        details = self.details(worker_id, completion.served_model, completion.cost_usd, worker_s)
        body = {**completion.body, "model": worker_id, **({"fugu_lite": details} if self.expose else {})}
        return replace(completion, body=body, latency_s=self.route_s + worker_s, details=details)


def as_call_error(error: FuguLiteError) -> CallError:
    """Return a failure to serve (missing weights, missing extra, spent budget) as a failed call."""
    return error if isinstance(error, CallError) else CallError("server", f"{type(error).__name__}: {error}")


def _error(error: CallError) -> Json:
    return {"kind": error.kind, "http_status": error.http_status, "message": error.message}

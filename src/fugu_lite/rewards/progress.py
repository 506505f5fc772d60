"""How a collection is doing: counts, rate, spend, failures, and which workers were given up."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field

from fugu_lite.rewards.attempts import Attempt
from fugu_lite.runs import Reporter

FATAL = ("auth", "connect", "internal", "unavailable")  # failures that the next task will meet too


@dataclass
class Progress:
    """Running totals of one collection.

    Attributes:
        total: calls planned.
        patience: equal fatal failures in a row, without any success between, after which a worker is given up.
        every_s: seconds between two reports.
        last_errors: worker -> kind and message of its last failed call.
    """

    reporter: Reporter
    total: int
    patience: int = 20
    every_s: float = 0.5
    done: int = 0
    spent_usd: float = 0.0
    unknown_costs: int = 0
    ungraded: int = 0
    retries: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    stopped: dict[str, str] = field(default_factory=dict)
    last_errors: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._streaks: dict[str, tuple[str, int]] = {}
        self._begun = self._told = time.monotonic()

    def retried(self) -> None:
        """Count one further try."""
        self.retries += 1

    def took(self, attempt: Attempt) -> None:
        """Count one attempt."""
        self.done += 1
        self.statuses[attempt.status] += 1
        self._count_money(attempt)
        if attempt.answered and attempt.quality is None:
            self.ungraded += 1
        if attempt.error is not None:
            self.last_errors[attempt.worker_id] = f"{attempt.error.get('kind')}: {attempt.error.get('message')}"
        self._watch(attempt)
        if time.monotonic() - self._told >= self.every_s or self.done == self.total:
            self.report()

    def _count_money(self, attempt: Attempt) -> None:
        judged = (attempt.judge or {}).get("cost_usd")
        self.spent_usd += (attempt.cost_usd or 0.0) + (judged or 0.0)
        unknown = attempt.answered and attempt.cost_usd is None
        if (unknown or (attempt.judge is not None and judged is None)) and self.unknown_costs == 0:
            self.reporter.log(f"worker {attempt.worker_id!r} reports no cost: the spend shown is a lower bound")
        self.unknown_costs += unknown + (attempt.judge is not None and judged is None)

    def _watch(self, attempt: Attempt) -> None:
        """Give a worker up whose calls all fail for the same reason, instead of burning the whole plan."""
        kind = (attempt.error or {}).get("kind")
        if attempt.status != "error" or kind not in FATAL:
            self._streaks.pop(attempt.worker_id, None)
            return
        last, length = self._streaks.get(attempt.worker_id, (kind, 0))
        length = length + 1 if last == kind else 1
        self._streaks[attempt.worker_id] = kind, length
        if length >= self.patience and attempt.worker_id not in self.stopped:
            message = (attempt.error or {}).get("message", "")
            self.stopped[attempt.worker_id] = f"{length} calls in a row failed: {kind}: {message}"
            self.reporter.log(
                f"worker {attempt.worker_id!r} is not asked any more: {self.stopped[attempt.worker_id]}; "
                "its cells stay missing, --resume asks again"
            )

    @property
    def seconds(self) -> float:
        """Wall seconds so far."""
        return time.monotonic() - self._begun

    def report(self) -> None:
        """Tell the reporter now."""
        self._told = time.monotonic()
        rate = self.done / self.seconds if self.seconds > 0 else None
        self.reporter.progress(
            "collect",
            self.done,
            self.total,
            calls_per_s=rate,
            eta_s=(self.total - self.done) / rate if rate else None,
            spent_usd=self.spent_usd,
            unknown_costs=self.unknown_costs,
            failed=self.statuses["error"] + self.statuses["refused"],
            empty=self.statuses["empty"],
            ungraded=self.ungraded,
            retries=self.retries,
        )


class Budget:
    """A spending limit over what was spent and what is in flight.

    Args:
        limit_usd: None is no limit.
    """

    def __init__(self, limit_usd: float | None) -> None:
        self.limit_usd = limit_usd
        self.spent_usd = self._reserved = 0.0
        self.exhausted = False
        self._seen: dict[str, tuple[float, int]] = {}

    def reserve(self, worker_id: str, expected_usd: float | None) -> float | None:
        """Return what to set aside for a call, None when the limit would be passed.

        A worker's measured mean counts more than the estimate; an unknown price sets nothing aside.
        """
        total, count = self._seen.get(worker_id, (0.0, 0))
        amount = total / count if count else expected_usd or 0.0
        if self.limit_usd is not None and self.spent_usd + self._reserved + amount > self.limit_usd + 1e-12:
            self.exhausted = True
        if self.exhausted:
            return None
        self._reserved += amount
        return amount

    def settle(self, attempt: Attempt, reserved_usd: float) -> None:
        """Replace what was set aside by what the call cost."""
        self._reserved -= reserved_usd
        judged = (attempt.judge or {}).get("cost_usd") or 0.0
        cost = (attempt.cost_usd or 0.0) + judged
        self.spent_usd += cost
        if attempt.cost_usd is not None:
            total, count = self._seen.get(attempt.worker_id, (0.0, 0))
            self._seen[attempt.worker_id] = total + cost, count + 1

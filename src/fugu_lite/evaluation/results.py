"""What an evaluation holds, in the order in which it is written."""

from __future__ import annotations

from dataclasses import dataclass

from fugu_lite.evaluation.slices import BaselineRow, SliceRow, WorkerRow
from fugu_lite.intervals import Verdict


@dataclass(frozen=True)
class Headline:
    """The six metrics of the Fugu-Lite README, means over the judged rows.

    Attributes:
        router_utility: mean reward of the greedy route.
        oracle_utility: mean of the best measured reward of every row.
        best_fixed_utility: strongest single worker on these rows, known only in hindsight.
        random_utility: exact expectation of a uniform choice among the measured workers.
        regret: oracle - router; lower is better.
        oracle_route_accuracy: share of rows sent to a worker that reaches the best reward; a tie counts as right.
    """

    router_utility: float
    oracle_utility: float
    best_fixed_utility: float
    random_utility: float
    regret: float
    oracle_route_accuracy: float


@dataclass(frozen=True)
class Comparison:
    """The router against the single worker chosen beforehand.

    Attributes:
        comparator: best fixed worker on train and validation rows.
        gain: router - comparator, paired; `gain_low`, `gain_high` its 95 % bootstrap interval over task groups.
        verdict: `better` or `worse` when the interval excludes 0 over at least 20 groups, else `cannot tell`.
        headroom: oracle - comparator; `headroom_captured` is gain / headroom, None without headroom.
        n_rows, n_groups: judged rows, and independent groups among them.
        n_given, dropped: rows given, and reason -> rows that could not be judged.
        router_only, comparator_only: rows that just one got right; None unless every compared reward is 0 or 1.
        mcnemar_p: their exact test; None too where rows share a group, since it needs independent rows.
    """

    comparator: str
    comparator_utility: float
    gain: float
    gain_low: float | None
    gain_high: float | None
    verdict: Verdict
    headroom: float
    headroom_captured: float | None
    n_rows: int
    n_groups: int
    n_given: int
    dropped: dict[str, int]
    router_only: int | None
    comparator_only: int | None
    mcnemar_p: float | None


@dataclass(frozen=True)
class TableComparison:
    """The router against the best worker per domain, label given, fitted on train and validation rows."""

    domain_table_utility: float
    gain_over_domain_table: float
    gain_over_domain_table_low: float | None
    gain_over_domain_table_high: float | None
    domain_table_verdict: Verdict


@dataclass(frozen=True)
class Usage:
    """What the router does and spends on the judged rows; None = not known in every row.

    Attributes:
        sampled_utility: mean reward if workers were sampled from the policy's probabilities.
        share_entropy: of the worker shares, in nats; `effective_workers` is its exponential.
        cost_usd, latency_s: totals, with the comparator's beside them.
        latency_p50_s, latency_p95_s: over the rows whose latency is known.
    """

    sampled_utility: float | None
    share_entropy: float
    effective_workers: float
    cost_usd: float | None
    comparator_cost_usd: float | None
    latency_s: float | None
    comparator_latency_s: float | None
    latency_p50_s: float | None
    latency_p95_s: float | None


@dataclass(frozen=True)
class Evaluation:
    """What a report holds.

    Attributes:
        policy: name of what was judged.
        best_fixed: worker behind `best_fixed_utility`.
        table: None without fitted rows or domain labels.
        worst_slice: slice of at least 20 rows with the lowest gain, e.g. `domain=law`.
        warnings: what a reader should know first, in words.
        looks: how often this test split has been looked at, this time included; None = not counted.
    """

    policy: str
    headline: Headline
    comparison: Comparison
    table: TableComparison | None
    usage: Usage
    best_fixed: str
    worst_slice: str | None
    workers: tuple[WorkerRow, ...]
    domains: tuple[SliceRow, ...]
    difficulties: tuple[SliceRow, ...]
    languages: tuple[SliceRow, ...]
    baselines: tuple[BaselineRow, ...]
    warnings: tuple[str, ...]
    looks: int | None

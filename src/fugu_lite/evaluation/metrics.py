"""Judge a policy against a reward matrix: does it beat always calling the best single worker?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fugu_lite.errors import DataError
from fugu_lite.evaluation import baselines
from fugu_lite.evaluation.judged import Judged, judge, paired
from fugu_lite.evaluation.policy import Array, Policy, expected, outcomes
from fugu_lite.evaluation.results import Comparison, Evaluation, Headline, TableComparison, Usage
from fugu_lite.evaluation.slices import (
    ENOUGH_ROWS,
    SliceRow,
    baseline_outcomes,
    baseline_row,
    known,
    quantile,
    slice_rows,
    worker_rows,
)
from fugu_lite.intervals import ENOUGH_CLUSTERS, Interval, mcnemar_exact
from fugu_lite.rewards.fixed import best_fixed, fixed_utilities
from fugu_lite.rewards.matrix import RewardMatrix

COLLAPSED = 0.98  # share of one worker above which a router is that worker


def evaluate(
    policy: Policy,
    matrix: RewardMatrix,
    comparator: str | None,
    rng: np.random.Generator,
    *,
    fit: RewardMatrix | None = None,
    others: Sequence[Policy] = (),
    draws: int = 2000,
    looks: int | None = None,
) -> Evaluation:
    """Judge a policy.

    Args:
        policy: decisions on the rows of `matrix`; columns are matched by name.
        matrix: the evaluated split.
        comparator: the single worker to beat; None = best fixed of `fit`.
        rng: source of the bootstrap draws.
        fit: train and validation rows (`baselines.fit_rows`), for the comparator and the domain table.
        others: baselines to list beside it, deciding the same rows.
        draws: bootstrap resamples.
        looks: times this split has been looked at, see `looks.count`.

    Raises:
        DataError: if there is neither a comparator nor rows to choose it on, or no row can be judged.
        MismatchError: if rows or workers differ.
    """
    fit = fit.only(matrix.worker_ids) if fit is not None else None
    comparator = comparator or _chosen(fit)
    judged = judge(policy, matrix, comparator)
    interval = paired(judged.router, judged.comparator, judged.matrix.groups, rng, draws)
    by = {
        label: slice_rows(judged, [getattr(task, label) for task in judged.matrix.tasks], rng, draws)
        for label in ("domain", "difficulty", "language")
    }
    return Evaluation(
        policy=policy.name,
        headline=_headline(judged),
        comparison=_comparison(judged, comparator, interval, len(matrix)),
        table=_against_table(judged, matrix, fit, comparator, rng, draws),
        usage=_usage(judged, comparator),
        best_fixed=best_fixed(judged.matrix),
        worst_slice=_worst(by),
        workers=worker_rows(judged, matrix),
        domains=by["domain"],
        difficulties=by["difficulty"],
        languages=by["language"],
        baselines=tuple(baseline_row(other, judged, rng, draws) for other in others),
        warnings=_warnings(judged, matrix, interval),
        looks=looks,
    )


def _chosen(fit: RewardMatrix | None) -> str:
    if fit is None:
        raise DataError(
            "comparator",
            "these rows alone cannot say which single worker was best beforehand",
            "name the comparator (a checkpoint's manifest holds it), or give the train and validation rows",
        )
    return best_fixed(fit)


def _headline(judged: Judged) -> Headline:
    oracle = float(judged.oracle.mean())
    return Headline(
        router_utility=float(judged.router.mean()),
        oracle_utility=oracle,
        # an estimate from a worker's measured rows may exceed the bound that holds for all rows
        best_fixed_utility=min(oracle, float(np.nanmax(fixed_utilities(judged.matrix.rewards)))),
        random_utility=float(judged.random.mean()),
        regret=float((judged.oracle - judged.router).mean()),
        oracle_route_accuracy=float((judged.weights * judged.best).sum(axis=1).mean()),
    )


def _comparison(judged: Judged, comparator: str, interval: Interval, given: int) -> Comparison:
    headroom = float((judged.oracle - judged.comparator).mean())
    discordant = _discordant(judged)
    return Comparison(
        comparator=comparator,
        comparator_utility=float(judged.comparator.mean()),
        gain=interval.mean,
        gain_low=known(interval.low),
        gain_high=known(interval.high),
        verdict=interval.verdict,
        headroom=headroom,
        headroom_captured=interval.mean / headroom if headroom > 0 else None,
        n_rows=interval.n,
        n_groups=interval.clusters,
        n_given=given,
        dropped=judged.dropped,
        router_only=discordant[0] if discordant else None,
        comparator_only=discordant[1] if discordant else None,
        mcnemar_p=mcnemar_exact(*discordant) if discordant and interval.clusters == interval.n else None,
    )


def _discordant(judged: Judged) -> tuple[int, int] | None:
    """Return the rows that only the router, and only the comparator, got right; None unless all rewards are 0 or 1."""
    both = np.concatenate([judged.router, judged.comparator])
    if not np.isin(both, (0.0, 1.0)).all():
        return None
    return int((judged.router > judged.comparator).sum()), int((judged.router < judged.comparator).sum())


def _against_table(
    judged: Judged,
    matrix: RewardMatrix,
    fit: RewardMatrix | None,
    comparator: str,
    rng: np.random.Generator,
    draws: int,
) -> TableComparison | None:
    if fit is None or not any(fit.domains) or not any(matrix.domains):
        return None
    got = baseline_outcomes(baselines.domain_table(matrix, fit, comparator), judged)
    if np.isnan(got).all():
        return None
    interval = paired(judged.router, got, judged.matrix.groups, rng, draws)
    return TableComparison(
        float(np.nanmean(got)), interval.mean, known(interval.low), known(interval.high), interval.verdict
    )


def _usage(judged: Judged, comparator: str) -> Usage:
    matrix, shares = judged.matrix, judged.weights.mean(axis=0)
    fixed = baselines.fixed(matrix, comparator).probabilities
    sampled = expected(judged.policy.probabilities, matrix.rewards)
    latencies = outcomes(judged.weights, matrix.latencies)
    entropy = -float(sum(share * np.log(share) for share in shares if share > 0))
    return Usage(
        sampled_utility=float(np.nanmean(sampled)) if not np.isnan(sampled).all() else None,
        share_entropy=entropy + 0.0,
        effective_workers=float(np.exp(entropy)),
        cost_usd=_total(outcomes(judged.weights, matrix.costs)),
        comparator_cost_usd=_total(outcomes(fixed, matrix.costs)),
        latency_s=_total(latencies),
        comparator_latency_s=_total(outcomes(fixed, matrix.latencies)),
        latency_p50_s=quantile(latencies, 0.5),
        latency_p95_s=quantile(latencies, 0.95),
    )


def _total(values: Array) -> float | None:
    return known(float(values.sum()))


def _worst(by: dict[str, tuple[SliceRow, ...]]) -> str | None:
    rows = [(row.gain, f"{label}={row.name}") for label, found in by.items() for row in found if row.n >= ENOUGH_ROWS]
    return min(rows)[1] if rows else None


def _warnings(judged: Judged, matrix: RewardMatrix, interval: Interval) -> tuple[str, ...]:
    shares = judged.weights.mean(axis=0)
    top = int(shares.argmax())
    found = list(matrix.notes)
    if len(shares) > 1 and shares[top] >= COLLAPSED:
        found.append(f"collapse: {shares[top]:.1%} of rows go to {matrix.worker_ids[top]!r}; the router is that worker")
    if interval.clusters < ENOUGH_CLUSTERS:
        found.append(f"{interval.clusters} independent rows are too few for a verdict ({ENOUGH_CLUSTERS} are needed)")
    dropped = sum(judged.dropped.values())
    if dropped:
        found.append(f"{dropped} of {len(matrix)} rows could not be judged")
    return tuple(found)

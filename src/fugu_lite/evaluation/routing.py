"""A router as a policy: decided as it would be served, guard included, with the reason of every decision counted."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from fugu_lite.evaluation.policy import Array, Policy
from fugu_lite.rewards.matrix import RewardMatrix
from fugu_lite.router import Router, Routing


def policy_of(router: Router, name: str, routing: Routing) -> Policy:
    """Return the greedy policy of some decisions; equal probabilities are settled as `Router.decide` settles them."""
    fallback = router.fallback if router.guard is not None else ()

    def place(column: int) -> tuple[int, str]:
        worker = router.worker_ids[column]
        return (fallback.index(worker) if worker in fallback else len(fallback)), worker

    order = np.array(sorted(range(len(router.worker_ids)), key=place), dtype=np.intp)
    picks = order[routing.probabilities[:, order].argmax(axis=1)]
    return Policy(name, router.worker_ids, routing.probabilities, picks)


def routed(
    router: Router, name: str, rows: RewardMatrix, features: Array, give_domain: bool = False
) -> tuple[Policy, dict[str, Any]]:
    """Route rows and say why they went where they went.

    Args:
        router: with its guard, or without.
        name: what the report calls it.
        rows: their domains are shown to the head only with `give_domain`.
        features: (tasks, dimension) of the rows, normalised.
        give_domain: whether requests carry their label.

    Returns:
        The policy, and the flat metrics `guard` (mode), `domain_given`, `guarded_share` (of all rows given, in
        [0, 1]) and `reasons` (reason -> rows).
    """
    domains = [domain or None for domain in rows.domains] if give_domain else None
    routing = router.route(features, domains)
    reasons = Counter(routing.reasons)
    facts: dict[str, Any] = {
        "guard": router.guard.entry.mode if router.guard is not None else "off",
        "domain_given": give_domain,
        "guarded_share": 1 - reasons["head"] / len(rows) if len(rows) else None,
        "reasons": dict(sorted(reasons.items())),
    }
    return policy_of(router, name, routing), facts


def remark(facts: dict[str, Any]) -> str:
    """Return the guard's part in one line."""
    counts = ", ".join(f"{reason} {count}" for reason, count in facts["reasons"].items())
    share = facts["guarded_share"] or 0.0
    known = "given" if facts["domain_given"] else "not given"
    return f"Guard {facts['guard']}: {share:.1%} of rows went to the best fixed worker ({counts}). Domain {known}."

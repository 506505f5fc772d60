from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from fugu_lite.evaluation import routing
from fugu_lite.rewards.matrix import RewardMatrix
from fugu_lite.router import Router, Routing

Build = Callable[..., RewardMatrix]


def router(seen: list[Any], guard: str | None, chances: list[list[float]], reasons: list[str]) -> Router:
    def route(features: Any, domains: Any = None) -> Routing:
        seen.append(domains)
        return Routing(np.array(chances), reasons, np.zeros(len(reasons)))

    kept = None if guard is None else SimpleNamespace(entry=SimpleNamespace(mode=guard))
    return cast(Router, SimpleNamespace(worker_ids=("a", "b", "c"), fallback=("c", "a", "b"), guard=kept, route=route))


def test_reasons_are_counted_and_domains_stay_hidden(build: Build) -> None:
    rows = build([[1, 0, 0]] * 4, fields=[{"domain": "math"}] * 3 + [{}])
    seen: list[Any] = []
    asked = router(seen, "novelty", [[0.6, 0.4, 0]] * 3 + [[0, 0, 1]], ["head"] * 3 + ["novel_input"])
    policy, facts = routing.routed(asked, "r", rows, np.zeros((4, 2)))
    assert policy.picks is not None
    assert policy.picks.tolist() == [0, 0, 0, 2]
    assert facts["reasons"] == {"head": 3, "novel_input": 1}
    assert (facts["guard"], facts["guarded_share"], facts["domain_given"]) == ("novelty", 0.25, False)
    assert "25.0%" in routing.remark(facts)
    routing.routed(asked, "r", rows, np.zeros((4, 2)), give_domain=True)
    assert seen == [None, ["math", "math", "math", None]]


@pytest.mark.parametrize(("guard", "pick"), [("novelty", 2), (None, 0)])
def test_ties_go_as_the_router_decides_them(build: Build, guard: str | None, pick: int) -> None:
    asked = router([], guard, [[0.4, 0.2, 0.4]], ["head"])
    policy, _ = routing.routed(asked, "r", build([[1, 0, 0]]), np.zeros((1, 2)))
    assert policy.picks is not None
    assert policy.picks.tolist() == [pick]

"""Where sampling parameters come from, and which conditions are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.benchmark.stubs import manifest, router

from fugu_lite.benchmark import plan as planning
from fugu_lite.benchmark.plan import BenchmarkOptions, Plan
from fugu_lite.checkpoints import Manifest
from fugu_lite.errors import MismatchError, SpecError
from fugu_lite.specs import digest_of
from fugu_lite.workers import Pool, PoolSpec

ENTRIES = [{"id": "alpha", "type": "mock", "max_tokens": 100, "temperature": 0.5}]
ENTRIES += [{"id": name, "type": "mock"} for name in ("beta", "gamma", "extra")]


def pool(**changes: Any) -> Pool:
    first: dict[str, Any] = {**ENTRIES[0], **changes}
    return Pool(PoolSpec.parse({"workers": [first, *ENTRIES[1:]]}))


def conditions(of: Pool, worker: str = "alpha") -> str:
    return digest_of(of[worker].spec.conditions())


def made(given: Manifest, of: Pool, **options: Any) -> Plan:
    return planning.make(given, planning.routing_of(router()), of, BenchmarkOptions.parse(options))


def test_without_a_record_the_pool_file_counts_and_the_limit_is_thirty_seconds() -> None:
    plan = made(manifest(), pool(timeout_s=180))
    spec = plan.settings["alpha"].spec
    assert (spec.max_tokens, spec.temperature, spec.timeout_s) == (100, 0.5, 30.0)
    assert set(plan.settings["alpha"].sources.values()) == {"pool"}
    assert plan.settings["alpha"].agrees is None
    assert list(plan.settings) == ["alpha", "beta", "gamma"]
    assert any("does not record" in note for note in plan.notes)


def test_the_checkpoints_record_comes_before_the_pool_file_and_a_flag_before_both() -> None:
    recorded = {"max_tokens": 150, "temperature": 0.7, "top_p": 1.0}
    plan = made(manifest(alpha={"sampling": recorded}), pool(), temperature=0.2)
    setting = plan.settings["alpha"]
    assert (setting.spec.max_tokens, setting.spec.temperature) == (150, 0.2)
    assert setting.sources == {
        "max_tokens": "checkpoint",
        "temperature": "flag",
        "top_p": "checkpoint",
        "reasoning_effort": "pool",
    }
    assert any("max_tokens 150 (pool file: 100)" in note for note in plan.notes)


def test_the_record_restores_the_conditions_of_the_rewards() -> None:
    measured = conditions(pool())
    sampling = {"max_tokens": 100, "temperature": 0.5, "top_p": 1.0, "reasoning_effort": "minimal"}
    given = manifest(alpha={"conditions": measured, "sampling": sampling})
    assert made(given, pool(max_tokens=9)).settings["alpha"].agrees is True


@pytest.mark.parametrize("changes", [{"temperature": 0.9}, {"system": "Be brief."}, {"model": "another"}])
def test_other_conditions_are_refused_unless_allowed_and_then_told(changes: dict[str, Any]) -> None:
    given = manifest(alpha={"conditions": conditions(pool())})
    assert made(given, pool()).settings["alpha"].agrees is True
    with pytest.raises(MismatchError, match=r"'alpha' is not set as it was.*--allow-condition-mismatch"):
        made(given, pool(**changes))
    plan = made(given, pool(**changes), allow_condition_mismatch=True)
    assert plan.settings["alpha"].agrees is False
    assert plan.notes[0].startswith("worker 'alpha' is not set as it was")


def test_a_flag_against_the_record_names_the_parameter() -> None:
    given = manifest(alpha={"conditions": conditions(pool()), "sampling": {"temperature": 0.5}})
    with pytest.raises(MismatchError, match=r"temperature was 0\.5, is 1\.0"):
        made(given, pool(), temperature=1.0)


def test_rate_timeout_and_concurrency_are_no_conditions() -> None:
    given = manifest(alpha={"conditions": conditions(pool())})
    plan = made(given, pool(requests_per_minute=60), timeout_s=5, concurrency=3)
    assert plan.settings["alpha"].agrees is True
    assert plan.settings["alpha"].spec.max_concurrency == 3


def test_who_is_compared() -> None:
    assert made(manifest(), pool()).comparator is None
    assert made(manifest("gamma"), pool(), compare="best-fixed").comparator == "gamma"
    plan = made(manifest(), pool(), compare="extra")
    assert (plan.comparator, list(plan.settings)[-1]) == ("extra", "extra")
    with pytest.raises(SpecError, match="records no best fixed worker"):
        made(manifest(None), pool(), compare="best-fixed")
    with pytest.raises(SpecError, match="no worker 'nobody'"):
        made(manifest(), pool(), compare="nobody")


def test_a_pool_without_a_worker_of_the_head_is_refused() -> None:
    lacking = Pool(PoolSpec.parse({"workers": ENTRIES[:2]}))
    with pytest.raises(MismatchError, match="gamma"):
        made(manifest(), lacking)


def test_the_asked_pool_has_the_planned_entries_and_the_same_folder(tmp_path: Path) -> None:
    given = Pool(pool().spec, tmp_path)
    asked = planning.asked_pool(given, made(manifest(), given, max_tokens=7))
    assert list(asked) == ["alpha", "beta", "gamma"]
    assert {worker.spec.max_tokens for worker in asked.values()} == {7}
    assert asked["alpha"].folder == tmp_path

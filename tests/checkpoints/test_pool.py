"""A worker leaves a value head; a policy head is refused by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fugu_lite import checkpoints
from fugu_lite.checkpoints import Checkpoint
from fugu_lite.checkpoints.pool import remove
from fugu_lite.errors import MismatchError
from fugu_lite.heads import Labels, ValueHeadSpec
from fugu_lite.heads.ridge import RidgeHead

Make = Callable[..., Checkpoint]


def test_a_removed_worker_is_never_chosen_and_the_rest_predict_as_before(make: Make, tmp_path: Path) -> None:
    base, rng = make(), np.random.default_rng(3)
    x, names = rng.normal(size=(60, 16)), base.manifest.worker_ids
    told = Labels(names, ("reward",), rng.uniform(size=(60, 3)) + np.array([1.0, 0.0, 0.0]))
    head = RidgeHead.fit(ValueHeadSpec(type="ridge", penalty=1.0), x, told, rng)
    manifest = base.manifest.model_copy(
        update={"head": head.spec, "comparator": "math", "fixed_order": ("math", "general", "code")}
    )
    checkpoints.save(tmp_path / "value", manifest, head, base.normaliser)
    before = checkpoints.load(tmp_path / "value")
    assert before.router().decide("What is 2 + 3?").worker_id == "math"
    remove(before, "math", tmp_path / "fewer")
    after = checkpoints.load(tmp_path / "fewer")
    assert after.manifest.worker_ids == ("code", "general")
    assert (after.manifest.comparator, after.manifest.fixed_order) == ("general", ("general", "code"))
    assert after.manifest.name != before.manifest.name
    np.testing.assert_allclose(after.head.scores(x), before.head.scores(x)[:, 1:], rtol=1e-6)
    assert "math" not in after.router().decide("What is 2 + 3?").ranking
    with pytest.raises(MismatchError, match="no worker 'poet'"):
        remove(before, "poet", tmp_path / "none")


def test_a_policy_head_is_refused_by_name(make: Make, tmp_path: Path) -> None:
    with pytest.raises(MismatchError, match=r"'linear' is a policy head.*train-value"):
        remove(make(), "math", tmp_path / "none")

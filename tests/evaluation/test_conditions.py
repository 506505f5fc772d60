from types import SimpleNamespace
from typing import cast

import pytest

from fugu_lite.checkpoints import Manifest
from fugu_lite.checkpoints.manifest import WorkerEntry
from fugu_lite.errors import MismatchError
from fugu_lite.evaluation import conditions
from fugu_lite.rewards.provenance import Provenance

ENTRY = WorkerEntry(id="a", conditions="x", sampling={"max_tokens": 100, "temperature": 0.0})
MANIFEST = cast(Manifest, SimpleNamespace(workers=(ENTRY, WorkerEntry(id="b")), graders={"exact": 1}))


def test_same_or_unrecorded_conditions_pass() -> None:
    assert conditions.check(MANIFEST, Provenance(), allow=False) == []
    assert conditions.check(MANIFEST, Provenance(conditions={"a": "x", "b": "y"}, graders={"exact": 1}), False) == []


def test_other_conditions_are_refused_by_name_unless_allowed() -> None:
    now = Provenance(
        conditions={"a": "y"}, sampling={"a": {"max_tokens": 50, "temperature": 0.0}}, graders={"exact": 2}
    )
    with pytest.raises(MismatchError, match=r"max_tokens was 100, is 50.*--allow-condition-mismatch"):
        conditions.check(MANIFEST, now, allow=False)
    assert len(conditions.check(MANIFEST, now, allow=True)) == 2

"""From calls to rewards: attempts are facts, everything else is a pure function of them."""

from fugu_lite.rewards.attempts import Attempt, AttemptLog
from fugu_lite.rewards.build import matrix_from_attempts, rebuild
from fugu_lite.rewards.collect import CollectSummary, collect, dry_run
from fugu_lite.rewards.matrix import RewardMatrix
from fugu_lite.rewards.options import CollectOptions
from fugu_lite.rewards.publish import publish
from fugu_lite.rewards.regrade import regrade
from fugu_lite.rewards.utility import utility

__all__ = [
    "Attempt",
    "AttemptLog",
    "CollectOptions",
    "CollectSummary",
    "RewardMatrix",
    "collect",
    "dry_run",
    "matrix_from_attempts",
    "publish",
    "rebuild",
    "regrade",
    "utility",
]

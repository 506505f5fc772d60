"""Judge policies against measured rewards, with baselines on the same rows and intervals on every claim."""

from fugu_lite.evaluation.metrics import evaluate
from fugu_lite.evaluation.policy import Policy
from fugu_lite.evaluation.results import Evaluation

__all__ = ["Evaluation", "Policy", "evaluate"]

"""Graders: one file per kind, `graders/numeric.py` is `{"type": "numeric"}`."""

from fugu_lite.graders.contract import Grade, Grader, GradingServices, build, registry

__all__ = ["Grade", "Grader", "GradingServices", "build", "registry"]

"""Engines: where many calls run. One contract, `local` runs them on the event loop."""

from fugu_lite.engines.contract import Engine, Lane
from fugu_lite.engines.local import LocalEngine

__all__ = ["Engine", "Lane", "LocalEngine"]

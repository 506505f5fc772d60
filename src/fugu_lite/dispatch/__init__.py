"""Dispatch: route a request, call the chosen worker, fall back along the ranking."""

from fugu_lite.dispatch.dispatcher import Direct, Dispatcher

__all__ = ["Direct", "Dispatcher"]

"""Serving: one OpenAI-compatible endpoint in front of any set of completers (extra `serve`)."""

from fugu_lite.serving.app import create_app
from fugu_lite.serving.run import check_bind, keys_from_environment, serve

__all__ = ["check_bind", "create_app", "keys_from_environment", "serve"]

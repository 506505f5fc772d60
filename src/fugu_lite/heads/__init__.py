"""Heads: one file per kind. A vector in, one number per worker out."""

from fugu_lite.heads.contract import Head, HeadSpec, PolicyHead, registry

__all__ = ["Head", "HeadSpec", "PolicyHead", "registry"]

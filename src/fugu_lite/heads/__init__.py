"""Heads: one file per kind. A vector in, one number per worker out."""

from fugu_lite.heads.contract import Head, HeadSpec, PolicyHead, registry
from fugu_lite.heads.values import Labels, ValueHead, ValueHeadSpec

__all__ = ["Head", "HeadSpec", "Labels", "PolicyHead", "ValueHead", "ValueHeadSpec", "registry"]

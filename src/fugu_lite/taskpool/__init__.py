"""A balanced pool of tasks, from local copies of public sources: one file per source."""

from fugu_lite.taskpool.build import Pool, SourceRow, build, shares_of
from fugu_lite.taskpool.contract import Draft, Facts, Item, Source, registry

__all__ = ["Draft", "Facts", "Item", "Pool", "Source", "SourceRow", "build", "registry", "shares_of"]

"""Workers: one file per kind. A pool is a YAML file of them."""

from fugu_lite.workers.contract import Capabilities, Price, Worker, WorkerSpec, registry
from fugu_lite.workers.pool import CollectionSpec, Pool, PoolSpec, UtilitySpec

__all__ = [
    "Capabilities",
    "CollectionSpec",
    "Pool",
    "PoolSpec",
    "Price",
    "UtilitySpec",
    "Worker",
    "WorkerSpec",
    "registry",
]

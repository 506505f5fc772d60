"""fugu-lite: measure a pool of language models, learn which one should answer, and prove whether it pays.

The names in `__all__` are the library. Each is imported when first used, so that `import fugu_lite` is quick.
"""

import importlib
from typing import Any

__version__ = "0.1.0"

_PUBLIC = {
    "BanditSpec": "trainers.bandit:BanditSpec",
    "ChatRequest": "chat:ChatRequest",
    "Checkpoint": "checkpoints:Checkpoint",
    "CollectOptions": "rewards:CollectOptions",
    "Decision": "router:Decision",
    "Dispatcher": "dispatch:Dispatcher",
    "EmbedderSpec": "embeddings:EmbedderSpec",
    "EsSpec": "trainers.es:EsSpec",
    "Evaluation": "evaluation:Evaluation",
    "FuguLiteError": "errors:FuguLiteError",
    "HeadSpec": "heads:HeadSpec",
    "Policy": "evaluation:Policy",
    "Pool": "workers:Pool",
    "RewardMatrix": "rewards:RewardMatrix",
    "Router": "router:Router",
    "SftSpec": "trainers.sft:SftSpec",
    "Store": "store:Store",
    "Task": "tasks:Task",
    "Trained": "trainers.pipeline:Trained",
    "UtilitySpec": "workers:UtilitySpec",
    "collect": "rewards:collect",
    "create_app": "serving:create_app",
    "evaluate": "evaluation:evaluate",
    "load_checkpoint": "checkpoints:load",
    "load_matrix": "rewards.matrix:load",
    "load_tasks": "tasks:load",
    "train": "trainers.train:train",
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'fugu_lite' has no attribute {name!r}")
    module, _, attribute = _PUBLIC[name].partition(":")
    value = getattr(importlib.import_module(f"fugu_lite.{module}"), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

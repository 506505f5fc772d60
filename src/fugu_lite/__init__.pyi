"""The types of the public names; `__init__.py` imports them lazily."""

from fugu_lite.chat import ChatRequest as ChatRequest
from fugu_lite.checkpoints import Checkpoint as Checkpoint
from fugu_lite.checkpoints import load as load_checkpoint
from fugu_lite.dispatch import Dispatcher as Dispatcher
from fugu_lite.embeddings import EmbedderSpec as EmbedderSpec
from fugu_lite.errors import FuguLiteError as FuguLiteError
from fugu_lite.evaluation import Evaluation as Evaluation
from fugu_lite.evaluation import Policy as Policy
from fugu_lite.evaluation import evaluate as evaluate
from fugu_lite.heads import HeadSpec as HeadSpec
from fugu_lite.rewards import CollectOptions as CollectOptions
from fugu_lite.rewards import RewardMatrix as RewardMatrix
from fugu_lite.rewards import collect as collect
from fugu_lite.rewards.matrix import load as load_matrix
from fugu_lite.router import Decision as Decision
from fugu_lite.router import Router as Router
from fugu_lite.serving import create_app as create_app
from fugu_lite.store import Store as Store
from fugu_lite.tasks import Task as Task
from fugu_lite.tasks import load as load_tasks
from fugu_lite.trainers.bandit import BanditSpec as BanditSpec
from fugu_lite.trainers.es import EsSpec as EsSpec
from fugu_lite.trainers.pipeline import Trained as Trained
from fugu_lite.trainers.sft import SftSpec as SftSpec
from fugu_lite.trainers.train import train as train
from fugu_lite.workers import Pool as Pool
from fugu_lite.workers import UtilitySpec as UtilitySpec

__version__: str
__all__ = [
    "BanditSpec",
    "ChatRequest",
    "Checkpoint",
    "CollectOptions",
    "Decision",
    "Dispatcher",
    "EmbedderSpec",
    "EsSpec",
    "Evaluation",
    "FuguLiteError",
    "HeadSpec",
    "Policy",
    "Pool",
    "RewardMatrix",
    "Router",
    "SftSpec",
    "Store",
    "Task",
    "Trained",
    "UtilitySpec",
    "__version__",
    "collect",
    "create_app",
    "evaluate",
    "load_checkpoint",
    "load_matrix",
    "load_tasks",
    "train",
]

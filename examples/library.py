"""The library in ten lines: a measured matrix in, a judged router out. Needs no weights, no key and no network."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import fugu_lite as fl

matrix = fl.load_matrix(Path("data/snapshot/rewards.jsonl"))
test, known = matrix.split("test"), matrix.rows([task.split != "test" for task in matrix.tasks])
with TemporaryDirectory() as folder:
    spec = fl.EsSpec(backbone=fl.EmbedderSpec(type="hashing"), generations=30)
    trained = fl.train(matrix, Path(folder), spec)
    router = fl.load_checkpoint(trained.folder).router()
policy = fl.Policy.from_probabilities("router", test.worker_ids, router.probabilities(test.prompts))
result = fl.evaluate(policy, test, trained.manifest.comparator, np.random.default_rng(0), fit=known)
print(f"router {result.headline.router_utility:.3f}, best fixed {result.headline.best_fixed_utility:.3f}")
print(router.decide("What is 12 times 12?").ranking)

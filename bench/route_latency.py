"""What `Router.decide` adds to the forward pass that it cannot do without."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bench._models import spec, texts_of
from bench.measure import Result, Row, interleaved, median_cpu_s, median_wall_s, one_thread
from fugu_lite.embeddings.loading import load
from fugu_lite.embeddings.normalise import Normaliser
from fugu_lite.embeddings.transformers import TransformersEmbedder
from fugu_lite.heads import HeadSpec
from fugu_lite.heads.linear import LinearHead
from fugu_lite.router import Router

TOKENS, WORKERS, LIMIT = 128, 5, 1.15


def run(quick: bool = False) -> Result:
    """Compare a decision from text with the bare forward pass of the same layers on the same ids.

    Raises:
        MissingWeightsError, MissingExtraError: if the default backbone cannot be run here.
    """
    embedder = TransformersEmbedder(spec())
    text = texts_of(embedder, TOKENS, 1)[0]  # loads the model
    with one_thread():
        rows = (compared(routed(embedder), bare(embedder, text), text, 3 if quick else 41),)
    return Result("route_latency", "Router.decide / bare forward pass of the same layers", rows, quick)


def compared(router: Router, forward: Callable[[], object], text: str, repetitions: int) -> Row:
    """Return the ratio of the medians."""
    works: dict[str, Callable[[], object]] = {"decide": lambda: router.decide(text), "forward": forward}
    taken = interleaved(works, repetitions, warmup=2)
    ratio = median_cpu_s(taken["decide"]) / median_cpu_s(taken["forward"])
    details = {f"{name}_cpu_ms": 1000 * median_cpu_s(samples) for name, samples in taken.items()}
    details |= {f"{name}_wall_ms": 1000 * median_wall_s(samples) for name, samples in taken.items()}
    claim = f"p50 at {TOKENS} tokens: decide (text to decision) / forward pass (ids to hidden states)"
    return Row(claim, ratio, "at most", LIMIT, repetitions, details)


def routed(embedder: TransformersEmbedder) -> Router:
    """Return a router with a random head, not cached: every decision runs the model."""
    rng, dimension = np.random.default_rng(0), embedder.dimension
    names = tuple(f"worker-{index}" for index in range(WORKERS))
    parameters = {"W": rng.standard_normal((dimension, WORKERS)), "b": np.zeros(WORKERS)}
    normaliser = Normaliser.fit(rng.standard_normal((16, dimension)).astype(np.float32))
    return Router(embedder, normaliser, LinearHead(HeadSpec(), names, parameters))


def bare(embedder: TransformersEmbedder, text: str) -> Callable[[], object]:
    """Return the forward pass alone, of a model loaded apart and cut to the same layers."""
    import torch

    model = load(embedder.folder, embedder.spec).model
    ids = torch.tensor(embedder._token_ids([text]))

    def forward() -> object:
        with torch.inference_mode():
            return model(input_ids=ids, use_cache=False)

    return forward

"""The default embedder beside plain transformers on the same GGUF file: text in, vector out, and time to load."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bench._models import PlainModel, spec, texts_of
from bench.measure import Result, Row, Sample, interleaved, median_cpu_s, median_wall_s, one_thread, timed
from fugu_lite import weights
from fugu_lite.embeddings import gguf
from fugu_lite.embeddings.transformers import TransformersEmbedder

LENGTHS, BATCHES = (32, 128, 512), (1, 8)
SPEED_LIMIT, LOAD_LIMIT, COSINE_LIMIT = 1.0, 1.0, 0.999
ROOT = Path(__file__).resolve().parents[1]
SENTENCE = "Which worker should answer this?"


def run(quick: bool = False) -> Result:
    """Measure prompts per second, agreement at the final layer and loading.

    Raises:
        MissingWeightsError, InputError: if the default backbone, or the plain one beside it, cannot be run here.
    """
    ours = TransformersEmbedder(spec())
    ours.embed([SENTENCE])  # loads torch, so that the next line finds it
    with one_thread():
        peer = PlainModel()
        cases = [(tokens, batch) for tokens in (LENGTHS[:1] if quick else LENGTHS) for batch in BATCHES]
        rows = [speed(ours, peer, tokens, batch, 2 if quick else 7) for tokens, batch in cases]
        rows.append(agreement(peer))
        rows += [loading(1 if quick else 5), conversion()]
    return Result("embedding", "default embedder / plain transformers, same GGUF in float32", tuple(rows), quick)


def speed(ours: TransformersEmbedder, peer: PlainModel, tokens: int, batch: int, repetitions: int) -> Row:
    """Compare prompts per CPU second from text to vector. Ours reads the middle layer and stops there."""
    texts = texts_of(ours, tokens, batch)
    works: dict[str, Callable[[], object]] = {"ours": lambda: ours.embed(texts), "peer": lambda: peer.embed(texts)}
    taken = interleaved(works, repetitions)
    ours_s, peer_s = median_cpu_s(taken["ours"]), median_cpu_s(taken["peer"])
    details = {"ours_per_s": batch / ours_s, "peer_per_s": batch / peer_s}
    wall = {"ours_wall_ms": 1000 * median_wall_s(taken["ours"]), "peer_wall_ms": 1000 * median_wall_s(taken["peer"])}
    claim = f"prompts/s at {tokens} tokens, batch of {batch}: ours / plain"
    return Row(claim, peer_s / ours_s, "at least", SPEED_LIMIT, repetitions, details | wall)


def agreement(peer: PlainModel) -> Row:
    """Compare vectors at the final layer: speed must not come from another model."""
    final = TransformersEmbedder(spec(layer="final"))
    texts = texts_of(final, 32, 4)
    ours, plain = final.embed(texts), peer.embed(texts)
    norms = np.linalg.norm(ours, axis=1) * np.linalg.norm(plain, axis=1)
    cosines = (ours * plain).sum(axis=1) / norms
    details = {"mean": float(cosines.mean())}
    claim = "cosine of ours and plain at the final layer, least of the texts"
    return Row(claim, float(cosines.min()), "at least", COSINE_LIMIT, len(texts), details)


def loading(repetitions: int) -> Row:
    """Compare CPU seconds from nothing to the first vector in fresh processes, imports excluded; files are cached."""
    taken: dict[str, list[Sample]] = {"ours": [], "peer": []}
    for _ in range(repetitions):
        for name, samples in taken.items():
            samples.append(loaded_apart(name))
    ours_s, peer_s = median_cpu_s(taken["ours"]), median_cpu_s(taken["peer"])
    wall = {"ours_wall_s": median_wall_s(taken["ours"]), "peer_wall_s": median_wall_s(taken["peer"])}
    claim = "time to the first vector in a fresh process: ours (checksums verified) / plain"
    details = {"ours_cpu_s": ours_s, "peer_cpu_s": peer_s} | wall
    return Row(claim, ours_s / peer_s, "at most", LOAD_LIMIT, repetitions, details)


def loaded_apart(name: str) -> Sample:
    """Load one of the two in a child process and return what it took there."""
    command = [sys.executable, "-m", "bench.embedding", name]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=300)
    return Sample(**json.loads(done.stdout.splitlines()[-1]))


def load_here(name: str) -> Sample:
    """Load one of the two and embed a sentence, after the imports."""
    import torch
    import transformers  # noqa: F401 - imported before the clock starts

    torch.set_num_threads(1)
    loads: dict[str, Callable[[], object]] = {
        "ours": lambda: TransformersEmbedder(spec()).embed([SENTENCE]),
        "peer": lambda: PlainModel().embed([SENTENCE]),
    }
    return timed(loads[name])


def conversion() -> Row:
    """Convert the GGUF file once more: paid at the first load only."""
    with tempfile.TemporaryDirectory() as folder:
        taken = timed(lambda: gguf.convert(weights.path(spec().backbone), Path(folder)))
    claim = "conversion of the GGUF file, once per machine: CPU seconds"
    return Row(claim, taken.cpu_s, n=1, details={"wall_s": taken.wall_s})


if __name__ == "__main__":
    sample = load_here(sys.argv[1])
    print(json.dumps({"cpu_s": sample.cpu_s, "wall_s": sample.wall_s}))

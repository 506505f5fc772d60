"""Text in, decision out: logits worked by hand, masks that renormalise, sizes that must fit."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fugu_lite.embeddings import Embedder, EmbedderSpec
from fugu_lite.embeddings.contract import Features, Progress
from fugu_lite.embeddings.normalise import Normaliser
from fugu_lite.errors import MismatchError
from fugu_lite.heads import HeadSpec
from fugu_lite.heads.linear import LinearHead
from fugu_lite.router import Router

WORKERS = ("math", "code", "general")


class Counting(Embedder):
    """Vector: letters `a` and letters `b` of the text; a text longer than 8 letters is cut."""

    dimension = 2

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> Features:
        return np.array([[text.count("a"), text.count("b")] for text in texts], dtype=np.float32)

    def truncated(self, text: str) -> bool:
        return len(text) > 8


def router(normaliser: Normaliser | None = None) -> Router:
    """Logits of `a` counts n_a, n_b: math n_a, code n_b, general 1."""
    parameters = {"W": np.array([[1.0, 0, 0], [0, 1.0, 0]]), "b": np.array([0.0, 0, 1])}
    head = LinearHead(HeadSpec(), WORKERS, parameters)
    return Router(Counting(EmbedderSpec(type="counting")), normaliser or Normaliser.identity(2), head)


def test_a_decision_worked_by_hand() -> None:
    decision = router().decide("aab")  # logits 2, 1, 1
    total = math.exp(2) + 2 * math.exp(1)
    assert decision.worker_id == "math"
    assert decision.ranking == ("math", "code", "general")  # equal ones in the head's order
    assert list(decision.probabilities) == list(WORKERS)
    assert decision.probabilities["math"] == pytest.approx(math.exp(2) / total)
    assert (decision.reason, decision.truncated) == ("head", False)
    assert router().decide("a" * 9).truncated


def test_a_mask_renormalises_and_keeps_the_order() -> None:
    decision = router().decide("aab", {"general", "code", "unknown"})
    assert decision.ranking == ("code", "general")
    assert decision.probabilities == pytest.approx({"code": 0.5, "general": 0.5})


def test_a_mask_over_workers_of_probability_zero_still_decides() -> None:
    decision = router().decide("a" * 2000, {"code", "general"})  # exp(-2000) is 0
    assert decision.probabilities == {"code": 0.5, "general": 0.5}
    assert decision.worker_id == "code"


@given(st.text("abc", max_size=12), st.sets(st.sampled_from(WORKERS), min_size=1))
def test_probabilities_sum_to_one_and_rank_the_workers(text: str, allowed: set[str]) -> None:
    decision = router().decide(text, allowed)
    assert set(decision.ranking) == set(decision.probabilities) == allowed
    assert sum(decision.probabilities.values()) == pytest.approx(1.0)
    ranked = [decision.probabilities[name] for name in decision.ranking]
    assert ranked == sorted(ranked, reverse=True)
    assert decision.worker_id == decision.ranking[0]


def test_nobody_allowed_is_refused_by_name() -> None:
    with pytest.raises(MismatchError, match=r"none of the allowed workers.*the head knows math, code, general"):
        router().decide("a", {"poet"})
    with pytest.raises(MismatchError, match="none of the allowed"):
        router().decide("a", ())


def test_another_dimension_is_refused() -> None:
    with pytest.raises(MismatchError, match=r"gives 2 numbers but the head was trained on 3"):
        router(Normaliser.identity(3))


def test_features_are_normalised_before_the_head() -> None:
    normaliser = Normaliser(np.array([1, 1], dtype=np.float32), np.array([2, 1], dtype=np.float32))
    assert router(normaliser).features(["aaab"]).tolist() == [[1.0, 0.0]]
    assert router(normaliser).probabilities(["aaab"]).shape == (1, 3)


def test_a_decision_as_json() -> None:
    told = router().decide("b").to_json()
    assert set(told) == {"worker_id", "probabilities", "ranking", "reason", "truncated", "novelty"}
    assert told["ranking"] == ["code", "general", "math"]  # logits 0, 1, 1

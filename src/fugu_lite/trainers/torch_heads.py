"""A policy head as a torch module, for the trainers that follow a gradient, and back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fugu_lite.errors import MismatchError, MissingExtraError
from fugu_lite.heads import PolicyHead
from fugu_lite.heads.linear import EPSILON

try:
    import torch
    from torch import Tensor, nn
    from torch.optim.adamw import adamw
except ImportError as error:
    raise MissingExtraError("training by gradient", "local") from error

__all__ = ["AdamW", "Tensor", "TorchPolicy", "single_thread", "torch"]

KNOWN = frozenset({"W", "b", "W1", "b1", "norm_scale", "norm_shift"})
DECAYED = frozenset({"W", "W1"})


class TorchPolicy(nn.Module):
    """The same function as the head it was made from, in float32 on the CPU.

    Args:
        head: a `linear` or `mlp` head; its parameters are copied.

    Raises:
        MismatchError: for a head with parameters that this module cannot compute with.
    """

    def __init__(self, head: PolicyHead) -> None:
        super().__init__()
        unknown = sorted(head.parameters.keys() - KNOWN)
        if unknown:
            raise MismatchError(f"head {head.kind!r}", f"no gradient is known for {unknown}", "train it with train-es")
        self.head = head
        self.values = nn.ParameterDict(
            {name: torch.from_numpy(value.copy()) for name, value in head.parameters.items()}
        )

    def forward(self, features: Tensor) -> Tensor:
        """Return (tasks, workers) logits of (tasks, dimension) features."""
        p, x = self.values, features
        if "norm_scale" in p:
            x = nn.functional.layer_norm(x, x.shape[1:], p["norm_scale"], p["norm_shift"], EPSILON)
        if "W1" in p:
            x = nn.functional.gelu(x @ p["W1"] + p["b1"])
        logits: Tensor = x @ p["W"] + p["b"]
        return logits

    def penalty(self) -> Tensor:
        """Return sum over weight matrices of inputs * |W|^2 / 2, a scalar."""
        matrices = [value for name, value in self.values.items() if name in DECAYED]
        return torch.stack([value.shape[0] * value.square().sum() / 2 for value in matrices]).sum()

    def to_head(self) -> PolicyHead:
        """Return a numpy head with the current parameters."""
        parameters = {name: value.detach().numpy().copy() for name, value in self.values.items()}
        return type(self.head)(self.head.spec, self.head.worker_ids, parameters)


class AdamW:
    """AdamW on a policy: matrices decay, biases and norms do not.

    It calls torch's own update function. The class `torch.optim.AdamW` would import the compiler at its first step,
    which takes longer than training a head does.
    """

    def __init__(self, model: TorchPolicy, learning_rate: float, weight_decay: float) -> None:
        self.learning_rate, self.weight_decay = learning_rate, weight_decay
        named = list(model.values.items())
        self.groups = [[p for n, p in named if n in DECAYED], [p for n, p in named if n not in DECAYED]]
        self.first, self.second = ([[torch.zeros_like(p) for p in g] for g in self.groups] for _ in range(2))
        self.counts = [[torch.zeros(()) for _ in group] for group in self.groups]

    @torch.no_grad()
    def step(self, loss: Tensor) -> None:
        """Follow the gradient of a loss once."""
        every = [p for group in self.groups for p in group]
        gradients = dict(zip(every, torch.autograd.grad(loss, every), strict=True))
        for i, group in enumerate(self.groups):
            adamw(
                group,
                [gradients[p] for p in group],
                self.first[i],
                self.second[i],
                [],
                self.counts[i],
                foreach=False,
                amsgrad=False,
                beta1=0.9,
                beta2=0.999,
                lr=self.learning_rate,
                weight_decay=self.weight_decay if i == 0 else 0.0,
                eps=1e-8,
                maximize=False,
            )


@contextmanager
def single_thread() -> Iterator[None]:
    """Run torch on one thread: sums then have one order, and a run repeats byte for byte."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)

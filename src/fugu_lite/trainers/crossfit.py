"""Cross-fitting: every row is scored by a head that did not see it, nor any row of its group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray


def folds_of(rows: int, groups: Sequence[str], count: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return (rows,) the fold of each row; groups stay whole, and folds are filled as evenly as they allow.

    Args:
        rows: how many.
        groups: group of each row; empty = every row by itself.
        count: folds, fewer when there are fewer groups.
        rng: order in which groups are dealt.
    """
    names = list(groups) or [str(i) for i in range(rows)]
    distinct, which, sizes = np.unique(np.array(names), return_inverse=True, return_counts=True)
    count = max(1, min(count, len(distinct)))
    shuffled = rng.permutation(len(distinct))
    order = shuffled[np.argsort(-sizes[shuffled], kind="stable")]
    if sizes.max() == 1:
        fold = np.empty(len(distinct), dtype=np.intp)
        fold[order] = np.arange(len(distinct)) % count
        return fold[which.ravel()]
    loads, fold = np.zeros(count), np.empty(len(distinct), dtype=np.intp)
    for number in order:
        lightest = int(loads.argmin())
        fold[number] = lightest
        loads[lightest] += sizes[number]
    return fold[which.ravel()]


def held_out(fold: NDArray[np.intp]) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield (fitted rows, held-out rows) per fold."""
    for number in range(int(fold.max()) + 1):
        yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)

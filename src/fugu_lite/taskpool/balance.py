"""Choosing some of many candidates so that every value of a key is met as evenly as there are candidates."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")
Key = Callable[[T], str]


def water_fill(sizes: Mapping[str, int], total: int, seed: int = 0) -> dict[str, int]:
    """Share `total` out equally; what a small one cannot take goes to the others.

    Args:
        sizes: how many each can take at most.
        total: how many are to be given.
        seed: decides who gets what does not divide.
    """
    shares: dict[str, int] = {}
    left = min(total, sum(sizes.values()))
    for n, name in enumerate(sorted(sizes, key=lambda name: (sizes[name], ranked(seed, name)))):
        shares[name] = min(sizes[name], left // (len(sizes) - n))
        left -= shares[name]
    return shares


def spread(items: Sequence[T], size: int, keys: Sequence[Key[T]], name: Key[T], seed: int) -> list[T]:
    """Return `size` of the items, spread over the first key, within it over the second, and so on; then at random.

    Args:
        items: to choose from.
        size: how many; all where there are fewer.
        keys: most important first.
        name: an item's own name; with the seed it decides, whatever the order of the items.
        seed: the same seed gives the same choice.
    """
    if size >= len(items):
        return list(items)
    if not keys:
        return sorted(items, key=lambda item: ranked(seed, name(item)))[: max(size, 0)]
    groups: dict[str, list[T]] = defaultdict(list)
    for item in items:
        groups[keys[0](item)].append(item)
    shares = water_fill({value: len(group) for value, group in groups.items()}, size, seed)
    return [item for value in sorted(groups) for item in spread(groups[value], shares[value], keys[1:], name, seed)]


def ranked(seed: int, name: str) -> str:
    """Return a place in a random order that depends on the seed and the name alone."""
    return hashlib.sha256(f"{seed}:{name}".encode()).hexdigest()

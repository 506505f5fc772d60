"""Kind name -> class. Built-in kinds are files, imported on demand; other packages add kinds by entry point."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any, Generic, TypeVar

from fugu_lite.errors import UnknownKindError

T = TypeVar("T")


class Registry(Generic[T]):
    """The kinds of one family.

    Args:
        family: what the kinds are, for messages: `grader`, `worker`, ...
        builtin: kind name -> `module:attribute`, imported when first asked for.
        group: entry-point group in which other packages register kinds.
    """

    def __init__(self, family: str, builtin: Mapping[str, str], group: str) -> None:
        self.family, self.group = family, group
        self._builtin = frozenset(builtin)
        self._targets = dict(builtin)
        self._loaded: dict[str, T] = {}
        self._scanned = False

    def names(self) -> list[str]:
        """Return every known kind, sorted."""
        self._scan()
        return sorted(self._targets.keys() | self._loaded.keys())

    def shipped(self) -> list[str]:
        """Return the built-in kinds only, sorted: what this package itself promises to keep."""
        return sorted(self._builtin)

    def register(self, name: str, value: T) -> T:
        """Add a kind from running code (tests, notebooks)."""
        self._loaded[name] = value
        return value

    def get(self, name: str, where: str = "") -> T:
        """Return the class of a kind.

        Raises:
            UnknownKindError: with the nearest known name.
        """
        if name not in self._loaded:
            if name not in self._targets:
                self._scan()
            if name not in self._targets:
                raise UnknownKindError(where or self.family, f"unknown {self.family} type {name!r}", self._hint(name))
            self._loaded[name] = self._import(self._targets[name])
        return self._loaded[name]

    def _hint(self, name: str) -> str:
        near = difflib.get_close_matches(name, self.names(), n=1)
        return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(self.names())}"

    def _scan(self) -> None:
        """Read entry points once; a built-in name always wins."""
        if not self._scanned:
            self._scanned = True
            for point in entry_points(group=self.group):
                self._targets.setdefault(point.name, point.value)

    @staticmethod
    def _import(target: str) -> Any:
        module, _, attribute = target.partition(":")
        return getattr(importlib.import_module(module), attribute)

"""Kinds by name."""

import pytest

from fugu_lite.errors import UnknownKindError
from fugu_lite.registry import Registry


def made() -> Registry[object]:
    return Registry("shape", {"path": "pathlib:Path", "missing": "no_such_module:X"}, "fugu_lite.no_such_group")


def test_a_builtin_is_imported_when_asked_for() -> None:
    from pathlib import Path

    assert made().get("path") is Path
    with pytest.raises(ModuleNotFoundError):
        made().get("missing")


def test_registered_kinds_are_listed() -> None:
    kinds = made()
    assert kinds.register("mine", 5) == 5
    assert kinds.get("mine") == 5
    assert kinds.names() == ["mine", "missing", "path"]


def test_an_unknown_kind_names_the_nearest() -> None:
    with pytest.raises(UnknownKindError, match=r"worker 'a': unknown shape type 'pth'; did you mean 'path'\?"):
        made().get("pth", "worker 'a'")
    with pytest.raises(LookupError, match="shape: unknown shape type 'zzzz'; known: missing, path"):
        made().get("zzzz")

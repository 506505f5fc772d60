"""Configuration: one frozen pydantic model is the flag, the YAML key and the object itself.

A file is read with its line numbers, so that an error can say `train_sft.yaml:7` and name the nearest key.
"""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self, TypeVar

import orjson
import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from fugu_lite.errors import SpecError

Location = tuple[str | int, ...]
S = TypeVar("S", bound="Spec")


class Spec(BaseModel):
    """Base of every configuration object: immutable, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())

    def digest(self) -> str:
        """Return a short hash of the resolved values (hex, 12 characters)."""
        return digest_of(self.model_dump(mode="json"))

    @classmethod
    def parse(cls, data: Mapping[str, Any], where: str = "configuration") -> Self:
        """Validate `data`.

        Raises:
            SpecError: naming the key, what was found and the nearest known key.
        """
        return validate(cls, data, where, {})


def digest_of(value: Any) -> str:
    """Return a short, order-independent hash of a JSON-like value (hex, 12 characters)."""
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()[:12]


def read_yaml(path: Path) -> tuple[Any, dict[Location, int]]:
    """Read a YAML or JSON file and the line of every key and item.

    Raises:
        SpecError: if the file is missing, is not valid YAML, or repeats a key.
    """
    try:
        text = path.read_text(encoding="utf-8")
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        data = yaml.safe_load(text)
    except FileNotFoundError:
        raise SpecError(str(path), "no such file", "check the path, or copy the shipped example") from None
    except IsADirectoryError:
        raise SpecError(str(path), "is a folder, not a file") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark else str(path)
        raise SpecError(where, f"not valid YAML: {getattr(error, 'problem', error)}") from None
    lines: dict[Location, int] = {}
    if node is not None:
        _locate(node, (), lines, path)
    return data, lines


def _locate(node: yaml.Node, at: Location, lines: dict[Location, int], path: Path) -> None:
    """Record the line of `node` and of everything below it."""
    lines.setdefault(at, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            here = (*at, str(key.value))
            if here in lines:
                raise SpecError(f"{path}:{key.start_mark.line + 1}", f"key {key.value!r} appears twice")
            lines[here] = key.start_mark.line + 1
            _locate(value, here, lines, path)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            _locate(value, (*at, index), lines, path)


def validate(spec: type[S], data: Any, where: str, lines: Mapping[Location, int]) -> S:
    """Build `spec` from plain data, turning the first problem into a `SpecError` with a place and a fix."""
    try:
        return spec.model_validate(data if data is not None else {})
    except ValidationError as error:
        first = error.errors()[0]
        location: Location = tuple(first["loc"])
        line = next((lines[location[:n]] for n in range(len(location), -1, -1) if location[:n] in lines), None)
        place = f"{where}:{line}" if line is not None else where
        name = ".".join(str(part) for part in location) or "the document"
        if first["type"] == "extra_forbidden":
            near = difflib.get_close_matches(str(location[-1]), known_keys(spec, location[:-1]), n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(known_keys(spec, location[:-1]))}"
            raise SpecError(place, f"unknown key {name!r}", hint) from None
        found = "" if first["type"] == "missing" else f", found {first['input']!r}"
        raise SpecError(place, f"{name}: {first['msg']}{found}") from None


def known_keys(spec: type[BaseModel], location: Location) -> list[str]:
    """Return the field names allowed at `location` inside `spec`."""
    current: type[BaseModel] = spec
    for part in location:
        field = current.model_fields.get(str(part))
        inner = _inner_model(field.annotation) if field else None
        current = inner or current
    return sorted(current.model_fields)


def _inner_model(annotation: Any) -> type[BaseModel] | None:
    """Find the pydantic model inside an annotation such as `list[WorkerSpec] | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    found = (_inner_model(part) for part in getattr(annotation, "__args__", ()))
    return next((model for model in found if model is not None), None)


def load(spec: type[S], path: Path | None, overrides: BaseModel | Mapping[str, Any] | None = None) -> S:
    """Resolve a spec: defaults, then the file, then what the user set by flag.

    Args:
        spec: the spec class.
        path: YAML or JSON file; None uses the defaults.
        overrides: a mapping, or a model of which only the explicitly set fields count.
    """
    data, lines = read_yaml(path) if path is not None else ({}, {})
    if data is not None and not isinstance(data, dict):
        raise SpecError(str(path), f"expected a mapping of keys, found {type(data).__name__}")
    changes = overrides.model_dump(exclude_unset=True) if isinstance(overrides, BaseModel) else overrides
    return validate(spec, _merged(data or {}, changes or {}), str(path or "flags"), lines)


def _merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return `base` updated by `changes`, nested mappings merged key by key."""
    result = dict(base)
    for key, value in changes.items():
        old = result.get(key)
        result[key] = _merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return result

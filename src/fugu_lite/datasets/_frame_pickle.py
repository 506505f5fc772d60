"""Reads the pickle of a pandas table without pandas, and without running anything that the file names.

A pickle is a program: it names classes and calls them. Here every name that a table needs stands for an inert class
of this file; nothing is imported, and any other name is refused. Arrays are rebuilt from plain bytes by numpy, object
arrays from the list that the file holds. A hostile file can still ask for memory; read it under a limit.
"""

from __future__ import annotations

import pickle  # read through `_Reader` alone
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fugu_lite.errors import DataError

PLAIN = frozenset({"b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"})


class _Inert:
    """Holds what the file gives it."""

    def __init__(self, *given: Any, **named: Any) -> None:
        self.given, self.named = given, named
        self.state: Any = None

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _Dtype(_Inert):
    """`numpy.dtype('f8', False, True)`; its state may say the byte order."""

    @property
    def code(self) -> str:
        """Kind and size, e.g. `f8`; `O` for objects."""
        return str(self.given[0]).lstrip("<>=|")

    @property
    def order(self) -> str:
        """Byte order."""
        said = self.state[1] if isinstance(self.state, tuple) and len(self.state) > 1 else "<"
        return said if said in ("<", ">") else "<"


class _Array(_Inert):
    """An array that is built empty and then gets `(version, shape, dtype, by columns, data)`."""

    def parts(self) -> tuple[Any, Any, Any, str]:
        """Return data, dtype, shape and order."""
        _, shape, dtype, by_columns, data = self.state
        return data, dtype, shape, "F" if by_columns else "C"


class _Buffer(_Array):
    """`_frombuffer(data, dtype, shape, order)`."""

    def parts(self) -> tuple[Any, Any, Any, str]:
        """Return data, dtype, shape and order."""
        data, dtype, shape, order = self.given
        return data, dtype, shape, order


class _Scalar(_Inert):
    """`scalar(dtype, data)`."""


class _Backed(_Inert):
    """`__pyx_unpickle_NDArrayBacked(class, checksum, state)`: an array of texts of newer versions."""


class _Block(_Inert):
    """`_unpickle_block(values, rows of the table's columns, dimensions)`."""


class _Manager(_Inert):
    """`BlockManager(blocks, axes)`, or empty with a state of older versions."""


class _Index(_Inert):
    """`_new_Index(class, {"data": ..., "name": ...})`."""


class _Frame(_Inert):
    """The table."""


class _Name(_Inert):
    """A class that is only named, as an argument."""


class _Slice(_Inert):
    """`slice(start, stop, step)`."""


class _Text(_Inert):
    """`_codecs.encode(text, "latin1")`: bytes of old protocols."""


STAND_INS: Mapping[tuple[str, str], type[_Inert]] = {
    ("builtins", "slice"): _Slice,
    ("__builtin__", "slice"): _Slice,
    ("_codecs", "encode"): _Text,
    ("numpy", "dtype"): _Dtype,
    ("numpy", "ndarray"): _Name,
    **{
        (f"numpy.{core}.{module}", name): stand_in
        for core in ("core", "_core")
        for module, name, stand_in in (
            ("multiarray", "_reconstruct", _Array),
            ("multiarray", "scalar", _Scalar),
            ("numeric", "_frombuffer", _Buffer),
        )
    },
    ("pandas", "DataFrame"): _Frame,
    ("pandas.core.frame", "DataFrame"): _Frame,
    ("pandas.core.internals.managers", "BlockManager"): _Manager,
    ("pandas._libs.internals", "_unpickle_block"): _Block,
    ("pandas.core.indexes.base", "_new_Index"): _Index,
    **{(f"pandas.core.indexes.{module}", name): _Name for module, name in (("base", "Index"), ("range", "RangeIndex"))},
    **{("pandas", name): _Name for name in ("Index", "RangeIndex", "StringDtype")},
    ("pandas.core.indexes.numeric", "Int64Index"): _Name,
    ("pandas.arrays", "StringArray"): _Name,
    ("pandas._libs.arrays", "__pyx_unpickle_NDArrayBacked"): _Backed,
}


class _Reader(pickle.Unpickler):
    """Knows the names of a table and refuses every other one, before anything is called."""

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        """Return the stand-in of a name; nothing is imported."""
        found = STAND_INS.get((module_name, global_name))
        if found is None:
            raise pickle.UnpicklingError(f"it asks for {module_name}.{global_name}")
        return found

    def persistent_load(self, pid: Any) -> Any:
        """Refuse references to things outside the file."""
        raise pickle.UnpicklingError(f"it refers to {pid!r}")


def columns(path: Path) -> dict[str, list[Any]]:
    """Return column name -> values of a pickled pandas table.

    Raises:
        DataError: if the file asks for a name that a table does not need, or holds something else.
    """
    fix = "open it where you trust it, and write the table as CSV or parquet"
    try:
        with path.open("rb") as file:
            found = _Reader(file).load()
        if not isinstance(found, _Frame):
            raise DataError(str(path), f"holds {type(found).__name__}, not a table", fix)
        return _columns(found)
    except DataError:
        raise
    except Exception as error:  # whatever a broken or hostile program leads to
        raise DataError(str(path), f"is not a plain pandas table: {error}", fix) from None


def _columns(frame: _Frame) -> dict[str, list[Any]]:
    manager = frame.state.get("_mgr", frame.state.get("_data"))
    if manager.given:
        blocks, axes = manager.given
        pairs = [(block.given[0], block.given[1]) for block in blocks]
    else:
        old = manager.state[3]["0.14.1"]
        axes, pairs = old["axes"], [(block["values"], block["mgr_locs"]) for block in old["blocks"]]
    names = [str(name) for name in _labels(axes[0])]
    table: dict[int, list[Any]] = {}
    for values, places in pairs:
        array = _values(values)
        for row, place in zip(array if array.ndim == 2 else [array], _places(places, len(names)), strict=True):
            table[place] = list(row.tolist())
    if len(set(names)) != len(names) or sorted(table) != list(range(len(names))):
        raise ValueError("its columns do not add up")
    return {name: table[place] for place, name in enumerate(names)}


def _labels(index: _Index) -> list[Any]:
    return list(_values(index.given[1]["data"]).tolist())


def _places(places: Any, size: int) -> list[int]:
    if isinstance(places, _Slice):
        return list(range(size))[slice(*(None if part is None else int(part) for part in places.given))]
    return [int(place) for place in _values(places).tolist()]


def _values(array: Any) -> NDArray[Any]:
    """Build an array from plain bytes, or from a list of objects; texts of newer versions are one."""
    if isinstance(array, _Backed):
        state = array.state if array.state is not None else array.given[2]
        return _values(next(part for part in state if isinstance(part, _Array)))
    data, dtype, shape, order = array.parts()
    shape = tuple(int(length) for length in shape)
    if dtype.code in ("O", "O8", "object"):
        if not isinstance(data, list):
            raise ValueError("an object array is not a list")
        found = np.empty(len(data), dtype=object)
        found[:] = [_value(item) for item in data]
        return found.reshape(shape, order="F" if order == "F" else "C")
    if dtype.code not in PLAIN:
        raise ValueError(f"arrays of {dtype.code!r} are not read")
    raw = data.given[0].encode("latin1") if isinstance(data, _Text) else bytes(data)
    return np.frombuffer(raw, dtype.order + dtype.code).reshape(shape, order="F" if order == "F" else "C")


def _value(item: Any) -> Any:
    """Return a cell: plain values as they are, a numpy number as a number."""
    if isinstance(item, _Scalar):
        dtype, data = item.given
        raw = data.given[0].encode("latin1") if isinstance(data, _Text) else data
        if dtype.code not in PLAIN:
            raise ValueError(f"numbers of {dtype.code!r} are not read")
        return np.frombuffer(raw, dtype.order + dtype.code)[0].item()
    if item is None or isinstance(item, str | int | float | bool | list | tuple):
        return item
    raise ValueError(f"a cell holds {type(item).__name__}")

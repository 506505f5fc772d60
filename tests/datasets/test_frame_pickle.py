"""A pickle is a program: those of a table are read, any other is refused before anything runs."""

from __future__ import annotations

import io
import pickle
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fugu_lite.datasets import _frame_pickle, routerbench
from fugu_lite.errors import DataError

FIXTURES = Path(__file__).parent / "fixtures"


class Touch:
    """Runs a command when it is unpickled by an ordinary reader."""

    def __init__(self, call: Callable[..., Any], *arguments: Any) -> None:
        self.call, self.arguments = call, arguments

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self.call, self.arguments


def written(path: Path, value: Any, protocol: int = 4) -> Path:
    path.write_bytes(pickle.dumps(value, protocol))
    return path


@pytest.mark.parametrize("version", [2, 3])
def test_tables_of_two_versions_of_pandas(version: int) -> None:
    found = _frame_pickle.columns(FIXTURES / f"routerbench_{version}.pkl")
    assert list(found)[:5] == ["sample_id", "prompt", "eval_name", "tiny/model", "big-model"]
    assert found["sample_id"] == ["alpha.1", "alpha.2", "beta.1"]
    assert found["big-model"] == [1.0, 1.0, 0.0]
    assert found["tiny/model"][2] != found["tiny/model"][2]
    assert (found["flag"], found["n"]) == ([True, False, True], [1, 2, 3])


def test_the_same_rows_from_a_pickle_and_from_its_csv() -> None:
    names = {name for _, row in routerbench.table(FIXTURES / "routerbench_2.pkl") for name in row}
    assert {"tiny/model", "tiny/model|total_cost", "oracle_model_to_route_to"} <= names


@pytest.mark.parametrize("protocol", [0, 2, 4, 5])
def test_a_hostile_pickle_is_refused_and_not_run(protocol: int, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    command = f"open({str(mark)!r}, 'w').close()"
    hostile: list[Any] = [
        Touch(exec, command),
        Touch(eval, command),
        Touch(getattr, "x", "upper"),
        Touch(subprocess.run, ["touch", str(mark)]),
        Touch(io.open, str(mark), "w"),
        {"a": [1, {"b": Touch(exec, command)}]},
    ]
    for number, value in enumerate(hostile):
        path = written(tmp_path / f"{number}.pkl", value, protocol)
        with pytest.raises(DataError, match="it asks for"):
            _frame_pickle.columns(path)
    assert not mark.exists()
    pickle.loads((tmp_path / "0.pkl").read_bytes())  # an ordinary reader does run it
    assert mark.exists()


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("os", "system"),
        ("posix", "system"),
        ("builtins", "getattr"),
        ("pandas", "read_pickle"),
        ("pandas.core.frame", "DataFrame.eval"),
        ("pandas.io.common", "os.system"),
        ("numpy", "load"),
        ("numpy.testing._private.utils", "runstring"),
        ("fugu_lite.datasets._frame_pickle", "columns"),
    ],
)
def test_every_other_name_is_refused(module: str, name: str, tmp_path: Path) -> None:
    program = b"\x80\x04" + b"".join(b"\x8c" + bytes([len(text)]) + text.encode() for text in (module, name)) + b"\x93."
    path = tmp_path / "x.pkl"
    path.write_bytes(program)
    with pytest.raises(DataError, match="it asks for"):
        _frame_pickle.columns(path)


def test_the_names_that_are_known_stand_for_inert_classes() -> None:
    for stand_in in _frame_pickle.STAND_INS.values():
        assert stand_in.__module__ == "fugu_lite.datasets._frame_pickle"
        held = stand_in("anything", 1)
        held.__setstate__({"__class__": "x", "a": 1})
        assert held.given == ("anything", 1)
        assert not hasattr(held, "a")


def test_a_state_cannot_be_put_on_a_stand_in_itself(tmp_path: Path) -> None:
    before = dict(vars(_frame_pickle._Frame))
    program = b"\x80\x04\x8c\x06pandas\x8c\x09DataFrame\x93}\x8c\x05given\x8c\x01xsb."
    (tmp_path / "x.pkl").write_bytes(program)
    with pytest.raises(DataError, match="not a plain pandas table"):
        _frame_pickle.columns(tmp_path / "x.pkl")
    assert dict(vars(_frame_pickle._Frame)) == before


@pytest.mark.parametrize("value", [[1, 2], {"a": 1}, "text", 3])
def test_something_else_is_no_table(value: Any, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="not a table"):
        _frame_pickle.columns(written(tmp_path / "x.pkl", value))


@pytest.mark.parametrize("cut", [1, 50, 300])
def test_a_cut_file_is_a_data_error(cut: int, tmp_path: Path) -> None:
    (tmp_path / "x.pkl").write_bytes((FIXTURES / "routerbench_2.pkl").read_bytes()[:-cut])
    with pytest.raises(DataError):
        _frame_pickle.columns(tmp_path / "x.pkl")

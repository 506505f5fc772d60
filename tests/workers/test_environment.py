from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fugu_lite.errors import DataError
from fugu_lite.workers.environment import load_env, parse_env

names = st.text("aZ_9", min_size=1, max_size=6).map("K".__add__)
characters = st.characters(blacklist_characters="\r\n\0", blacklist_categories=["Cs"])


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("K=v", "v"),
        ("export K=v", "v"),
        ("  K = v  ", "v"),
        ("K=v # comment", "v"),
        ("K=v#kept", "v#kept"),
        ("K=#comment", ""),
        ("K= # comment", ""),
        ("K=", ""),
        ("K=a b", "a b"),
        ("K=a=b==", "a=b=="),
        ("K='a # b'", "a # b"),
        ('K="a # b" # comment', "a # b"),
        ("K='a\\n'", "a\\n"),
        (r'K="a\nb\"c\\"', 'a\nb"c\\'),
        ('K=""', ""),
        ("K=it's", "it's"),
        ("K=/a folder/with spaces", "/a folder/with spaces"),
    ],
)
def test_values(line: str, value: str) -> None:
    assert parse_env(line) == ({"K": value}, [])


@pytest.mark.parametrize("line", ["K", "=v", "1K=v", "K-E=v", 'K="open', "K='a' b", "K=\0", "export"])
def test_lines_that_cannot_be_read_are_numbered(line: str) -> None:
    assert parse_env(f"# first\n{line}\nA=1") == ({"A": "1"}, [2])


def test_the_last_value_counts_and_blank_lines_do_not() -> None:
    assert parse_env("A=1\r\n\r\n# A=3\nA=2\n") == ({"A": "2"}, [])


@given(st.dictionaries(names, st.text(characters, max_size=20), max_size=5))
def test_quoted_values_come_back(values: dict[str, str]) -> None:
    escaped = {name: value.replace("\\", "\\\\").replace('"', '\\"') for name, value in values.items()}
    text = "\n".join(f'export {name} = "{value}"  # note' for name, value in escaped.items())
    assert parse_env(text) == (values, [])


@given(st.text())
def test_any_text_is_read_without_a_crash(text: str) -> None:
    values, bad = parse_env(text)
    assert all("\0" not in value for value in values.values())
    assert bad == sorted(set(bad))


def written(folder: Path, text: str, mode: int = 0o600) -> Path:
    path = folder / ".env"
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return path


def test_what_is_set_is_not_overridden(tmp_path: Path) -> None:
    environ = {"A": "mine"}
    assert load_env(written(tmp_path, "A=theirs\nB=2\n"), environ) == []
    assert environ == {"A": "mine", "B": "2"}


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_a_file_that_others_can_read_is_warned_about(tmp_path: Path, mode: int) -> None:
    (warning,) = load_env(written(tmp_path, "A=canary-value", mode), {})
    assert "chmod 600" in warning
    assert "canary" not in warning


def test_bad_lines_are_warned_about_without_their_text(tmp_path: Path) -> None:
    (warning,) = load_env(written(tmp_path, "A=1\ncanary-value\n"), {})
    assert warning.endswith(".env:2: not KEY=VALUE, ignored")


def test_no_file_is_no_problem(tmp_path: Path) -> None:
    assert load_env(tmp_path / ".env", {}) == []


def test_unreadable_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        load_env(tmp_path, {})
    path = written(tmp_path, "")
    path.write_bytes(b"A=\xff")
    with pytest.raises(DataError, match="UTF-8"):
        load_env(path, {})


def test_a_byte_order_mark_is_no_part_of_the_name(tmp_path: Path) -> None:
    environ: dict[str, str] = {}
    load_env(written(tmp_path, "\ufeffA=1"), environ)
    assert environ == {"A": "1"}

from pathlib import Path

import pytest

from fugu_lite.errors import DataError
from fugu_lite.evaluation.curves import plot_history, series

HISTORY: list[dict[str, float | None]] = [
    {"step": 0, "train": 0.2, "validation": 0.3},
    {"step": 5, "train": 0.4, "validation": None},
    {"step": 10, "train": 0.6, "validation": 0.5},
]


def test_series_leaves_out_what_was_not_recorded() -> None:
    assert series(HISTORY, "validation") == ([0, 10], [0.3, 0.5])
    assert series(HISTORY, "loss") == ([], [])


def test_png_is_written_into_a_new_folder(tmp_path: Path) -> None:
    path = tmp_path / "plots" / "curve.png"
    plot_history(HISTORY, path, best_fixed=0.45, oracle=0.9, kept_step=10)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_svg_names_its_lines_and_repeats_byte_for_byte(tmp_path: Path) -> None:
    first, again = tmp_path / "a.svg", tmp_path / "b.svg"
    for path in (first, again):
        plot_history(HISTORY, path, 0.45, 0.9, 10)
    text = first.read_text()
    assert all(f"<!-- {name} -->" in text for name in ("train", "validation", "best fixed", "oracle", "kept (step 10)"))
    assert first.read_bytes() == again.read_bytes()


def test_an_empty_history_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no step"):
        plot_history([], tmp_path / "x.png")

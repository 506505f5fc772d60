"""Small inline drawings for the report page: no script, no request, colours from the page's CSS variables."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

WIDTH, LEFT, RIGHT, STEP = 760, 220, 200, 26  # pixels of the view box: all, labels, values, height of a row


class Mark(NamedTuple):
    """One row of a forest plot; None = not known."""

    label: str
    value: float | None
    low: float | None
    high: float | None


def text(x: float, y: float, content: str, anchor: str = "start") -> str:
    """Return escaped text at a point."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(content)}</text>'


def _short(label: str) -> str:
    return label if len(label) <= 30 else label[:29] + "…"


def _frame(height: int, title: str, parts: Sequence[str]) -> str:
    name = escape(title)
    return f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{name}">{"".join(parts)}</svg>'


def forest(title: str, marks: Sequence[Mark]) -> str:
    """Draw values with their intervals around a line at 0, on one shared scale."""
    reach = max((abs(v) for mark in marks for v in mark[1:] if v is not None), default=0.0) or 1.0
    middle, half = (LEFT + WIDTH - RIGHT) / 2, (WIDTH - RIGHT - LEFT) / 2 - 8
    height = STEP * len(marks) + 8
    parts = [f'<line class="zero" x1="{middle}" y1="0" x2="{middle}" y2="{height}"/>']
    for place, mark in enumerate(marks):
        y = STEP * place + STEP / 2 + 4
        parts.append(text(LEFT - 10, y + 4, _short(mark.label), "end"))
        shown = "unknown" if mark.value is None else f"{mark.value:+.4f}"
        if mark.low is None or mark.high is None:
            shown += "" if mark.value is None else " (interval unknown)"
        else:
            shown += f" [{mark.low:+.4f}, {mark.high:+.4f}]"
            x1, x2 = (middle + half * end / reach for end in (mark.low, mark.high))
            parts.append(f'<line class="bar" x1="{x1:.1f}" y1="{y}" x2="{x2:.1f}" y2="{y}"/>')
        if mark.value is not None:
            parts.append(f'<circle class="dot" cx="{middle + half * mark.value / reach:.1f}" cy="{y}" r="5"/>')
        parts.append(text(WIDTH - RIGHT + 8, y + 4, shown))
    return _frame(height, title, parts)


def shares(title: str, rows: Sequence[tuple[str, float, float]]) -> str:
    """Draw two bars per row: (label, routed share, oracle share), both in [0, 1]."""
    room = WIDTH - RIGHT - LEFT
    parts = []
    for place, (label, routed, oracle) in enumerate(rows):
        y = (STEP + 6) * place + 4
        parts.append(text(LEFT - 10, y + 16, _short(label), "end"))
        for kind, share, top in (("routed", routed, y), ("oracle", oracle, y + 12)):
            parts.append(f'<rect class="{kind}" x="{LEFT}" y="{top}" width="{room * share:.1f}" height="10"/>')
        parts.append(text(WIDTH - RIGHT + 8, y + 16, f"routed {routed:.1%}, oracle {oracle:.1%}"))
    return _frame((STEP + 6) * len(rows) + 8, title, parts)

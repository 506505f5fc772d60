"""The evaluation as one HTML page that asks the network for nothing and runs no script."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from fugu_lite.evaluation import report
from fugu_lite.evaluation._svg import Mark, forest, shares
from fugu_lite.evaluation.results import Evaluation
from fugu_lite.evaluation.routing import remark
from fugu_lite.evaluation.slices import BaselineRow, SliceRow

STYLE = """
:root{color-scheme:light dark;--back:#fff;--text:#1b1f24;--soft:#667;--line:#d5d9de;--main:#0b62c4;--other:#c77700}
@media (prefers-color-scheme:dark){
:root{--back:#14171b;--text:#e6e9ec;--soft:#9aa4ae;--line:#363c44;--main:#6cb2ff;--other:#f0a840}}
body{background:var(--back);color:var(--text);font:15px/1.5 system-ui,sans-serif;max-width:960px;margin:2rem auto;
padding:0 1rem}
svg{width:100%;height:auto}svg text{fill:var(--text);font-size:12px}
.zero{stroke:var(--soft);stroke-dasharray:3}.bar{stroke:var(--main);stroke-width:3}.dot,.routed{fill:var(--main)}
.oracle{fill:var(--other)}.scroll{overflow-x:auto}.note{color:var(--soft)}
table{border-collapse:collapse}td,th{border-bottom:1px solid var(--line);padding:.2rem .6rem;text-align:right}
td:first-child,th:first-child{text-align:left}
"""


def to_html(evaluation: Evaluation, extra: dict[str, Any]) -> str:
    """Return the page.

    Args:
        evaluation: every text of it is escaped.
        extra: the guard's facts (`routing.routed`) and `condition_mismatches`; what is absent is left out.
    """
    title = escape(f"Evaluation of {evaluation.policy}")
    parts = [_verdict(evaluation), _remarks(evaluation, extra), _drawings(evaluation), _tables(evaluation)]
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head>\n'
        f"<body><h1>{title}</h1>\n{''.join(parts)}</body></html>\n"
    )


def _section(name: str, title: str, content: str) -> str:
    return f'<section id="{name}"><h2>{escape(title)}</h2>\n{content}</section>\n'


def _router(evaluation: Evaluation) -> Mark:
    found = evaluation.comparison
    return Mark(evaluation.policy, found.gain, found.gain_low, found.gain_high)


def _marks(rows: Sequence[BaselineRow | SliceRow]) -> list[Mark]:
    return [Mark(f"{row.name} (n = {row.n})", row.gain, row.gain_low, row.gain_high) for row in rows]


def _verdict(evaluation: Evaluation) -> str:
    drawing = forest("Gain over the comparator", [_router(evaluation)])
    return _section("verdict", "Verdict", f"<p><strong>{escape(report.sentence(evaluation))}</strong></p>{drawing}")


def _remarks(evaluation: Evaluation, extra: dict[str, Any]) -> str:
    lines = report.remarks(evaluation)
    if {"guard", "reasons", "guarded_share", "domain_given"} <= set(extra):
        lines.append(remark(extra))
    lines += [f"Other conditions: {text}" for text in extra.get("condition_mismatches", ())]
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return _section("remarks", "Remarks", f"<ul>{items}</ul>" if items else "<p>None.</p>")


def _drawings(evaluation: Evaluation) -> str:
    note = '<p class="note">Gain over the comparator, 95 % interval; the line is 0.</p>'
    baselines = forest("Baselines", [_router(evaluation), *_marks(evaluation.baselines)])
    workers = shares("Shares", [(row.worker, row.routed, row.oracle) for row in evaluation.workers])
    slices = _marks([*evaluation.domains, *evaluation.difficulties, *evaluation.languages])
    return (
        _section("baselines", "Baselines", note + baselines)
        + _section("shares", "Worker shares", workers)
        + _section("slices", "Slices", note + forest("Slices", slices) if slices else "<p>No row is labelled.</p>")
    )


def _tables(evaluation: Evaluation) -> str:
    return _section("metrics", "Metrics", "".join(_table(grid) for grid in report.grids(evaluation)))


def _table(grid: report.Grid) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in grid.header)
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in grid.rows)
    return (
        f'<h3>{escape(grid.title)}</h3><div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>\n"
    )

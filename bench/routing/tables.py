"""The figures as Markdown tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Rows = Sequence[Mapping[str, Any]]


def markdown(found: Mapping[str, Rows]) -> str:
    """Return every table that has rows."""
    made = {"gains": _gains, "shift": _shift, "languages": _languages, "routellm2": _apgr}
    return "\n\n".join(made[name](rows) for name, rows in found.items() if rows)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return one Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _interval(row: Mapping[str, Any]) -> str:
    return f"[{row['low']:+.4f}, {row['high']:+.4f}]"


def _gains(rows: Rows) -> str:
    header = (
        "set",
        "protocol",
        "encoder",
        "policy",
        "n",
        "utility",
        "best fixed",
        "gain",
        "95 %",
        "no guard",
        "guarded rows",
    )
    seen: dict[tuple[str, ...], Mapping[str, Any]] = {
        (row["set"], row["protocol"], row["encoder"], row["policy"]): row for row in rows
    }
    cells = [
        (
            row["set"],
            row["protocol"],
            row["encoder"],
            row["policy"],
            str(row["n"]),
            f"{row['utility']:.4f}",
            f"{row['best_fixed']:.4f}",
            f"{row['gain']:+.4f}",
            _interval(row),
            f"{row['unguarded']:+.4f}",
            f"{row['guarded_share']:.1%}",
        )
        for row in seen.values()
    ]
    return table(header, cells)


def _shift(rows: Rows) -> str:
    cells = []
    for key in dict.fromkeys((row["encoder"], row["policy"]) for row in rows):
        own = [row for row in rows if (row["encoder"], row["policy"]) == key]
        for side in ("gain", "unguarded"):
            worst = min(own, key=lambda row: row[side])
            mean = float(np.mean([row[side] for row in own]))
            shown = "on" if side == "gain" else "off"
            cells.append((*key, shown, f"{mean:+.4f}", f"{worst[side]:+.4f}", str(worst["domain"])))
    return table(("encoder", "policy", "guard", "mean gain", "worst", "on"), cells)


def _languages(rows: Rows) -> str:
    cells = []
    for key in dict.fromkeys((row["encoder"], row["policy"]) for row in rows):
        own = [row for row in rows if (row["encoder"], row["policy"]) == key]
        turkish = next(row for row in own if row["language"] == "Turkish")
        others = [row for row in own if row["language"] != "Turkish"]
        worst = max(others, key=lambda row: row["guarded"])
        loosest = max(others, key=lambda row: row["unguarded"])
        cells.append(
            (
                *key,
                f"{turkish['guarded']:.2%}",
                f"{turkish['unguarded']:.1%}",
                f"{worst['guarded']:.2%} ({worst['language']})",
                f"{loosest['unguarded']:.1%} ({loosest['language']})",
            )
        )
    header = ("encoder", "policy", "Turkish", "Turkish, no guard", "worst other", "worst other, no guard")
    return table(header, cells)


def _apgr(rows: Rows) -> str:
    cells = [
        (row["set"], row["encoder"], row["policy"], str(row["n"]), f"{row['apgr']:.4f}", _interval(row)) for row in rows
    ]
    return table(("set", "encoder", "policy", "n", "APGR", "95 %"), cells)

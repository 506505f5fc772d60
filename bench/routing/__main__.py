"""`python -m bench.routing`: the tables of docs/benchmarks.md about routing, from the public matrices."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from bench.measure import one_thread
from bench.routing import data, gains, shift, strong_weak, tables
from bench.routing.fitting import FAMILIES
from fugu_lite.errors import FuguLiteError

RESULTS = Path(__file__).parent.parent / "results" / "routing.json"
SHIFTED = ("table", "average")  # the lowest layer that gains, and the highest
PARTS = ("gains", "shift", "languages", "routellm2")


def main() -> int:
    """Run what is asked for, print Markdown, keep the figures as JSON."""
    options = _parser().parse_args()
    started = time.monotonic()

    def told(text: str) -> None:
        print(f"{time.monotonic() - started:7.0f} s  {text}", file=sys.stderr, flush=True)

    found: dict[str, list[Any]] = orjson.loads(RESULTS.read_bytes()) if options.add and RESULTS.is_file() else {}
    try:
        with one_thread():
            for name in options.parts:
                for key, rows in measured(name, options, told).items():
                    found[key] = [*found.get(key, []), *(asdict(row) for row in rows)]
                RESULTS.write_bytes(orjson.dumps(found, option=orjson.OPT_INDENT_2))
    except FuguLiteError as error:
        print(f"routing: {error}", file=sys.stderr)
        return 1
    print(tables.markdown(found))
    return 0


def measured(part: str, options: argparse.Namespace, told: Any) -> dict[str, list[Any]]:
    """Return the rows of one part by table name."""
    found: dict[str, list[Any]] = {part: []}
    if part == "routellm2":
        whole = data.load(options.data, "routellm2")
        for encoder in options.encoders:
            features = data.embedded(encoder, whole.prompts, told)
            for name, kept in (("MMLU", [d != "gsm8k" for d in whole.domains]), ("GSM8K", None)):
                mask = np.array(kept if kept is not None else [d == "gsm8k" for d in whole.domains])
                rows = replace(whole.rows(mask), name=f"routellm2 {name}")
                found[part] += strong_weak.run(rows, encoder, features[mask], options.families, told)
        return found
    for name in options.sets if part == "gains" else ["llmrouter9"]:
        matrix = data.load(options.data, name)
        for encoder in options.encoders:
            features = data.embedded(encoder, matrix.prompts, told)
            if part == "gains":
                found[part] += gains.run(matrix, encoder, features, options.families, told)
            elif part == "shift":
                found[part] += shift.leave_one_domain_out(matrix, encoder, features, list(SHIFTED), told)
            else:
                texts = {k: data.embedded(encoder, v, told) for k, v in data.languages(options.data).items()}
                found[part] += shift.other_languages(matrix, encoder, features, texts, [*SHIFTED, "linear"], told)
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.routing", description=__doc__)
    parser.add_argument("parts", nargs="*", default=list(PARTS), help=f"of {', '.join(PARTS)}; all by default")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the public matrices")
    parser.add_argument("--sets", nargs="+", default=["llmrouter9", "mmlu_pro"])
    parser.add_argument("--encoders", nargs="+", default=["smollm2", "minilm"], choices=list(data.ENCODERS))
    parser.add_argument("--families", nargs="+", default=list(FAMILIES), choices=list(FAMILIES))
    parser.add_argument("--add", action="store_true", help="add to the figures of an earlier run")
    return parser


if __name__ == "__main__":
    sys.exit(main())

"""`python -m bench [NAME...]`: run benches one after another; a miss is printed as a miss and ends nothing.

The exit status is 1 when a bench could not be run, for instance because its weights were not fetched.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

import orjson
from rich.console import Console

from bench import report
from bench.measure import Result
from fugu_lite.errors import FuguLiteError

NAMES = ("evolution", "collection", "route_latency", "embedding")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line names; return the exit status."""
    options = _parser().parse_args(arguments)
    console, failures = Console(), 0
    for name in options.names or NAMES:
        try:
            result = runner(name)(options.quick)
        except FuguLiteError as error:
            failures += 1
            print(f"{name}: could not be run: {error}", file=sys.stderr)
            continue
        _deliver(result, options, console)
    return int(failures > 0)


def runner(name: str) -> Callable[[bool], Result]:
    """Return a bench's `run`; only then are its libraries imported."""
    run: Callable[[bool], Result] = import_module(f"bench.{name}").run
    return run


def _deliver(result: Result, options: argparse.Namespace, console: Console) -> None:
    if options.json:
        print(orjson.dumps(result.to_json()).decode())
    elif options.markdown:
        print(report.markdown(result))
    else:
        report.show(result, console)
    if options.save:
        print(f"saved {report.save(result).name}", file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"all by default: {', '.join(NAMES)}")
    parser.add_argument("--quick", action="store_true", help="small sizes: checks the benches, proves nothing")
    parser.add_argument("--json", action="store_true", help="one JSON object per bench instead of tables")
    parser.add_argument("--markdown", action="store_true", help="the block for docs/benchmarks.md instead of tables")
    parser.add_argument("--save", action="store_true", help="also write bench/results/NAME.json")
    return parser


if __name__ == "__main__":
    sys.exit(main())

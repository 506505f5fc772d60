"""Write the snapshot's data card from its attempts: what was asked, under which conditions, and what came out."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import numpy as np
import orjson

from fugu_lite import tasks
from fugu_lite.evaluation import baselines
from fugu_lite.rewards import RewardMatrix, matrix_from_attempts
from fugu_lite.rewards import attempts as log
from fugu_lite.rewards.build import Cells, cells_of
from fugu_lite.rewards.fixed import best_fixed, fixed_utilities
from fugu_lite.workers import UtilitySpec

HERE = Path(__file__).parent
LICENCES = {
    "smol_direct": "SmolLM2-135M-Instruct, Apache-2.0",
    "smol_steps": "SmolLM2-135M-Instruct, Apache-2.0",
    "smol_fewshot": "SmolLM2-135M-Instruct, Apache-2.0",
    "calculator": "part of fugu-lite, Apache-2.0",
}


def main() -> None:
    """Read tasks and attempts, write README.md."""
    known = tasks.load(HERE / "tasks.jsonl")
    attempts = list(log.read(HERE / "rewards.attempts.jsonl"))
    workers = list(orjson.loads((HERE / "rewards.conditions.json").read_bytes()))
    cells = cells_of(attempts, known, workers)
    matrix = matrix_from_attempts(attempts, known, workers, UtilitySpec())
    days = sorted({(attempt.started_at or "")[:10] for attempt in attempts})
    parts = [
        introduction(matrix, days, cells.repetitions),
        "## Workers\n\n" + worker_table(matrix, cells),
        "## Baselines\n\n" + baseline_table(matrix),
        "## By domain (mean quality)\n\n" + domain_table(matrix),
        LIMITS,
    ]
    (HERE / "README.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def introduction(matrix: RewardMatrix, days: list[str], repetitions: int) -> str:
    splits = {name: sum(task.split == name for task in matrix.tasks) for name in ("train", "validation", "test")}
    turkish = sum(task.language == "tr" for task in matrix.tasks)
    groups = len({task.group for task in matrix.tasks})
    return f"""# The measured snapshot

{len(matrix)} tasks written for this repository ({turkish} of them Turkish), {len(matrix.worker_ids)} workers,
{repetitions} repetitions. Groups of one template stay in one split: {groups} groups, {splits["train"]} train,
{splits["validation"]} validation, {splits["test"]} test.

- `tasks.jsonl`: prompts, reference answers, graders. Licence Apache-2.0. Made by `make_tasks.py`, split by
  `fugu-lite split`.
- `rewards.attempts.jsonl`: every call with its full answer, tokens, latency and grade. The only ground truth.
- `rewards.jsonl`: the reward matrix derived from it (utility = quality; cost and latency weigh nothing).
- `rewards.conditions.json`: what shaped the answers, worker by worker.

Collected on {" to ".join(dict.fromkeys([days[0], days[-1]]))} by `fugu-lite generate` on two CPU cores, with
`configs/workers.local.yaml` (run with more decoding slots, which does not shape an answer) and xllamacpp
{version("xllamacpp")}. `collect.sh` repeats it. The machine did other work meanwhile, so latencies are upper bounds."""


def worker_table(matrix: RewardMatrix, cells: Cells) -> str:
    counts, flips = cells.counts(), cells.flip_rates()
    lines = ["| worker | model and licence | mean quality | ok / truncated / empty / error | flip rate | p50 s |"]
    lines.append("|---|---|---|---|---|---|")
    for j, name in enumerate(matrix.worker_ids):
        seen = counts[name]
        statuses = " / ".join(str(seen.get(status, 0)) for status in ("ok", "truncated", "empty", "error"))
        flip = flips[name]
        latency = np.nanmedian(matrix.latencies[:, j])
        lines.append(
            f"| `{name}` | {LICENCES[name]} | {np.nanmean(matrix.qualities[:, j]):.3f} | {statuses} | "
            f"{'unknown' if flip is None else f'{flip:.3f}'} | {latency:.2f} |"
        )
    note = "Flip rate: the chance that two repetitions of one task are graded differently."
    return "\n".join([*lines, "", note])


def baseline_table(matrix: RewardMatrix) -> str:
    test, fit = matrix.split("test"), baselines.fit_rows(matrix)
    comparator = best_fixed(fit)
    fixed = dict(zip(test.worker_ids, fixed_utilities(test.rewards), strict=True))
    table = baselines.domain_table(test, fit, comparator)
    shares = table.weights(test.observed)
    by_domain = float(np.nansum(np.where(shares > 0, shares * np.nan_to_num(test.rewards), 0.0), axis=1).mean())
    rows = {f"always `{name}`": float(value) for name, value in fixed.items()}
    rows |= {"random": float(np.nanmean(np.nanmean(test.rewards, axis=1))), "domain table (label given)": by_domain}
    rows["oracle (naive: it also picks lucky repetitions)"] = float(np.nanmean(np.nanmax(test.rewards, axis=1)))
    lines = [f"Test rows; the best fixed worker on train and validation is `{comparator}`.", "", "| policy | utility |"]
    return "\n".join([*lines, "|---|---|", *(f"| {name} | {value:.4f} |" for name, value in rows.items())])


def domain_table(matrix: RewardMatrix) -> str:
    head = "| domain | n | " + " | ".join(f"`{name}`" for name in matrix.worker_ids) + " |"
    lines = [head, "|---" * (len(matrix.worker_ids) + 2) + "|"]
    domains = np.array(matrix.domains)
    for domain in sorted(set(matrix.domains)):
        rows = domains == domain
        means = np.nanmean(matrix.qualities[rows], axis=0)
        lines.append(f"| {domain} | {int(rows.sum())} | " + " | ".join(f"{value:.3f}" for value in means) + " |")
    return "\n".join(lines)


LIMITS = """## Limits

- SmolLM2 with 135 million parameters fails most of these tasks: the snapshot shows the machinery on real, noisy
  outcomes, not how a pool of strong models behaves.
- Much of what routing can win here is "sums go to the calculator". The heads under `artifacts/without-calculator` are
  trained without it, so that this is not mistaken for skill.
- Tasks come from templates. Test templates are unseen in training, but they are of the same kinds."""


if __name__ == "__main__":
    main()

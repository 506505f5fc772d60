"""LLMRouter (llmrouter-lib): JSON lines of its routing data, beside a JSON file of its models."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from fugu_lite import jsonl
from fugu_lite.datasets import reading, writing
from fugu_lite.datasets.contract import Format
from fugu_lite.datasets.gathering import Gathering, Outcome
from fugu_lite.rewards import RewardMatrix
from fugu_lite.tasks import Task

PRICES = frozenset({"input_price", "output_price"})
MILLION = 1e6


class LLMRouter(Format):
    """Rows `{task_name, query, ground_truth, metric, model_name, response, performance, embedding_id, token_num}`."""

    kind: ClassVar[str] = "llmrouter"
    holds: ClassVar[str] = "a score, the response and a token count per query and model"
    traps: ClassVar[tuple[str, ...]] = (
        "rows, not queries, are split by many users: the same query in train and test gets no split here",
        "token_num does not say which tokens: a cost is made of it only if both prices of the model are equal",
        "a model of the price file may be written otherwise in the rows: joined by name, no fuzzy match",
        "zero columns can be answer-format failures of a model, not its ability",
    )

    def read(self, path: Path, into: Gathering) -> None:
        """Read routing data, one file or a folder with the model file (`llm_data`) in it."""
        found = reading.files(path, (".jsonl", ".json"))
        prices = {name: entry for file in found for name, entry in models(file).items()}
        for file in found:
            if not models(file):
                for where, row in reading.rows(file):
                    if "performance" in row:
                        self._row(row, where, file, prices, into)
                    else:
                        into.drop("rows without a performance field (queries without an outcome)")

    def _row(self, row: jsonl.Row, where: str, file: Path, prices: dict[str, Any], into: Gathering) -> None:
        query, domain = reading.needed(row, "query", where), reading.optional(row, "task_name")
        task = Task(
            task_id=reading.own_id(row, self.kind, domain or "", query),
            prompt=query,
            domain=domain,
            reference_answer=row.get("ground_truth"),
            split=reading.optional(row, "split") or reading.split_of(file),
        )
        model = reading.needed(row, "model_name", where)
        tokens = reading.count(row.get("token_num"))
        cost = reading.amount(row, "cost_usd", where)
        cost = one_price(prices.get(model), tokens) if cost is None else cost
        if tokens is not None and cost is None:
            into.drop("token counts that make no cost (no prices, or two different ones)")
        response = row.get("response") if isinstance(row.get("response"), str) else None
        call = {"response": response, "usage": {"total_tokens": tokens}, "status": "ok" if response else "empty"}
        score = reading.quality(row, "performance", where)
        seconds = reading.amount(row, "latency_s", where)
        into.put(task, model, Outcome(score, cost, seconds, call if response is not None else None), where)

    def write(self, matrix: RewardMatrix, path: Path) -> tuple[str, ...]:
        """Write one row per cell that has a score."""
        writing.named(path, ".jsonl")
        values, notes = writing.scores(matrix)
        rows = (
            {
                "task_name": task.domain or "",
                "query": writing.text(task),
                "ground_truth": task.reference_answer,
                "metric": None,
                "model_name": name,
                "response": None,
                "performance": score,
                "embedding_id": i,
                "token_num": None,
                **({"cost_usd": cost} if cost is not None else {}),
                **({"latency_s": latency} if latency is not None else {}),
                **({"split": task.split} if task.split else {}),
                reading.TASK_ID: task.task_id,
            }
            for i, task, name, score, cost, latency in writing.cells(matrix, values)
        )
        jsonl.write(path, rows)
        return (*notes, "embedding_id counts tasks in the order of the matrix; LLMRouter's own step embeds them")


def models(file: Path) -> dict[str, Any]:
    """Return the entries of a model file, model name -> entry; empty for any other file."""
    if file.suffix != ".json" or file.read_bytes()[:1].strip() != b"{":
        return {}
    try:
        found = reading.document(file)
    except ValueError:  # JSON lines
        return {}
    entries = [each for each in found.values() if isinstance(each, dict) and PRICES & each.keys()]
    return found if entries and len(entries) == len(found) else {}


def one_price(entry: Any, tokens: int | None) -> float | None:
    """Return tokens times price, USD; None unless input and output cost the same (USD per million tokens)."""
    if not isinstance(entry, dict) or tokens is None:
        return None
    prices = [reading.number(entry, key, "llm_data") for key in ("input_price", "output_price")]
    return tokens * prices[0] / MILLION if prices[0] is not None and prices[0] == prices[1] else None

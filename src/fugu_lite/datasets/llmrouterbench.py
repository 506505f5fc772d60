"""LLMRouterBench: `<dataset>/<split>/<model>/<time>.json`, a list of records in each."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from fugu_lite import jsonl
from fugu_lite.datasets import reading, writing
from fugu_lite.datasets.contract import Format
from fugu_lite.datasets.gathering import Gathering, Outcome
from fugu_lite.errors import DataError
from fugu_lite.rewards import RewardMatrix
from fugu_lite.tasks import Task

NEVER_RUN = "00000000_000000"  # the loader wants a time in the file name


class LLMRouterBench(Format):
    """A file per data set, split, model and run: `{dataset_name, split, model_name, records[...]}`."""

    kind: ClassVar[str] = "llmrouterbench"
    holds: ClassVar[str] = "a score, the output, tokens and a cost per query and model"
    traps: ClassVar[tuple[str, ...]] = (
        "several runs of a model are averaged (its own loader takes the newest)",
        "record indices differ between models: joined on data set, split and query",
        "a record without a score is missing (its own adaptors write score 0 and cost 0)",
        "its split is the data set's, mostly `test`: kept in source.split, the task gets none",
        "cost 0 means a model without a price: unknown",
    )

    def read(self, path: Path, into: Gathering) -> None:
        """Read a results folder, or one file of it; demo runs are left out."""
        runs: dict[tuple[str, str, str], int] = {}
        for file in reading.files(path, (".json",)):
            found = reading.document(file)
            if not isinstance(found, dict) or not isinstance(found.get("records"), list):
                into.drop("files without records")
                continue
            if found.get("demo"):
                into.drop("demo runs")
                continue
            names = place(found, file)
            runs[names] = runs.get(names, 0) + 1
            for number, record in enumerate(found["records"]):
                self._record(record, names, f"{file} record {number}", into)
        again = sum(count > 1 for count in runs.values())
        if again:
            into.note(f"{again} of {len(runs)} models x data sets were run several times: their scores are averaged")

    def _record(self, record: Any, names: tuple[str, str, str], where: str, into: Gathering) -> None:
        if not isinstance(record, dict):
            raise DataError(where, "is not an object")
        dataset, split, model = names
        query = reading.optional(record, "origin_query") or reading.needed(record, "prompt", where)
        task = Task(
            task_id=reading.own_id(record, self.kind, dataset, split, query),
            prompt=query,
            domain=dataset,
            reference_answer=record.get("ground_truth"),
            split=reading.optional(record, "fugu_lite_split"),
            source={"dataset": dataset, "split": split},
        )
        score = reading.quality(record, "score", where)
        cost = reading.amount(record, "cost", where, zero_is_unknown=True)
        output = record.get("raw_output")
        tokens = {key: reading.count(record.get(key)) for key in ("prompt_tokens", "completion_tokens")}
        text = output if isinstance(output, str) else None
        prediction = record.get("prediction")
        call = {
            "response": text,
            "extracted": str(prediction) if prediction is not None else None,
            "usage": tokens,
            "status": "ok" if text else "empty",
        }
        seconds = reading.amount(record, "latency_s", where)
        into.put(task, model, Outcome(score, cost, seconds, call if text is not None else None), where)

    def write(self, matrix: RewardMatrix, path: Path) -> tuple[str, ...]:
        """Write a folder, one file per domain, split and worker; a missing cell has no record."""
        writing.folder(path)
        values, notes = writing.scores(matrix)
        groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
        for i, task, name, score, cost, latency in writing.cells(matrix, values):
            split = str((task.source or {}).get("split") or task.split or "test")
            record = {
                "index": i,
                "origin_query": writing.text(task),
                "prompt": writing.text(task),
                "prediction": None,
                "ground_truth": task.reference_answer,
                "score": score,
                **({"cost": cost} if cost is not None else {}),
                **({"latency_s": latency} if latency is not None else {}),
                **({"fugu_lite_split": task.split} if task.split else {}),
                reading.TASK_ID: task.task_id,
            }
            groups.setdefault((task.domain or "all", split, name), []).append(record)
        for (dataset, split, name), records in groups.items():
            self._file(path, dataset, split, name, records)
        return notes

    @staticmethod
    def _file(path: Path, dataset: str, split: str, name: str, records: list[dict[str, Any]]) -> None:
        parts = [part.replace("/", "_").lstrip(".") or "_" for part in (dataset, split, name)]
        head = {"dataset_name": dataset, "split": split, "model_name": name, "demo": False, "counts": len(records)}
        performance = sum(record["score"] for record in records) / len(records)
        file = path.joinpath(*parts, f"{'-'.join(parts)}-{NEVER_RUN}.json")
        if file.exists():
            raise DataError(str(file), "two names make one path", "rename a worker, domain or split")
        jsonl.write_json(file, {**head, "performance": performance, "records": records})


def place(found: dict[str, Any], file: Path) -> tuple[str, str, str]:
    """Return data set, split and model: what the file says, or else its folders.

    Raises:
        DataError: if neither says it.
    """
    said = [found.get(key) for key in ("dataset_name", "split", "model_name")]
    folders = list(file.parts[-4:-1]) if len(file.parts) > 3 else [None] * 3
    names = [str(one) if one else folder for one, folder in zip(said, folders, strict=True)]
    if not all(names):
        raise DataError(str(file), "does not say data set, split and model", "keep it in <dataset>/<split>/<model>/")
    return str(names[0]), str(names[1]), str(names[2])

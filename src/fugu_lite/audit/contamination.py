"""Do tasks of a benchmark stand in the training data? Equal prompts, nearly equal ones, long stretches of words.

Three tests, from sure to weak: the normalised prompts are equal; their character 5-grams are nearly the same (MinHash,
see `splits.near_duplicates`); a large part of the benchmark prompt's word n-grams stands in one training prompt.
N-grams that many benchmark prompts share are a template's, and count for nothing.

Source: n-gram overlap as in Brown et al. (2020), Language Models are Few-Shot Learners, appendix C.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fugu_lite import splits
from fugu_lite.tasks import Task

NGRAM = 8
THRESHOLD = 0.5
TEMPLATE = 0.02  # an n-gram in more than this share of the benchmark (and in more than 5 prompts) is a template's
LONG_ANSWER = 20  # characters; shorter answers coincide by chance
KINDS = ("exact", "near", "overlap")


@dataclass(frozen=True)
class Match:
    """A benchmark task and the training task that it resembles most.

    Attributes:
        kind: `exact`, `near` or `overlap`.
        overlap: share of the benchmark prompt's n-grams that stand in the training prompt; None where the prompt is
            too short for any.
        same_answer: whether the reference answers are equal; None where one is missing.
    """

    benchmark: Task
    train: Task
    kind: str
    overlap: float | None
    same_answer: bool | None


@dataclass(frozen=True)
class Contamination:
    """What was found.

    Attributes:
        matches: at most one per benchmark task, surest first.
        too_short: benchmark prompts with fewer than n words, which only the first two tests cover.
        shared_answers: benchmark tasks whose long reference answer is also one in the training data.
        long_answers: benchmark tasks with such an answer.
    """

    train_tasks: int
    benchmark_tasks: int
    matches: tuple[Match, ...]
    too_short: int
    shared_answers: int
    long_answers: int
    ngram: int
    threshold: float

    def count(self, kind: str) -> int:
        """Return the matches of a kind."""
        return sum(match.kind == kind for match in self.matches)


def compare(
    train: Sequence[Task], benchmark: Sequence[Task], ngram: int = NGRAM, threshold: float = THRESHOLD
) -> Contamination:
    """Compare two sets of tasks; time grows with the words in them, not with the pairs.

    Args:
        train: what a router, or a prompt, was fitted on.
        benchmark: what it is judged on.
        ngram: words per n-gram.
        threshold: overlap from which a pair is reported, in (0, 1].
    """
    grams = [_grams(task.text, ngram) for task in benchmark]
    telling = _without_templates(grams)
    best = _best_overlaps(train, telling, ngram)
    exact, near = _equal(train, benchmark), _near(train, benchmark)
    matches = []
    for i, task in enumerate(benchmark):
        other, common = best.get(i, (None, 0))
        overlap = common / len(telling[i]) if telling[i] else None
        if i in exact:
            matches.append(_match(task, exact[i], "exact", 1.0 if grams[i] else None))
        elif i in near:
            matches.append(_match(task, near[i], "near", _overlap(telling[i], near[i], ngram)))
        elif other is not None and overlap is not None and overlap >= threshold:
            matches.append(_match(task, other, "overlap", overlap))
    matches.sort(key=lambda match: (KINDS.index(match.kind), -(match.overlap or 0.0), match.benchmark.task_id))
    known = {answer for task in train if len(answer := _answer(task)) >= LONG_ANSWER}
    long = [answer for task in benchmark if len(answer := _answer(task)) >= LONG_ANSWER]
    return Contamination(
        train_tasks=len(train),
        benchmark_tasks=len(benchmark),
        matches=tuple(matches),
        too_short=sum(not found for found in grams),
        shared_answers=sum(answer in known for answer in long),
        long_answers=len(long),
        ngram=ngram,
        threshold=threshold,
    )


def _match(task: Task, other: Task, kind: str, overlap: float | None) -> Match:
    mine, theirs = _answer(task), _answer(other)
    return Match(task, other, kind, overlap, mine == theirs if mine and theirs else None)


def _answer(task: Task) -> str:
    return splits.normal_text(str(task.reference_answer)) if task.reference_answer is not None else ""


def _grams(text: str, n: int) -> frozenset[int]:
    """Return the hashes of the word n-grams; empty for a text of fewer words."""
    words = re.findall(r"\w+", splits.normal_text(text))
    return frozenset(hash(tuple(words[i : i + n])) for i in range(len(words) - n + 1))


def _without_templates(grams: Sequence[frozenset[int]]) -> list[frozenset[int]]:
    counts = Counter(gram for found in grams for gram in found)
    limit = max(5, TEMPLATE * len(grams))
    return [frozenset(gram for gram in found if counts[gram] <= limit) for found in grams]


def _best_overlaps(train: Iterable[Task], telling: Sequence[frozenset[int]], ngram: int) -> dict[int, tuple[Task, int]]:
    """Return benchmark position -> (training task that shares most n-grams, how many), by an inverted index."""
    index: dict[int, list[int]] = defaultdict(list)
    for i, found in enumerate(telling):
        for gram in found:
            index[gram].append(i)
    best: dict[int, tuple[Task, int]] = {}
    for task in train:
        common = Counter(i for gram in _grams(task.text, ngram) for i in index.get(gram, ()))
        for i, count in common.items():
            if i not in best or count > best[i][1]:
                best[i] = task, count
    return best


def _overlap(telling: frozenset[int], other: Task, ngram: int) -> float | None:
    return len(telling & _grams(other.text, ngram)) / len(telling) if telling else None


def _equal(train: Iterable[Task], benchmark: Sequence[Task]) -> dict[int, Task]:
    known: dict[str, Task] = {}
    for task in train:
        known.setdefault(splits.normal_text(task.text), task)
    texts = [splits.normal_text(task.text) for task in benchmark]
    return {i: known[text] for i, text in enumerate(texts) if text in known}


def _near(train: Sequence[Task], benchmark: Sequence[Task]) -> dict[int, Task]:
    """Return benchmark position -> a training task with nearly the same prompt."""
    marked = [task.model_copy(update={"split": "train"}) for task in train]
    others = [task.model_copy(update={"split": "benchmark"}) for task in benchmark]
    places = {id(task): i for i, task in enumerate(others)}
    found: dict[int, Task] = {}
    for a, b in splits.near_duplicates([*marked, *others]):
        mine, theirs = (a, b) if id(a) in places else (b, a)
        found.setdefault(places[id(mine)], theirs)
    return found

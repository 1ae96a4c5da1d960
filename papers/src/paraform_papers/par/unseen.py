"""Evaluation sets without what stands in training data, beside the whole ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from paraform.corpora.leaks import first_of_each, normalised
from paraform.evaluation.embedding.probing import ProbingSet
from paraform.evaluation.embedding.regression import RegressionSet
from paraform.evaluation.embedding.shared_words import SharedWordSet
from paraform.evaluation.embedding.similarity import SimilaritySet
from paraform.evaluation.embedding.task import Task
from paraform.evaluation.embedding.transfer import TransferSet
from paraform.records import Pair
from paraform.score import signature

NAME = "{}, unseen"


def unseen_tasks(tasks: Sequence[Task], training: Iterable[str]) -> list[Task]:
    """Of each task that has some a second one, called `NAME`, without the rows that it measures on and training holds.

    A row goes if one of its texts is a training text by `leaks.normalised`. What probes are trained and tuned on stays;
    of a set without a split every such row goes. A domain of similarity in which no two scores are left that differ
    goes, and so does a task without a row that is left.

    Args:
        tasks: similarity (by cosine or trained), transfer and probing.
    """
    known = frozenset(first_of_each(training))
    return [made for task in tasks if (made := _unseen(task, known)) is not None]


def unseen_words(sets: Sequence[SharedWordSet], training: Iterable[str]) -> list[SharedWordSet]:
    """Of each set that has some a second one, called `NAME`, without the pairs of which training holds a sentence.

    As `unseen_tasks` tells; a sentence that was cut is compared as it is. A set that would have no paraphrases or no
    others goes.
    """
    known = frozenset(first_of_each(training))
    found = []
    for one in sets:
        paraphrases, others = (
            [
                pair
                for pair in pairs
                if known.isdisjoint(normalised(" ".join(words)) for words in (pair.left, pair.right))
            ]
            for pairs in (one.paraphrases, one.others)
        )
        if paraphrases and others and (len(paraphrases), len(others)) != (len(one.paraphrases), len(one.others)):
            settings = f"{one.settings}|{signature(unseen=f'{len(paraphrases)} and {len(others)}')}"
            name = NAME.format(one.name)
            found.append(replace(one, name=name, paraphrases=paraphrases, others=others, settings=settings))
    return found


def _unseen(task: Task, known: frozenset[str]) -> Task | None:
    """None: nothing of it stands in training, or all does."""

    def clean(*texts: str | None) -> bool:
        return known.isdisjoint(normalised(text) for text in texts if text is not None)

    def apart(pairs: Sequence[Pair]) -> list[Pair]:
        return [pair for pair in pairs if clean(pair.source.text, pair.target.text)]

    if isinstance(task, SimilaritySet):
        domains = {name: apart(pairs) for name, pairs in task.domains.items()}
        if domains == {name: list(pairs) for name, pairs in task.domains.items()}:
            return None
        domains = {name: pairs for name, pairs in domains.items() if len({pair.score for pair in pairs}) > 1}
        return replace(task, name=NAME.format(task.name), domains=domains) if domains else None
    if isinstance(task, RegressionSet):
        test = apart(task.parts.test)
        if len(test) == len(task.parts.test) or len({pair.score for pair in test}) < 2:
            return None
        return replace(task, name=NAME.format(task.name), parts=task.parts._replace(test=test))
    if isinstance(task, TransferSet):
        rows = [row for row in task.rows if row.part not in ("", "test") or clean(row.text, row.other)]
        if len(rows) == len(task.rows) or not any(row.part in ("", "test") for row in rows):
            return None
        return replace(task, name=NAME.format(task.name), rows=rows)
    if isinstance(task, ProbingSet):
        examples = [example for example in task.examples if example.part != "te" or clean(example.text)]
        if len(examples) == len(task.examples) or not any(example.part == "te" for example in examples):
            return None
        return replace(task, kind=NAME.format(task.kind), examples=examples)
    raise TypeError(f"{type(task).__name__}; expected similarity, transfer or probing")

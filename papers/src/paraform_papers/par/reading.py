"""Answers to SQuAD's questions: exact match and F1 of words, with an adversary in the text or without.

    EM(a) = 1 if a is an answer that people gave;   F1(a) = max over these of 2 P R / (P + R)

P and R are of words, counted as often as they stand there, after lower-casing and without punctuation (ASCII's) and
the articles a, an and the (Rajpurkar et al. 2016, section 6.1). Of a question that stands in the file with several
adversaries' sentences, the variant that is answered with the lowest F1 counts, and of a question that no adversary's
sentence was found for the question as it was (so we understand Jia and Liang 2017, section 3.1; their evaluation's code
was not read).
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from paraform.evaluation.metrics import RowMetric, row_mean
from paraform.records import InputError
from paraform.score import signature
from paraform_papers.par.squad import Question

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")


class Marks(NamedTuple):
    """What one answer gets, 0 to 1."""

    exact: float
    f1: float


class Reading(NamedTuple):
    """Exact match and F1, in percent, a row for each original question."""

    exact: RowMetric
    f1: RowMetric


def normalized(text: str) -> str:
    """The text as it is compared.

    >>> normalized("The  U.S., and an ANSWER!")
    'us and answer'
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def marks_of(given: str, answers: Iterable[str]) -> Marks:
    """Exact match and F1, each the best over what people answered; F1 is 0 of an answer that has no word left."""
    found = [_marks(normalized(given), normalized(answer)) for answer in answers]
    return Marks(max(one.exact for one in found), max(one.f1 for one in found))


def read_metrics(questions: Sequence[Question], given: Mapping[str, str]) -> Reading:
    """EM and F1 of a file's questions, question by question.

    Args:
        given: the answer to each question, by its id.
    Raises: InputError if a question has no answer, or there is no question.
    """
    lacking = [one.name for one in questions if one.name not in given]
    if lacking or not questions:
        came = f"no answer to {lacking[0]!r} and {len(lacking) - 1} more" if lacking else "no question"
        raise InputError(f"{came}; expected an answer to each of the questions")
    # Of each original whether its variant is an adversary's, and its marks. Other data have ids such as train-1 and
    # train-2, which are variants of nothing: a variant asks what its original asks.
    worst: dict[tuple[str, str], tuple[bool, Marks]] = {}
    for one in questions:
        found = one.name != one.original, marks_of(given[one.name], (answer.text for answer in one.answers))
        key = one.original, one.text
        before = worst.get(key)
        if before is None or found[0] > before[0] or (found[0] == before[0] and found[1].f1 < before[1].f1):
            worst[key] = found
    adversaries = sum(hostile for hostile, _ in worst.values())
    settings = signature(
        questions=len(worst),
        variants=len(questions),
        counted="worst F1" if len(questions) > len(worst) else "each",
        adversaries=adversaries,
        normalised="case, punctuation, articles",
        answers="best of people's",
    )
    exact, f1 = ([100 * getattr(marks, name) for _, marks in worst.values()] for name in Marks._fields)
    return Reading(row_mean("EM", np.array(exact), settings), row_mean("F1", np.array(f1), settings))


def _marks(given: str, answer: str) -> Marks:
    own, other = Counter(given.split()), Counter(answer.split())
    same = (own & other).total()
    exact = float(given == answer)
    if not same:
        return Marks(exact, 0.0)
    precision, recall = same / own.total(), same / other.total()
    return Marks(exact, 2 * precision * recall / (precision + recall))

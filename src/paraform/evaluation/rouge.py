"""ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004) by Google's rouge_score: F1 of stemmed words, mean over rows."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from paraform.evaluation.metrics import RowMetric, row_mean
from paraform.evaluation.preparation import Stemmer, metric_words, overlap_signature, require, same_length
from paraform.score import Score

NAMES = {"ROUGE-1": "rouge1", "ROUGE-2": "rouge2", "ROUGE-L": "rougeL"}


def rouge(outputs: Sequence[str], references: Sequence[str], *, max_tokens: int | None = 15) -> list[Score]:
    """ROUGE-1, ROUGE-2 and ROUGE-L: F1 with Porter stems, in percent, mean over rows."""
    words = (metric_words(side, max_tokens) for side in (outputs, references))
    return [metric.score() for metric in rouge_metrics(*words, max_tokens=max_tokens)]


def rouge_metrics(
    outputs: Sequence[Sequence[str]], references: Sequence[Sequence[str]], *, max_tokens: int | None
) -> list[RowMetric]:
    """The same of words, row by row.

    rouge_score drops what is not a letter a–z or a digit, and stems words of over three letters.
    """
    rows = same_length(outputs=outputs, references=references)
    scorer = require("rouge_score.rouge_scorer", "ROUGE").RougeScorer(list(NAMES.values()), tokenizer=_Tokenizer())
    values = np.zeros((len(NAMES), rows))
    for row, (output, reference) in enumerate(zip(outputs, references, strict=True)):
        result = scorer.score(" ".join(reference), " ".join(output))
        values[:, row] = [100 * result[name].fmeasure for name in NAMES.values()]
    settings = overlap_signature(max_tokens, tok="rouge_score", stem="porter", f=1, average="rows")
    return [row_mean(name, of_rows, settings) for name, of_rows in zip(NAMES, values, strict=True)]


class _Tokenizer:
    """rouge_score's own stemming tokeniser, with stems that are remembered."""

    def __init__(self) -> None:
        whole = require("rouge_score.tokenize", "ROUGE").tokenize
        self.tokenize = functools.cache(functools.partial(whole, stemmer=Stemmer("ROUGE")))

"""ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004) by Google's rouge_score: F1 of stemmed words, mean over rows."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from paraform.evaluation.preparation import Stemmer, metric_words, require, same_length
from paraform.score import Score, signature

NAMES = {"ROUGE-1": "rouge1", "ROUGE-2": "rouge2", "ROUGE-L": "rougeL"}


def rouge(outputs: Sequence[str], references: Sequence[str], *, max_tokens: int | None = 15) -> list[Score]:
    """ROUGE-1, ROUGE-2 and ROUGE-L: F1 with Porter stems, in percent, mean over rows."""
    rows = rouge_rows(metric_words(outputs, max_tokens), metric_words(references, max_tokens))
    return [Score(name, float(values.mean()), rouge_signature(max_tokens)) for name, values in rows.items()]


def rouge_rows(outputs: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> dict[str, NDArray[np.float64]]:
    """By name, the F1 of each row, [N], in percent."""
    rows = same_length(outputs=outputs, references=references)
    scorer = require("rouge_score.rouge_scorer", "ROUGE").RougeScorer(list(NAMES.values()), tokenizer=_Tokenizer())
    values = np.zeros((len(NAMES), rows))
    for row, (output, reference) in enumerate(zip(outputs, references, strict=True)):
        result = scorer.score(" ".join(reference), " ".join(output))
        values[:, row] = [100 * result[name].fmeasure for name in NAMES.values()]
    return dict(zip(NAMES, values, strict=True))


def rouge_signature(max_tokens: int | None) -> str:
    """The settings: rouge_score drops what is not a letter a–z or a digit, and stems words of over three letters."""
    return signature(
        words="penn-treebank",
        max_tokens=max_tokens,
        nrefs=1,
        case="lc",
        tok="rouge_score",
        stem="porter",
        f=1,
        average="rows",
    )


class _Tokenizer:
    """rouge_score's own stemming tokeniser, with stems that are remembered."""

    def __init__(self) -> None:
        whole = require("rouge_score.tokenize", "ROUGE").tokenize
        self.tokenize = functools.cache(functools.partial(whole, stemmer=Stemmer("ROUGE")))

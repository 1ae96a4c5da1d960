"""METEOR by NLTK: with WordNet's synonyms where WordNet is installed, else from exact and stem matches alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np

from paraform.evaluation.metrics import RowMetric, row_mean
from paraform.evaluation.preparation import Stemmer, metric_words, overlap_signature, require, same_length
from paraform.score import Score


class WordNet(Protocol):
    """What METEOR asks of NLTK's WordNet reader: the synsets of a word, each with `lemmas()` that have a `name()`."""

    def synsets(self, word: str, /) -> Iterable[Any]: ...


class NoSynonyms:
    """Stands in where WordNet is not installed: no word has a synonym, so METEOR's third stage matches nothing."""

    def synsets(self, word: str, /) -> Iterable[Any]:
        return ()


def find_wordnet() -> WordNet:
    """NLTK's WordNet if its data is installed (`nltk.download("wordnet")`), else `NoSynonyms`."""
    reader: WordNet = require("nltk.corpus", "METEOR").wordnet
    try:
        reader.synsets("word")
    except (LookupError, OSError):  # not there, or not all of it
        return NoSynonyms()
    return reader


def meteor(
    outputs: Sequence[str], references: Sequence[str], *, max_tokens: int | None = 15, wordnet: WordNet | None = None
) -> Score:
    """METEOR against one reference each, in percent, mean over rows (Lavie and Agarwal 2007).

    The published scores are METEOR 1.5's (a Java program with other weights and a paraphrase table), so they are not
    on this scale.

    Args:
        wordnet: None looks for it.
    """
    wordnet = find_wordnet() if wordnet is None else wordnet
    words = (metric_words(side, max_tokens) for side in (outputs, references))
    return meteor_metric(*words, max_tokens=max_tokens, wordnet=wordnet).score()


def meteor_metric(
    outputs: Sequence[Sequence[str]], references: Sequence[Sequence[str]], *, max_tokens: int | None, wordnet: WordNet
) -> RowMetric:
    """The same of words, row by row; `stages` of the settings says whether synonyms counted."""
    same_length(outputs=outputs, references=references)
    score = require("nltk.translate.meteor_score", "METEOR").single_meteor_score
    stemmer = Stemmer("METEOR")
    pairs = zip(outputs, references, strict=True)
    rows = np.array([100 * score(reference, output, stemmer=stemmer, wordnet=wordnet) for output, reference in pairs])
    settings = overlap_signature(
        max_tokens,
        stages="exact+stem" if isinstance(wordnet, NoSynonyms) else "exact+stem+wordnet",
        alpha=0.9,
        beta=3,
        gamma=0.5,
        average="rows",
        nltk=require("nltk", "METEOR").__version__,
    )
    return row_mean("METEOR", rows, settings)

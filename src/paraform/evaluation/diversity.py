"""Distinct-n: how little the outputs repeat each other (Li et al. 2016)."""

from __future__ import annotations

from collections.abc import Sequence

from paraform.evaluation.preparation import metric_words
from paraform.score import Score, signature


def distinct_n(outputs: Sequence[str], n: int, *, max_tokens: int | None = 15) -> Score:
    """Different n-grams of all outputs, divided by all their n-grams; a fraction."""
    value = distinct_value(metric_words(outputs, max_tokens), n)
    return Score(f"distinct-{n}", value, distinct_signature(max_tokens), digits=3)


def distinct_value(outputs: Sequence[Sequence[str]], n: int) -> float:
    """The same of words; 0 where there is no n-gram at all."""
    grams = [tuple(words[at : at + n]) for words in outputs for at in range(len(words) - n + 1)]
    return len(set(grams)) / len(grams) if grams else 0.0


def distinct_signature(max_tokens: int | None) -> str:
    """The settings; the figure falls as rows are added, so only equal numbers of rows compare."""
    return signature(words="penn-treebank", max_tokens=max_tokens, case="lc", over="corpus")

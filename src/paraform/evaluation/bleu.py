"""BLEU (Papineni et al. 2002) by sacreBLEU, from statistics of each row, so that a part or a resample is a sum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from paraform.evaluation.metrics import RowMetric
from paraform.evaluation.preparation import metric_words, overlap_signature, require, same_length
from paraform.records import InputError
from paraform.score import Score

ORDER = 4  # the longest n-gram


def bleu(
    outputs: Sequence[str], references: Sequence[str], *, max_tokens: int | None = 15, tokenize: str = "none"
) -> Score:
    """Corpus BLEU of lower-cased words against one reference each, in percent.

    Args:
        max_tokens: words kept of each side; None keeps all.
        tokenize: a tokeniser of the Penn Treebank words, joined by spaces. "none" counts them as they are; "13a",
            "intl" and sacreBLEU's other names tokenise them again; "multi-bleu" is Moses' multi-bleu.perl, which
            also splits at white space but does not smooth.
    """
    words = (metric_words(side, max_tokens) for side in (outputs, references))
    return bleu_metric(*words, max_tokens=max_tokens, tokenize=tokenize).score()


def bleu_metric(
    outputs: Sequence[Sequence[str]], references: Sequence[Sequence[str]], *, max_tokens: int | None, tokenize: str
) -> RowMetric:
    """The same of words, row by row; its settings in sacreBLEU's own words, after those of the words it is given."""
    settings = overlap_signature(
        max_tokens,
        eff=False,
        tok=tokenize,
        smooth="none" if tokenize == "multi-bleu" else "exp",
        sacrebleu=require("sacrebleu", "BLEU").__version__,
    )
    rows = bleu_statistics(outputs, references, tokenize=tokenize)
    return RowMetric("BLEU", rows, settings, partial(bleu_value, tokenize=tokenize))


def bleu_statistics(
    outputs: Sequence[Sequence[str]], references: Sequence[Sequence[str]], *, tokenize: str = "none"
) -> NDArray[np.float32]:
    """What BLEU adds up, row by row: [N, 10] counts in sacreBLEU's order.

    The columns are the lengths of output and reference, then for n = 1 to 4 the n-grams that match, then all n-grams.
    Raises: InputError if the two differ in number or sacreBLEU knows no such tokenisation.
    """
    rows = same_length(outputs=outputs, references=references)
    retokenize = _tokenizer(tokenize)
    statistics = np.zeros((rows, 2 + 2 * ORDER), dtype=np.float32)  # float32 holds sums to 2²⁴ exactly
    for row, (output, reference) in enumerate(zip(outputs, references, strict=True)):
        output_words, reference_words = (retokenize(" ".join(words)).split() for words in (output, reference))
        statistics[row, :2] = len(output_words), len(reference_words)
        for n in range(1, ORDER + 1):
            grams = _ngrams(output_words, n)
            statistics[row, 1 + n] = (grams & _ngrams(reference_words, n)).total()
            statistics[row, 1 + ORDER + n] = grams.total()
    return statistics


def bleu_value(statistics: NDArray[np.float32], *, tokenize: str = "none") -> float:
    """BLEU in percent, of the rows of [N, 10] statistics or of their sum, [10]."""
    sums = [int(count) for count in statistics.reshape(-1, 2 + 2 * ORDER).sum(axis=0)]
    smooth = "none" if tokenize == "multi-bleu" else "exp"
    result = require("sacrebleu.metrics.bleu", "BLEU").BLEU.compute_bleu(
        correct=sums[2 : 2 + ORDER], total=sums[2 + ORDER :], sys_len=sums[0], ref_len=sums[1], smooth_method=smooth
    )
    return float(result.score)


def _tokenizer(name: str) -> Callable[[str], str]:
    # multi-bleu.perl only splits at white space, as "none" does.
    module = require("sacrebleu.metrics.bleu", "BLEU")
    try:
        tokenizer: Callable[[str], str] = module.BLEU(tokenize="none" if name == "multi-bleu" else name).tokenizer
    except (KeyError, TypeError) as error:
        raise InputError(f"tokenize is {str(name)[:40]!r}; expected none, multi-bleu, 13a, intl, char or zh") from error
    return tokenizer


def _ngrams(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[at : at + n]) for at in range(len(words) - n + 1))

"""Forward and reverse perplexity of a latent model's samples, by both protocols (clVAE's Table 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from paraform.evaluation import Score
from paraform.evaluation.latent import LatentReport, ngram_perplexities
from paraform.models.latent import LatentLanguageModel
from paraform.models.latent.reading import read_words
from paraform.score import signature

SAMPLES = 1280  # greedy, as in the authors' code


def with_ngrams(
    report: LatentReport,
    model: LatentLanguageModel,
    training: Sequence[str],
    test: Sequence[str],
    *,
    name: str = "",
    samples: int = SAMPLES,
    seed: int = 0,
) -> LatentReport:
    """The report with both perplexities, `<unk>` left out of the 5-gram models (paper) and kept as a word (honest); see
    `ngram_perplexities`.

    Samples that are all empty have none, which is an alarm.

    Raises: InputError if lmplz or kenlm is missing.
    """

    def plain(texts: Sequence[str]) -> list[str]:
        return [" ".join(read_words(text, model.config.text)).lower() for text in texts]

    said = plain(model.sample(samples, seed=seed))
    if not any(said):
        return replace(report, alarms=(*report.alarms, f"all {samples} samples are empty: no forward and reverse PPL"))
    scores: list[Score] = list(report.scores)
    for protocol, skipped in (("paper", True), ("honest", False)):
        found = ngram_perplexities(said, plain(training), plain(test), skip_unknown=skipped)
        unknown = "skipped, missing words as one" if skipped else "a word, as each missing one"
        settings = signature(samples=samples, decoding="greedy", order=5, unknown=unknown, seed=seed)
        scores.append(Score("forward PPL", found.forward, settings, name, protocol, digits=1))
        scores.append(Score("reverse PPL", found.reverse, settings, name, protocol, digits=1))
    return replace(report, scores=tuple(scores))

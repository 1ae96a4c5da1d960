"""Forward and reverse perplexity of a model's samples, by both protocols."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from paraform.batching import Vocabulary
from paraform.evaluation.latent import LatentReport, ngram
from paraform.models.latent import LatentConfig, LatentLanguageModel
from paraform.recipes.latent_ngrams import with_ngrams
from paraform.recipes.latent_rows import TINY

ARPA = b"\\data\\\nngram 1=4\nngram 2=1\n\n\\1-grams:\n-1\t<unk>\n0\t<s>\t0\n-0.5\ta\t0\n-0.25\t</s>\t0\n\n" + (
    b"\\2-grams:\n-0.3\ta a\n\n\\end\\\n"
)


def test_both_directions_by_both_protocols(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[tuple[list[str], bool, int]] = []

    def estimated(training: list[str], *, order: int, skip_unknown: bool, vocabulary: int) -> bytes:
        heard.append((list(training), skip_unknown, vocabulary))
        return ARPA

    monkeypatch.setattr(ngram, "estimated", estimated)
    torch.manual_seed(0)
    vocabulary = Vocabulary.build([["a", "N"]], min_count=1)
    model = LatentLanguageModel(replace(LatentConfig(), **TINY), vocabulary).eval()
    report = with_ngrams(LatentReport((), ()), model, ["a N", "_UNK a"], ["a a"], name="m", samples=20)
    names = [(score.protocol, score.name) for score in report.scores]
    assert names == [(p, f"{way} PPL") for p in ("paper", "honest") for way in ("forward", "reverse")]
    reverse = 10 ** ((0.5 + 0.3 + 0.25) / 3)  # of "a a", whatever the samples
    assert [score.value for score in report.scores if score.name == "reverse PPL"] == pytest.approx([reverse] * 2)
    # The forward model is of the training text, words lower-cased as the model says them; the reverse one of samples.
    assert heard[0] == (["a n", "<unk> a"], True, 0) and len(heard[1][0]) == 20
    assert [rest for _, *rest in heard[2:]] == [[False, 3], [False, 3]]  # a, n, and the unknown word


def test_samples_that_are_all_empty_are_an_alarm(monkeypatch: pytest.MonkeyPatch) -> None:
    """The report that they would be part of took minutes."""
    model = LatentLanguageModel(replace(LatentConfig(), **TINY), Vocabulary.build([["a"]], min_count=1)).eval()
    monkeypatch.setattr(LatentLanguageModel, "sample", lambda *_, **__: ["", ""])
    report = with_ngrams(LatentReport((), ("other",)), model, ["a"], ["a"], samples=2)
    assert report.alarms == ("other", "all 2 samples are empty: no forward and reverse PPL") and not report.scores

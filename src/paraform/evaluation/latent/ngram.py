"""Forward and reverse perplexity: are a model's samples fluent, and do they cover the corpus (Kim et al. 2017)?

KenLM's `lmplz` estimates the 5-gram models (Heafield et al. 2013); `tools/build_lmplz.sh` builds it.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from paraform.evaluation.latent.report import LatentReport
from paraform.records import InputError
from paraform.score import Score, signature

ORDER = 5
SAMPLES = 1280  # greedy, as in the authors' code
NO_KENLM = "kenlm is not installed; pip install 'paraform[eval]'"
NOTHING = b"-7"  # log10 of what float32 can hardly tell from no probability beside 1
RESERVED = {"<s>", "</s>", "<unk>"}  # marks of KenLM's own, which a text may not hold


class NgramPerplexities(NamedTuple):
    """Per word, `</s>` counted.

    Args:
        forward: the perplexity of the samples by a model of the corpus: low where samples are fluent.
        reverse: the perplexity of the corpus by a model of the samples: low where samples are as varied as it is.
    """

    forward: float
    reverse: float


def ngram_perplexities(
    samples: Sequence[str],
    training: Sequence[str],
    test: Sequence[str],
    *,
    order: int = ORDER,
    skip_unknown: bool = False,
) -> NgramPerplexities:
    """Both, with models of that order.

    Args:
        skip_unknown: as the authors' code: `<unk>` is no word of the text that a model is estimated from, and all words
            that it lacks have one probability together. Samples that are all the same sentence then have a very low
            reverse perplexity. Else `<unk>` is a word like any other, and each of the words of all three texts has a
            probability of its own, those that a model lacks the same.
        samples: sentences of the model, words apart by white space.
        training: sentences that the forward model is estimated from.
        test: sentences that the reverse model is judged by.
    Raises: InputError if `lmplz` or kenlm is missing, or there is too little to estimate a model from.
    """
    for name, texts in (("sample", samples), ("training sentence", training), ("test sentence", test)):
        if not any(text.split() for text in texts):
            raise InputError(f"no {name} that is not empty; expected some for the n-gram models")
    known = 0
    if not skip_unknown:
        known = len({word for texts in (samples, training, test) for text in texts for word in _plain(text).split()})
    return NgramPerplexities(
        perplexity(samples, training, order=order, skip_unknown=skip_unknown, vocabulary=known),
        perplexity(test, samples, order=order, skip_unknown=skip_unknown, vocabulary=known),
    )


def with_ngrams(
    report: LatentReport,
    sample: Callable[..., Sequence[str]],
    words: Callable[[str], Sequence[str]],
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

    Args:
        sample: `sample(samples, seed=seed)` are greedy sentences of vectors drawn from the prior.
        words: a text's words, as the model reads it; they are lower-cased.
        name: the model's, in the table.
    Raises: InputError if lmplz or kenlm is missing.
    """
    drawn, training, test = (
        [" ".join(words(text)).lower() for text in texts] for texts in (sample(samples, seed=seed), training, test)
    )
    if not any(drawn):
        return replace(report, alarms=(*report.alarms, f"all {samples} samples are empty: no forward and reverse PPL"))
    scores: list[Score] = list(report.scores)
    for protocol, skipped in (("paper", True), ("honest", False)):
        found = ngram_perplexities(drawn, training, test, skip_unknown=skipped)
        unknown = "skipped, missing words as one" if skipped else "a word, as each missing one"
        settings = signature(samples=samples, decoding="greedy", order=ORDER, unknown=unknown, seed=seed)
        for direction, value in zip(("forward PPL", "reverse PPL"), found, strict=True):
            scores.append(Score(direction, value, settings, name, protocol, digits=1))
    return replace(report, scores=tuple(scores))


def perplexity(
    texts: Sequence[str],
    training: Sequence[str],
    *,
    order: int = ORDER,
    skip_unknown: bool = False,
    vocabulary: int = 0,
) -> float:
    """Of texts by a model of the training sentences.

    Args:
        vocabulary: how many words there are, those that the model lacks among them; 0: these are one.
    Returns: per word, `</s>` counted.
    Raises: InputError if `lmplz` or kenlm is missing, or there is too little to estimate a model from.
    """
    try:
        import kenlm
    except ImportError:
        raise InputError(NO_KENLM) from None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.arpa")
        path.write_bytes(estimated(training, order=order, skip_unknown=skip_unknown, vocabulary=vocabulary))
        config = kenlm.Config()
        config.show_progress = False
        config.arpa_complain = kenlm.ARPALoadComplain.NONE
        model = kenlm.Model(str(path), config)
        score = words = 0.0
        for text in texts:
            clean = text if skip_unknown else _plain(text)
            score += model.score(clean)  # log10, </s> counted
            words += len(clean.split()) + 1
    return float(10 ** (-score / words))


def estimated(training: Sequence[str], *, order: int = ORDER, skip_unknown: bool = False, vocabulary: int = 0) -> bytes:
    """The ARPA file of a model, by `lmplz`. Raises: InputError if there is no lmplz, or it cannot estimate one.

    Of few different sentences, as a collapsed model's, a discount may come out as 0, so that contexts leave nothing for
    words that they have not seen: a backoff of −∞, which lmplz writes and kenlm refuses. It is `NOTHING` here.
    """
    program = find_lmplz()
    more = ["--skip_symbols"] if skip_unknown else []
    if vocabulary:
        more += ["--vocab_pad", str(vocabulary + 1)]  # </s> is one
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [program, "-o", str(order), "-S", "20%", "-T", folder, "--discount_fallback", *more],
            input="".join(f"{text if skip_unknown else _plain(text)}\n" for text in training).encode(errors="replace"),
            capture_output=True,
            check=False,
        )
    if done.returncode:
        lines = done.stderr.decode(errors="replace").split("\n")
        reason = next((line for line in reversed(lines) if line.strip()), f"exit status {done.returncode}")
        raise InputError(f"{program}: {reason.strip()[:200]}")
    return done.stdout.replace(b"\t-inf\n", b"\t%b\n" % NOTHING)


def require_ngrams() -> None:
    """What estimates and reads 5-gram models is here; asked before long work. Raises: InputError if it is not."""
    find_lmplz()
    if importlib.util.find_spec("kenlm") is None:
        raise InputError(NO_KENLM)


def find_lmplz() -> str:
    """Its path: beside this Python, or on PATH. Raises: InputError that says how to get it."""
    found = shutil.which("lmplz", path=Path(sys.executable).parent) or shutil.which("lmplz")
    if found is None:
        raise InputError("no lmplz beside Python or on PATH; build it with tools/build_lmplz.sh (needs Boost)")
    return found


def _plain(text: str) -> str:
    """Without what KenLM reserves for itself."""
    return " ".join("<unknown>" if word in RESERVED else word for word in text.split())

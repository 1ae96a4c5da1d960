"""Forward and reverse perplexity, against a model that can be reckoned by hand, where lmplz has been built."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from paraform.evaluation.latent import LatentReport, ngram, with_ngrams
from paraform.records import InputError


@pytest.fixture
def lmplz() -> str:
    try:
        return ngram.find_lmplz()
    except InputError:
        pytest.skip("lmplz is not built: tools/build_lmplz.sh")


def stand_in(folder: Path, script: str) -> Path:
    path = folder / "lmplz"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


ARPA = """\\data\\
ngram 1=4
ngram 2=1

\\1-grams:
-1.0\t<unk>
0\t<s>\t0
-0.5\ta\t0
-0.25\t</s>\t0

\\2-grams:
-0.3\ta a

\\end\\
"""


def test_perplexity_is_that_of_the_arpa_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for lmplz prints a model: log10 p(a) = −0.5, p(a|a) = −0.3, p(unknown) = −1, p(</s>) = −0.25."""
    program = stand_in(tmp_path, f"cat > {tmp_path}/heard; echo $* > {tmp_path}/asked; printf '%s' '{ARPA}'")
    monkeypatch.setattr(ngram, "find_lmplz", lambda: str(program))
    found = ngram.perplexity(["a a", "b"], ["a <unk> b"], order=2)
    assert found == pytest.approx(10 ** ((0.5 + 0.3 + 0.25 + 1.0 + 0.25) / 5), rel=1e-5)
    assert (tmp_path / "heard").read_text() == "a <unknown> b\n"  # <unk> is a word like any other …
    ngram.perplexity(["a"], ["a <unk> b"], order=2, skip_unknown=True)
    assert (tmp_path / "heard").read_text() == "a <unk> b\n"  # … or lmplz's to skip
    assert (tmp_path / "asked").read_text().startswith("-o 2 ")
    ngram.perplexity(["a"], ["a b"])
    assert (tmp_path / "asked").read_text().startswith("-o 5 ")  # the paper's


def test_a_context_that_leaves_nothing_for_other_words_leaves_next_to_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As lmplz estimates of few different sentences: log10 p(</s>|a) is −∞ − 0.25, where kenlm reads no −∞."""
    arpa = ARPA.replace("-0.5\ta\t0", "-0.5\ta\t-inf")
    monkeypatch.setattr(ngram, "find_lmplz", lambda: str(stand_in(tmp_path, f"cat > /dev/null; printf '%s' '{arpa}'")))
    assert ngram.perplexity(["a"], ["a"], order=2) == pytest.approx(10 ** ((0.5 + 7 + 0.25) / 2), rel=1e-5)


def test_few_different_sentences_have_an_ngram_model(lmplz: str) -> None:
    """Of these the third discount of bigrams comes out as 0."""
    texts = [
        "a a b b a a", "d d", "c b a b a", "a a d a a", "a c b a c", "b a a b a b", "a a", "a a d b", "c d b b",
        "a c c d", "a a a", "b a a b a", "a c d", "a c b a",
    ]  # fmt: skip
    assert b"\t-7\n" in ngram.estimated(texts, order=3)
    assert 1 < ngram.perplexity(["a b c", "b d"], texts, order=3) < 1e7


def test_without_lmplz_and_with_one_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ngram.sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match=r"no lmplz beside Python or on PATH; build it with tools/build_lmplz\.sh"):
        ngram.find_lmplz()
    stand_in(tmp_path, "echo 'too few n-grams' >&2; exit 1")
    assert ngram.find_lmplz() == os.fspath(tmp_path / "lmplz")
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(InputError, match="too few n-grams"):
        ngram.perplexity(["a"], ["a"])


@pytest.mark.parametrize("empty", ["samples", "training", "test"])
def test_empty_texts(empty: str) -> None:
    texts = {"samples": ["a"], "training": ["a"], "test": ["a"], empty: ["", " "]}
    with pytest.raises(InputError, match="that is not empty"):
        ngram.ngram_perplexities(**texts)


def test_missing_words_have_a_probability_each(lmplz: str) -> None:
    """Of ten words, two of them known: p(a) + p(b) + 8 p(unknown) + p(</s>) = 1."""
    lines = ngram.estimated(["a b a", "b a", "a"], order=2, vocabulary=10).decode().split("\\2-grams")[0].splitlines()
    log10 = {word: float(value) for value, word, *_ in (line.split("\t") for line in lines if "\t" in line)}
    assert 10 ** log10["a"] + 10 ** log10["b"] + 8 * 10 ** log10["<unk>"] + 10 ** log10["</s>"] == pytest.approx(1)


def test_samples_that_are_all_the_same_do_not_cover_a_corpus(lmplz: str) -> None:
    corpus = [f"{a} {b} {c}" for a in "abcdefgh" for b in "ijklmnop" for c in "qrstuvwx"]
    same, given = ["a i q"] * 100, (corpus, corpus[1::3])
    assert ngram.ngram_perplexities(corpus[::3], *given).reverse < 10
    assert ngram.ngram_perplexities(same, *given).reverse > 60
    assert ngram.ngram_perplexities(same, *given, skip_unknown=True).reverse < 30  # the paper's way rewards them


def test_samples_of_the_corpus_do_better_than_noise(lmplz: str) -> None:
    corpus = [f"the {a} {b} the {c} ." for a in ("cat", "dog", "cow") for b in ("saw", "ate") for c in ("hay", "bone")]
    fluent = ngram.ngram_perplexities(corpus[::2], corpus, corpus[1::2])
    noise = ngram.ngram_perplexities(["hay . the saw", "bone cat cat", "ate ate the"], corpus, corpus[1::2])
    assert fluent.forward < noise.forward and fluent.reverse < noise.reverse
    unknown = ngram.perplexity(["the <unk> saw"], ["the <unk> saw", "a <unk> ate"])
    skipped = ngram.perplexity(["the <unk> saw"], ["the <unk> saw", "a <unk> ate"], skip_unknown=True)
    assert unknown < skipped  # a known word of the first, none of the second


def test_both_directions_by_both_protocols(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[tuple[list[str], bool, int]] = []

    def estimated(training: list[str], *, order: int, skip_unknown: bool, vocabulary: int) -> bytes:
        heard.append((list(training), skip_unknown, vocabulary))
        return ARPA.encode()

    def sample(count: int, *, seed: int) -> list[str]:
        assert seed == 7
        return ["a a", "", "A"] * count

    def words(text: str) -> list[str]:
        return ["<unk>" if word == "_UNK" else word for word in text.split()]

    monkeypatch.setattr(ngram, "estimated", estimated)
    given = (sample, words, ["a N", "_UNK a"], ["a a"])
    report = with_ngrams(LatentReport((), ("other",)), *given, name="m", samples=20, seed=7)
    names = [(score.protocol, score.name) for score in report.scores]
    assert names == [(p, f"{way} PPL") for p in ("paper", "honest") for way in ("forward", "reverse")]
    assert report.alarms == ("other",) and {score.system for score in report.scores} == {"m"}
    reverse = 10 ** ((0.5 + 0.3 + 0.25) / 3)  # of "a a", whatever the samples
    assert [score.value for score in report.scores if score.name == "reverse PPL"] == pytest.approx([reverse] * 2)
    # The forward model is of the training text, words lower-cased as the model writes them; the reverse one of samples.
    assert heard[0] == (["a n", "<unk> a"], True, 0) and heard[1][0] == ["a a", "", "a"] * 20
    assert [rest for _, *rest in heard[2:]] == [[False, 3], [False, 3]]  # a, n, and the unknown word
    assert report.scores[0].signature.startswith("samples:20|decoding:greedy|order:5|")


def test_samples_that_are_all_empty_are_an_alarm() -> None:
    """The report that they would be part of took minutes."""
    report = with_ngrams(
        LatentReport((), ("other",)), lambda count, seed: [""] * count, str.split, ["a"], ["a"], samples=2
    )
    assert report.alarms == ("other", "all 2 samples are empty: no forward and reverse PPL") and not report.scores

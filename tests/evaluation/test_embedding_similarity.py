"""Correlations against scipy's, on real pairs that the test reads for itself, and on resamples of their rows."""

from __future__ import annotations

import csv
import hashlib
import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import pearsonr, rankdata, spearmanr

from paraform import encoders
from paraform.encoders import Encoder
from paraform.evaluation.bootstrap import bootstrap_interval, paired_bootstrap
from paraform.evaluation.embedding.correlation import ALL, AVERAGES, MEAN, WEIGHTED, correlations
from paraform.evaluation.embedding.similarity import (
    SimilaritySet,
    set_means,
    similarity_set,
    similarity_sets,
    similarity_splits,
)
from paraform.evaluation.embedding.space import embedded
from paraform.records import InputError, Pair, Sentence

Correlate = Callable[[Any, Any], Any]
RANDOM = np.random.default_rng(7)
SIZES = (40, 15, 60)
FOUND = [RANDOM.normal(size=size) for size in SIZES]
GOLD = [np.round(3 + found + RANDOM.normal(size=len(found))) + at for at, found in enumerate(FOUND)]


def by_scipy(found: Sequence[Any], gold: Sequence[Any], correlate: Correlate) -> dict[str, float]:
    each = [100 * correlate(x, y)[0] for x, y in zip(found, gold, strict=True)]
    return {
        MEAN: float(np.mean(each)),
        WEIGHTED: sum(len(x) * r for x, r in zip(found, each, strict=True)) / sum(map(len, found)),
        ALL: 100 * correlate(np.concatenate(found), np.concatenate(gold))[0],
    }


def test_all_averages_are_scipys() -> None:
    metrics = correlations(FOUND, GOLD, "")
    for name, correlate in (("Pearson", pearsonr), ("Spearman", spearmanr)):
        expected = by_scipy(FOUND, GOLD, correlate)
        assert {average: metrics[name, average].over() for average in AVERAGES} == pytest.approx(expected)


def test_a_resample_of_rows_is_scipys_of_those_pairs() -> None:
    metrics = correlations(FOUND, GOLD, "")
    chosen = np.random.default_rng(1).integers(0, sum(SIZES), sum(SIZES))
    parts = np.split(np.arange(sum(SIZES)), np.cumsum(SIZES)[:-1])
    drawn = [chosen[np.isin(chosen, part)] for part in parts]
    found, gold = np.concatenate(FOUND), np.concatenate(GOLD)
    expected = by_scipy([found[rows] for rows in drawn], [gold[rows] for rows in drawn], pearsonr)
    assert {average: metrics["Pearson", average].over(chosen) for average in AVERAGES} == pytest.approx(expected)

    # Spearman's ranks stay those among all rows.
    ranks = [np.concatenate([rankdata(part) for part in side]) for side in (FOUND, GOLD)]
    kept = by_scipy([ranks[0][rows] for rows in drawn], [ranks[1][rows] for rows in drawn], pearsonr)
    assert metrics["Spearman", MEAN].over(chosen) == pytest.approx(kept[MEAN])


def test_the_correlation_of_a_constant_is_0_and_large_numbers_lose_no_digits() -> None:
    constant = [np.full(len(found), 0.1) for found in FOUND]
    assert {metric.over() for metric in correlations(constant, GOLD, "").values()} == {0.0}
    far = [1e6 + 1e-3 * found for found in FOUND]
    assert correlations(far, GOLD, "")["Pearson", ALL].over() == pytest.approx(
        by_scipy(FOUND, GOLD, pearsonr)[ALL], 1e-5
    )


def test_the_interval_covers_the_true_correlation_as_often_as_it_says() -> None:
    generator, inside = np.random.default_rng(0), 0
    truth, trials = 60.0, 100
    for _ in range(trials):
        gold = generator.normal(size=100)
        found = 0.6 * gold + 0.8 * generator.normal(size=100)  # a correlation of 0.6
        low, high = bootstrap_interval(correlations([found], [gold], "")["Pearson", MEAN], resamples=200)
        inside += low <= truth <= high
    # 95 % of 100 trials are 95 ± 2.2; the percentile interval of 100 rows is known to be a little narrow.
    assert 88 <= inside <= 99


def letters(texts: Sequence[str]) -> NDArray[np.float32]:
    """Counts of triples of letters in 256 bins: cheap vectors that know something."""
    rows = np.zeros((len(texts), 256), np.float32)
    for row, text in enumerate(texts):
        for at in range(len(text) - 2):
            rows[row, hashlib.blake2b(text[at : at + 3].encode(), digest_size=1).digest()[0]] += 1
    return rows


def cosines(embed: Any, lefts: Sequence[str], rights: Sequence[str]) -> NDArray[np.float64]:
    x, y = (np.asarray(embed(list(side)), np.float64) for side in (lefts, rights))
    return np.asarray((x * y).sum(1) / np.linalg.norm(x, axis=1) / np.linalg.norm(y, axis=1))


def read(folder: Path, domain: str, most: int | None = None) -> tuple[list[str], list[str], NDArray[np.float64]]:
    pairs = (folder / f"STS.input.{domain}.txt").read_text(encoding="utf-8").split("\n")
    scores = (folder / f"STS.gs.{domain}.txt").read_text(encoding="utf-8").split("\n")
    kept = [(*pair.split("\t"), float(score)) for pair, score in zip(pairs, scores, strict=True) if score.strip()][
        :most
    ]
    lefts, rights, gold = zip(*kept, strict=True)
    return list(lefts), list(rights), np.array(gold)


STS16 = ("answer-answer", "headlines", "plagiarism", "postediting", "question-question")


def test_a_whole_year_is_what_scipy_finds(data: Path) -> None:
    folder = data / "sts" / "STS16-en-test"
    (year,) = similarity_sets(folder)
    assert (year.name, year.settings) == ("STS16", "pairs:1186|domains:5|unscored:7997")
    domains = [read(folder, domain) for domain in STS16]
    found = [cosines(letters, lefts, rights) for lefts, rights, _ in domains]
    gold = [gold for *_, gold in domains]
    findings = year.measure(embedded(letters, year.texts(), name="letters", signature="bins:256"))
    scores = {(one.score.name, one.score.protocol): one.score.value for one in findings}
    for name, correlate in (("Pearson", pearsonr), ("Spearman", spearmanr)):
        expected = by_scipy(found, gold, correlate)
        assert {average: scores[name, average] for average in AVERAGES} == pytest.approx(
            expected, abs=0.02
        )  # float32 parts some ties


def test_minilm_is_what_scipy_finds_on_sentence_transformers_vectors(data: Path, minilm: Encoder) -> None:
    """The first pairs of each domain; of all the means of Pearson are 70.3, 74.3, 79.6, 82.4, 80.3 and STS-B's 82.7."""
    from sentence_transformers import SentenceTransformer

    folder = data / "sts" / "STS16-en-test"
    peer = SentenceTransformer(str(encoders.locate("minilm")), device="cpu")
    few = [read(folder, domain, 12) for domain in STS16]
    found = [cosines(peer.encode, lefts, rights) for lefts, rights, _ in few]
    expected = by_scipy(found, [gold for *_, gold in few], pearsonr)
    year = SimilaritySet("STS16", {name: pairs[:12] for name, pairs in similarity_sets(folder)[0].domains.items()})
    findings = year.measure(embedded(minilm.embed, year.texts(), name="minilm", signature=""))
    scores = {one.score.protocol: one.score.value for one in findings if one.score.name == "Pearson"}
    assert scores == pytest.approx(expected, abs=0.01)


def test_the_folder_of_real_data_has_all_sets(data: Path) -> None:
    sets = similarity_sets(data)
    assert [one.name for one in sets] == ["STS12", "STS13", "STS14", "STS15", "STS16", "STS-B", "SICK-R"]
    assert [sum(map(len, one.domains.values())) for one in sets] == [3108, 1500, 3750, 3000, 1186, 1379, 4927]
    splits = {name: (len(one.train), len(one.dev), len(one.test)) for name, one in similarity_splits(data).items()}
    assert splits == {"STS-B": (5749, 1500, 1379), "SICK-R": (4500, 500, 4927)}
    with open(data / "stsb" / "stsb-en-test.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    pairs = sets[5].domains["STS-B"]
    assert [[pair.source.text, pair.target.text, pair.score] for pair in pairs] == [
        [first.strip(), second.strip(), float(score)] for first, second, score in rows
    ]


def small_set(name: str, size: int) -> SimilaritySet:
    texts = [Sentence(" ".join(words)) for words in itertools.islice(itertools.product("abcd", repeat=4), 2 * size)]
    generator = np.random.default_rng(len(name) + size)
    sides = zip(texts[::2], texts[1::2], strict=True)
    return similarity_set(name, {name: [Pair(*two, score=float(generator.normal())) for two in sides]}, "small.tsv")


def test_means_are_of_all_six_sets_or_not_at_all() -> None:
    names = ["STS12", "STS13", "STS14", "STS15", "STS16", "STS-B"]
    sets = [small_set(name, 10 + at) for at, name in enumerate(names)]
    texts = [text for one in sets for text in one.texts()]
    spaces = [
        embedded(letters, texts, name="a", signature="s:1"),
        embedded(lambda t: letters(t)[:, ::2], texts, name="b", signature="s:2"),
    ]
    findings = [finding for one in sets for space in spaces for finding in one.measure(space)]
    means = set_means(findings)
    assert {one.score.subset for one in means} == {"mean of 6"} and len(means) == 2 * 6
    for mean in means:
        parts = [
            one.score.value
            for one in findings
            if (one.score.system, one.score.name, one.score.protocol)
            == (mean.score.system, mean.score.name, mean.score.protocol)
        ]
        assert mean.score.value == pytest.approx(np.mean(parts))
        assert mean.score.signature.endswith(f"pairs:75|{'s:1' if mean.score.system == 'a' else 's:2'}")
    first, second = (next(one.metric for one in means if one.score.system == system) for system in "ab")
    assert first is not None and second is not None
    assert paired_bootstrap(first, second, resamples=20).difference == pytest.approx(first.over() - second.over())
    assert set_means([one for one in findings if one.score.subset != "STS14"]) == []
    for mean in means:  # of a resample that holds the last set's rows alone, the other sets are constants
        assert mean.metric is not None
        last = np.arange(len(mean.metric.rows))[-15:]
        ours = (mean.score.system, mean.score.name, mean.score.protocol)
        [alone] = [
            one.metric.over()
            for one in findings
            if one.metric
            and one.score.subset == "STS-B"
            and (one.score.system, one.score.name, one.score.protocol) == ours
        ]
        assert mean.metric.over(last) == pytest.approx(alone / 6)


def test_scores_that_do_not_differ_are_nothing_to_correlate_with() -> None:
    with pytest.raises(InputError, match=r"^gold\.tsv: no two scores are different"):
        similarity_set("flat", {"flat": [Pair(Sentence("a"), Sentence("b"), score=3.0)] * 2}, "gold.tsv")


def test_a_folder_without_sets_says_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no scored pairs; expected STS\.input\.\*\.txt, sts-test\.csv, "):
        similarity_sets(tmp_path)

"""From pairs to the training table: words, exemplars and style features are those of the single steps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paraform import encoders
from paraform.batching import UNK, Vocabulary, prepare
from paraform.corpora import clusters
from paraform.encoders import Encoder
from paraform.models.exemplar import ExemplarConfig
from paraform.models.exemplar.batches import TripleTable
from paraform.models.exemplar.triples import triple_table
from paraform.records import InputError, Pair, Sentence
from paraform.syntax import MiningConfig, mine, mining, tagging

CONFIG = replace(ExemplarConfig.compact(), min_count=3, max_tokens=8)
VERBS = {"Learn": "study", "teach": "explain", "enjoy": "like"}
PAIRS = [
    Pair(Sentence(f"How can I {verb} {noun}?"), Sentence(f"What is the way to {other} {noun} ?"))
    for verb, other in VERBS.items()
    for noun in ("chess", "Poker", "the old piano of my very kind aunt")
]


@pytest.fixture(autouse=True)
def one_encoder(minilm: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoders, "load", lambda *_, **__: minilm)


def said(table: TripleTable, vocabulary: Vocabulary, beyond: dict[int, str], row: int) -> list[str]:
    numbers = table.words.values[table.words.offsets[row] : table.words.offsets[row + 1]].tolist()
    assert UNK not in numbers
    return [vocabulary.words[n] if n < len(vocabulary) else beyond[n] for n in numbers]


def test_words_and_style_of_every_sentence(minilm: Encoder, tmp_path: Path) -> None:
    table, vocabulary, _ = triple_table(PAIRS, CONFIG, cache=tmp_path)
    assert len(table) == len(PAIRS) and "what" in vocabulary.words and "explain" in vocabulary.words
    assert "teach" in vocabulary.words and "kind" not in vocabulary.words  # cut at eight words
    assert vocabulary.cased["poker"] == "Poker"
    targets = [[word.lower() for word in prepare(pair.target.text, 8)] for pair in PAIRS]
    sources = [[word.lower() for word in prepare(pair.source.text, 8)] for pair in PAIRS]
    # words of no vocabulary keep a number of their own: find them by what stands there
    beyond: dict[int, str] = {}
    for words, row in [*zip(sources, table.source, strict=True), *zip(targets, table.target, strict=True)]:
        numbers = table.words.values[table.words.offsets[row] : table.words.offsets[row + 1]].tolist()
        beyond |= {n: word for n, word in zip(numbers, words, strict=True) if n >= len(vocabulary)}
        assert said(table, vocabulary, beyond, row) == words
    assert len(set(beyond.values())) == len(beyond)
    (states,) = minilm.states([" ".join(words) for words in targets], layers=[CONFIG.style_layer])
    for number, row in enumerate(table.target):
        found = table.style.values[table.style.offsets[row] : table.style.offsets[row + 1]]
        expected = states.states_ND[states.offsets[number] : states.offsets[number + 1]]
        np.testing.assert_allclose(found, expected, atol=5e-3)


@pytest.mark.parametrize("pool", ["targets", "sources"])
def test_exemplars_are_the_mined_ones(pool: Any, tmp_path: Path) -> None:
    config = replace(CONFIG, pool=pool)
    pairs = clusters(PAIRS)
    table, _, mined = triple_table(pairs, config, cache=tmp_path)
    alone = mine(mined.pairs, MiningConfig(pool=pool, keep=config.ties, pool_size=config.pool_size))
    assert np.array_equal(mined.exemplars, alone.exemplars) and np.array_equal(mined.distances, alone.distances)
    row_of = table.target if pool == "targets" else table.source
    expected = np.where(alone.exemplars >= 0, row_of[alone.exemplars], -1)
    assert np.array_equal(table.exemplars, expected) and (expected >= 0).any()
    assert table.clusters.tolist() == [pair.cluster for pair in pairs]
    tagged = [*(pair.target for pair in mined.pairs), *mined.pool]
    assert all(sentence.tokens == tuple(word.lower() for word in prepare(sentence.text, 8)) for sentence in tagged)
    assert all(len(sentence.tags) == len(sentence.tokens) for sentence in tagged)


def test_nothing_is_computed_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, *_ = triple_table(PAIRS, CONFIG, cache=tmp_path)

    def never(*_: object, **__: object) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr(mining, "mine", never)
    monkeypatch.setattr(tagging, "head_tagger", never)
    monkeypatch.setattr(Encoder, "states", never)
    again, *_ = triple_table(PAIRS, CONFIG, cache=tmp_path)
    assert np.array_equal(first.exemplars, again.exemplars) and np.array_equal(first.style.values, again.style.values)
    for changed in (replace(CONFIG, ties=1), replace(CONFIG, style_layer=2)):
        with pytest.raises(AssertionError, match="computed again"):
            triple_table(PAIRS, changed, cache=tmp_path)
    with pytest.raises(AssertionError, match="computed again"):
        triple_table(PAIRS, CONFIG, seed=1, cache=tmp_path)


def test_a_style_encoder_that_is_trained_reads_pieces(minilm: Encoder, tmp_path: Path) -> None:
    config = replace(CONFIG, style_trainable=True, min_count=1)
    pairs = [*PAIRS, Pair(Sentence("Is antidisestablishmentarianism dull?"), Sentence("Don't you find it dull ?"))]
    table, *_ = triple_table(pairs, config, cache=tmp_path)
    row = table.target[-1]
    pieces = table.style.values[table.style.offsets[row] : table.style.offsets[row + 1]].tolist()
    assert pieces == minilm.pieces(["do n't you find it dull ?"])[0]


def test_states_of_every_word(minilm: Encoder, tmp_path: Path) -> None:
    """The last layer's at each word's first piece, of the lower-cased words with spaces between."""
    config = replace(CONFIG, content_input="both")
    pairs = [*PAIRS, Pair(Sentence("Is antidisestablishmentarianism dull?"), Sentence("Don't you find it dull ?"))]
    table, *_ = triple_table(pairs, config, cache=tmp_path)
    assert table.content is not None
    long, short = table.content.padded(np.array([table.source[-1], table.target[-1]])).numpy()
    (states,) = minilm.states(["is antidisestablishmentarianism dull ?", "do n't you find it dull ?"], layers=[-1])
    first, second = np.split(states.states_ND.numpy(), states.offsets[1:-1])
    pieces = len(first) - 2
    assert table.words.lengths(np.array([table.source[-1]])).tolist() == [4] and pieces > 6
    np.testing.assert_allclose(long[:4], first[[1, 2, pieces - 1, pieces]], atol=5e-3)
    places = [1, 2, 5, 6, 7, 8, 9]  # do n ' t you find it dull ?
    np.testing.assert_allclose(short[: len(places)], second[places], atol=5e-3)
    assert not short[len(places) :].any()


def test_further_deals_are_those_of_further_seeds(tmp_path: Path) -> None:
    """Where a pool of them holds no exemplar, that of the first stands; each is mined once."""
    pairs = clusters(PAIRS)
    config = replace(CONFIG, pool_size=2, exemplar_deals=3)
    table, *_ = triple_table(pairs, config, seed=5, cache=tmp_path)
    (first, _, _), *others = (
        triple_table(pairs, replace(config, exemplar_deals=1), seed=seed, cache=tmp_path) for seed in (5, 6, 7)
    )
    assert np.array_equal(table.exemplars, first.exemplars) and len(table.further) == 2
    none = 0
    for found, (alone, _, _) in zip(table.further, others, strict=True):
        lacking = alone.exemplars[:, 0] < 0
        assert np.array_equal(found[~lacking], alone.exemplars[~lacking])
        assert np.array_equal(found[lacking], first.exemplars[lacking])
        none += int(lacking.sum())
    assert none and not np.array_equal(table.further[0], table.exemplars)


def test_no_pairs() -> None:
    with pytest.raises(InputError, match="no pairs"):
        triple_table([], CONFIG)

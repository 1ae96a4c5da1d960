"""What is kept from training: nothing of it is trained on, and nothing is lost."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraform.corpora import clusters
from paraform.records import InputError, Origin, Pair, Sentence
from paraform.trainers.held_out import divided, hold_out_pairs, hold_out_texts, unseen_pairs, unseen_texts
from paraform.trainers.latent import train_latent


@pytest.mark.parametrize(("different", "held"), [(2, 1), (39, 1), (40, 2), (500, 25), (19_999, 999), (30_000, 1000)])
@pytest.mark.parametrize("times", [1, 2])
def test_a_twentieth_of_the_different_sentences_is_held_out(different: int, held: int, times: int) -> None:
    texts = [f"sentence {number}" for number in range(different)] * times
    training, validation = hold_out_texts(texts, seed=3)
    assert len(set(validation)) == held
    assert not set(training) & set(validation)
    assert sorted(training + validation) == sorted(texts)  # nothing is lost, nothing added
    assert hold_out_texts(texts, seed=3) == (training, validation)
    if held > 1:
        assert set(hold_out_texts(texts, seed=4)[1]) != set(validation)


def test_texts_that_are_read_alike_stay_together() -> None:
    texts = [variant for number in range(60) for variant in (f"Text {number}", f"text  {number}", f"TEXT {number}")]
    training, validation = hold_out_texts(texts, seed=1, key=lambda text: " ".join(text.lower().split()))
    assert len(validation) == 3 * 3 and sorted(training + validation) == sorted(texts)
    assert not {text.split()[1] for text in training} & {text.split()[1] for text in validation}


def test_one_sentence_cannot_be_held_out() -> None:
    for texts in ([], ["alone"], ["alone", "alone"]):
        with pytest.raises(InputError, match="expected two or more"):
            hold_out_texts(texts, seed=0)


@given(
    st.lists(st.integers(0, 30), min_size=2, max_size=200).filter(lambda found: len(set(found)) > 1), st.integers(0, 9)
)
def test_of_pairs_whole_clusters_are_held_out(numbers: list[int], seed: int) -> None:
    pairs = [
        Pair(Sentence(f"source {row}"), Sentence(f"target {row}"), cluster=cluster)
        for row, cluster in enumerate(numbers)
    ]
    training, validation = hold_out_pairs(pairs, seed=seed)
    assert training and validation
    assert not {pair.cluster for pair in training} & {pair.cluster for pair in validation}
    kept = iter(training), iter(validation)
    held = {pair.cluster for pair in validation}
    assert [next(kept[pair.cluster in held]) for pair in pairs] == pairs  # both in their order
    smallest = min(map(numbers.count, numbers))
    assert len(validation) <= max(smallest, max(1, len(pairs) // 20))
    assert hold_out_pairs(pairs, seed=seed) == (training, validation)


def test_of_many_pairs_a_thousand_are_held_out() -> None:
    pairs = [Pair(Sentence(f"a {row}"), Sentence(f"b {row}"), cluster=row // 2) for row in range(21_000)]
    assert len(hold_out_pairs(pairs, seed=0)[1]) == 1000


def test_one_cluster_cannot_be_held_out() -> None:
    pair = Pair(Sentence("a"), Sentence("b"), cluster=0)
    for pairs in ([], [pair], [pair] * 3):
        with pytest.raises(InputError, match="expected two or more"):
            hold_out_pairs(pairs, seed=0)


def test_what_is_evaluated_on_is_not_trained_on(caplog: pytest.LogCaptureFixture) -> None:
    """A pair that shares a sentence goes, and the rest of its cluster; of texts the same text in other writing."""
    pairs = clusters([Pair(Sentence(a), Sentence(b)) for a, b in (("a b", "c d"), ("c d", "e f"), ("g h", "i j"))])
    assert unseen_pairs(pairs, ["A  b!"]) == pairs[2:]
    assert "1 of 3 pairs have a sentence of the evaluation sets, and 1 are of one cluster with these" in caplog.text
    assert unseen_pairs(pairs, []) is pairs
    assert unseen_texts(["A dog.", "a cat"], ["a dog"]) == ["a cat"]
    assert "1 of 2 texts stand in the evaluation sets; left out" in caplog.text
    assert unseen_texts(["A dog."], []) == ["A dog."]


@pytest.mark.parametrize("trainer", ["exemplar", "disentangled"])
def test_every_trainer_leaves_out_what_it_is_measured_by(trainer: str, tmp_path: Path) -> None:
    train = import_module(f"paraform.trainers.{trainer}").TRAINER.train
    pairs = [Pair(Sentence(f"do {word} ?"), Sentence(f"will {word} ?")) for word in ("cats", "dogs")]
    texts = [side.text for pair in pairs for side in (pair.source, pair.target)]
    with pytest.raises(InputError, match="0 clusters of pairs"):
        train(pairs, tmp_path / "run", against=texts)
    with pytest.raises(InputError, match="training: no sentence"):
        train_latent(texts, tmp_path / "other", against=texts)


def test_files_are_numbered_as_they_were_given() -> None:
    """Whatever is held out of the first one."""
    pairs = [
        Pair(Sentence(f"a {n}"), Sentence(f"b {n}"), cluster=n, origin=Origin("AB"[n % 2], n + 1)) for n in range(20)
    ]
    for seed in range(60):
        assert divided(pairs, None, (), seed=seed, labelled=True, shared=True).files == {"A": 0, "B": 1}

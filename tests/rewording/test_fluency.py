"""The back-off model: as kenlm computes it, as equations have it, and what a damaged folder says."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from paraform import manifest
from paraform.records import InputError
from paraform.rewording import fluency
from paraform.weights import save_tensors

# Four words, all figures by hand; "b" and "d" open no longer n-gram, and "b a" has no back-off to speak of.
ARPA = """\\data\\
ngram 1=7
ngram 2=6
ngram 3=3

\\1-grams:
-1.5\t<unk>\t0
-99\t<s>\t-0.30
-0.8\t</s>\t0
-0.7\ta\t-0.25
-1.1\tb\t-0.11
-0.9\tc\t-0.4
-2.0\td\t0

\\2-grams:
-0.2\t<s> a\t-0.15
-0.5\ta b\t-0.35
-0.6\tb a\t0
-0.35\tb c\t-0.05
-0.45\tc </s>\t0
-0.75\ta a\t-0.6

\\3-grams:
-0.12\t<s> a b
-0.33\ta b c
-0.21\tb c </s>

\\end\\
"""
SENTENCES = st.lists(st.lists(st.sampled_from([*"abcd", "A", "zebra", "<unk>"]), max_size=8), max_size=5)


@pytest.fixture(scope="module")
def model() -> fluency.NGrams:
    return fluency.read_arpa(ARPA.splitlines(keepends=True))


def by_definition(words: tuple[str, ...]) -> float:
    """log10 p(last word | those before) by recursion (Katz 1987), on the lines of the ARPA file."""
    rows = [line.split("\t") for line in ARPA.splitlines() if "\t" in line]
    log_probs = {tuple(row[1].split()): float(row[0]) for row in rows}
    backoffs = {tuple(row[1].split()): float(row[2]) for row in rows if len(row) > 2}
    if words in log_probs:
        return log_probs[words]
    return backoffs.get(words[:-1], 0.0) + by_definition(words[1:])


@given(SENTENCES)
def test_equals_the_definition(sentences: list[list[str]]) -> None:
    model = fluency.read_arpa(ARPA.splitlines())
    found = model.log_probs(sentences)
    assert len(found) == len(sentences)
    for words, log_probs in zip(sentences, found, strict=True):
        read = ["<s>", *(word.lower() if word.lower() in "abcd" else "<unk>" for word in words), "</s>"]
        expected = [by_definition(tuple(read[max(0, at - 2) : at + 1])) for at in range(1, len(read))]
        assert log_probs.tolist() == pytest.approx([log10 * math.log(10) for log10 in expected], abs=1e-5)


def test_equals_kenlm(model: fluency.NGrams, tmp_path: Path) -> None:
    kenlm = pytest.importorskip("kenlm")
    (tmp_path / "model.arpa").write_text(ARPA, encoding="utf-8")
    peer = kenlm.Model(str(tmp_path / "model.arpa"))
    sentences = [list(words) for size in range(5) for words in itertools.product("abcd?", repeat=size)]
    for words, log_probs in zip(sentences, model.log_probs(sentences), strict=True):
        scores = [log10 * math.log(10) for log10, _, _ in peer.full_scores(" ".join(words))]
        assert log_probs.tolist() == pytest.approx(scores, abs=1e-5)


@pytest.mark.parametrize("name", ["fluency", "grammar"])
def test_fewer_words_than_an_n_gram(name: str) -> None:
    """A lone short sentence has the probabilities that it has beside others."""
    model = fluency.load(name)
    for words in ([], ["the"], ["the", "dt"], ["the"] * 3):
        (alone,) = model.log_probs([words])
        assert alone.tolist() == model.log_probs([["a"] * 9, words, []])[1].tolist()


def test_nothing_to_read(model: fluency.NGrams) -> None:
    """p(</s> | <s>) is the back-off of <s> times p(</s>); a batch of none is none."""
    assert model.log_probs([]) == []
    (log_probs,) = model.log_probs([[]])
    assert log_probs.tolist() == pytest.approx([(-0.30 - 0.8) * math.log(10)])
    assert "A" in model and "zebra" not in model and 3 not in model


def test_saved_and_loaded(model: fluency.NGrams, tmp_path: Path) -> None:
    """float16 holds figures to a thousandth."""
    fluency.save(model, tmp_path / "model", card="A card.", data_digests={"made": "0"})
    again = fluency.load(str(tmp_path / "model"))
    assert again.words == model.words
    for old, new in zip(model.orders, again.orders, strict=True):
        assert new.keys_K.tolist() == old.keys_K.tolist()
        np.testing.assert_allclose(new.log_probs_K, old.log_probs_K, rtol=1e-3)
        np.testing.assert_allclose(new.backoffs_K, old.backoffs_K, rtol=1e-3)


def test_classes_are_tags_but_for_words_that_the_model_knows() -> None:
    known = {"the/dt", "is/vbz"}
    assert fluency.classes(["The", "dog", "is", "is"], ["DT", "NN", "VBZ", "NN"], known) == [
        "the/dt",
        "nn",
        "is/vbz",
        "nn",
    ]
    assert fluency.classes([], [], known) == []


@pytest.mark.parametrize("name", ["fluency", "grammar"])
def test_embedded(name: str) -> None:
    """Probabilities of every word after a context add up to one, as closely as float16 and rounding have it."""
    model = fluency.load(name)
    words = [word for word in model.words if word != fluency.BEGIN]
    opening = ["the"] if name == "fluency" else ["dt"]
    log_probs = model.log_probs([[*opening, word] for word in words if word != fluency.END] + [opening])
    total = sum(np.exp(found[1]) for found in log_probs)
    assert total == pytest.approx(1, abs=5e-3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("\\1-grams:", "\\data\\"), r"expected 1 words that have a 1-gram"),
        (("-0.8\t</s>\t0\n", ""), r"line 19: '-0.45\\tc </s>\\t0'; expected 2 words"),
        (("-1.5\t<unk>\t0\n", ""), r"n-grams of 6 words; expected different ones"),
        (("-0.7\ta", "-0.7 a"), r"line 10: '-0.7 a\\t-0.25'; expected log10"),
        (("-0.7\ta", "many\ta"), r"expected log10, words and back-off"),
        (("-0.7\ta", "-inf\ta"), r"1-grams: NaN or infinity"),
        (("-0.7\ta", "nan\ta"), r"1-grams: NaN or infinity"),
        (("a b c\n", "a b\n"), r"'-0.33\\ta b'; expected 3 words"),
        (("a b c\n", "a b e\n"), r"'-0.33\\ta b e'; expected 3 words"),
        (("a b c\n", "<s> a b\n"), r"3-grams: keys out of order or range"),
        (("-1.1\tb\t", "-1.1\ta\t"), r"expected 2 words that have a 1-gram|expected different ones"),
        ((ARPA[ARPA.index("-0.12") :], ""), r"no 3-grams"),
        ((ARPA, ""), r"no n-grams; expected an ARPA file"),
    ],
)
def test_no_arpa_file(change: tuple[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        fluency.read_arpa(ARPA.replace(*change).splitlines(keepends=True))


def test_line_ends_of_another_system(model: fluency.NGrams) -> None:
    again = fluency.read_arpa(ARPA.replace("\n", "\r\n").splitlines(keepends=True))
    assert again.words == model.words
    assert again.log_probs([["a", "b", "c"]])[0].tolist() == model.log_probs([["a", "b", "c"]])[0].tolist()


Tensors = dict[str, torch.Tensor]


def unsorted(tensors: Tensors) -> Tensors:
    return tensors | {"2.keys": tensors["2.keys"].flip(0)}


def beyond(tensors: Tensors) -> Tensors:
    return tensors | {"2.keys": tensors["2.keys"] + 49}


def below(tensors: Tensors) -> Tensors:
    return tensors | {"2.keys": tensors["2.keys"] - 49}


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda tensors: {}, r"tensors that it lacks or has beside its own: \['1.backoffs'"),
        (lambda tensors: {**tensors, "more": torch.zeros(1)}, r"beside its own: \['more'\]"),
        (lambda tensors: {**tensors, "1.keys": tensors["1.keys"].int()}, "keys of int32"),
        (lambda tensors: {**tensors, "1.keys": tensors["1.keys"].float()}, "keys of float32"),
        (lambda tensors: {**tensors, "1.keys": tensors["1.keys"].bfloat16()}, "BFloat16"),
        (lambda tensors: {**tensors, "1.keys": tensors["1.keys"][None]}, r"shapes \[\[1, 7\], \[7\], \[7\]\]"),
        (lambda tensors: {**tensors, "1.log_probs": torch.zeros(6)}, r"shapes \[\[7\], \[6\], \[7\]\]"),
        (lambda tensors: {**tensors, "1.log_probs": torch.tensor(1.0)}, r"shapes \[\[7\], \[\], \[7\]\]"),
        (lambda tensors: {name: tensor[:0] for name, tensor in tensors.items()}, "at least one"),
        (lambda tensors: {name: tensor[:6] for name, tensor in tensors.items()}, "6 1-grams of 7 words"),
        (lambda tensors: {**tensors, "2.backoffs": torch.full((6,), torch.nan)}, "NaN or infinity"),
        (lambda tensors: {**tensors, "2.backoffs": torch.full((6,), torch.inf)}, "NaN or infinity"),
        (unsorted, "2-grams: keys out of order or range"),
        (beyond, "2-grams: keys out of order or range"),
        (below, "2-grams: keys out of order or range"),
    ],
)
def test_damaged_tensors(
    damage: Callable[[Tensors], Tensors], message: str, model: fluency.NGrams, tmp_path: Path
) -> None:
    written(model, tmp_path, damage=damage)
    with pytest.raises(InputError, match=message) as raised:
        fluency.load(str(tmp_path))
    assert "\n" not in str(raised.value) and str(tmp_path) in str(raised.value)


@pytest.mark.parametrize(
    ("words", "config", "message"),
    [
        (None, {}, "orders None; expected a number from 1 to 10"),
        (None, {"orders": "3"}, "orders '3'"),
        (None, {"orders": True}, "orders True"),
        (None, {"orders": 10**9}, "orders 1000000000"),
        (None, {"orders": 2}, r"beside its own: \['3.backoffs'"),
        (b"\xff\n", {"orders": 3}, "utf-8"),
        (b"", {"orders": 3}, "n-grams of 0 words"),
        (b"<unk>\n<s>\n</s>\na\na\nc\nd\n", {"orders": 3}, "n-grams of 7 words; expected different ones"),
        (b"<unk>\n<s>\n</s>\na\n", {"orders": 3}, "keys out of order or range"),
    ],
)
def test_damaged_words_and_config(
    words: bytes | None, config: dict[str, Any], message: str, model: fluency.NGrams, tmp_path: Path
) -> None:
    written(model, tmp_path, words=words, config=config)
    with pytest.raises(InputError, match=message):
        fluency.load(str(tmp_path))


def test_more_n_grams_than_numbers(model: fluency.NGrams) -> None:
    """Eight words to the power of 21 are 2^63."""
    with pytest.raises(InputError, match="21 orders of 8 words; expected n-grams that 63 bits number"):
        fluency.NGrams([*model.words, "e"], [model.orders[0]] * 21)


def test_no_folder_of_a_model(other_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file; expected a checkpoint folder"):
        fluency.load(str(tmp_path))
    with pytest.raises(InputError, match="system 'syntax-head'; expected 'n-grams'"):
        fluency.load(str(other_folder))


@pytest.fixture
def other_folder() -> Path:
    """Of another system."""
    return Path(manifest.__file__).parent / "pretrained" / "syntax"


def written(
    model: fluency.NGrams,
    folder: Path,
    *,
    damage: Callable[[Tensors], Tensors] = lambda tensors: tensors,
    words: bytes | None = None,
    config: dict[str, Any] | None = None,
) -> None:
    """A folder whose digests are right, whatever else is wrong with it."""
    tensors: Tensors = {}
    for order, grams in enumerate(model.orders, start=1):
        for name, part in zip(("keys", "log_probs", "backoffs"), grams, strict=True):
            tensors[f"{order}.{name}"] = torch.from_numpy(part)
    fluency.save(model, folder, card="A card.", data_digests={})
    about = manifest.read(folder)
    said = "".join(f"{word}\n" for word in model.words).encode() if words is None else words
    manifest.commit(
        folder,
        dataclasses.replace(about, config={"orders": 3} if config is None else config),
        {
            manifest.WEIGHTS: lambda path: save_tensors(damage(tensors), path),
            manifest.CARD: manifest.write_text("A card."),
            fluency.WORDS: lambda path: path.write_bytes(said),
        },
    )

"""Distances of shared words against a loop over words with transformers' own BERT, and metrics against plain means."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel

from paraform import encoders
from paraform.capabilities import ReadsWords
from paraform.encoders.types import WordStates
from paraform.evaluation.embedding import distances
from paraform.evaluation.embedding.distance_report import distance_findings, evaluate_distances, matrix_line
from paraform.evaluation.embedding.distances import (
    Layers,
    WordSystem,
    fitting_all,
    matrix_shape,
    measure_distances,
    reference_distances,
    shared_distances,
    word_system,
)
from paraform.evaluation.embedding.printed_pairs import EXAMPLES, example_distances
from paraform.evaluation.embedding.shared_words import SharedWordSet, WordPair, Words, shared_words
from paraform.records import InputError

SENTENCES = [
    ("a good dog sees the small dog", "the dog sees a good small cat"),
    ("the large bad cat runs", "a bad cat runs home , a small cat"),
    ("large dogs", "dogs see"),
]
OTHERS = [("the dog runs", "the cat sees the home"), ("good home", "bad home"), ("dog", "dog")]
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "good", "bad", "large", "small", "dog", "##s", "##e", "see", "the"]
PIECES += ["cat", "run", "home", ",", "sees"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT of word pieces, whose weights are large enough for its states to differ with their sentence."""
    made = tmp_path_factory.mktemp("encoder")
    tokenizer = Tokenizer(models.WordPiece({piece: row for row, piece in enumerate(PIECES)}, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.Whitespace()
    ends = [("[CLS]", 2), ("[SEP]", 3)]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    tokenizer.save(str(made / "tokenizer.json"))
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "intermediate_size": 24, "num_attention_heads": 2, "num_hidden_layers": 2}
    model = BertModel(BertConfig(vocab_size=len(PIECES), max_position_embeddings=16, **sizes))
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "LayerNorm" not in name:
                weight.normal_(std=0.5)
    model.save_pretrained(made)
    return made


@pytest.fixture(scope="module")
def bert(folder: Path) -> BertModel:
    model: BertModel = BertModel.from_pretrained(folder)
    return model.eval()


def brute_states(folder: Path, bert: BertModel, words: Sequence[str], layers: Layers) -> list[np.ndarray]:
    """Each word's state by transformers, a sentence at a time."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    encoding = tokenizer.encode(list(words), is_pretokenized=True)
    with torch.no_grad():
        hidden = bert(torch.tensor([encoding.ids]), output_hidden_states=True).hidden_states
    states = []
    for number in range(len(words)):
        pieces = [at for at, word in enumerate(encoding.word_ids) if word == number]
        each = [layer[0, pieces].double().numpy().mean(0) for layer in hidden]
        states.append({"own": each[-1], "all": np.concatenate(each), "mean": np.mean(each, axis=0)}[layers])
    return states


def cosine_distance(one: np.ndarray, other: np.ndarray) -> float:
    return 1 - float(one @ other) / float(np.linalg.norm(one) * np.linalg.norm(other))


def word_pairs(texts: Sequence[tuple[str, str]]) -> list[WordPair]:
    split = [(tuple(left.split()), tuple(right.split())) for left, right in texts]
    return [WordPair(left, right, shared_words(left, right)) for left, right in split]


def the_set(mined: bool = False) -> SharedWordSet:
    pairs = [word_pairs(SENTENCES), word_pairs(OTHERS)]
    sentences = list(dict.fromkeys(side for kind in pairs for pair in kind for side in pair[:2]))
    return SharedWordSet("own", pairs[0], pairs[1], sentences, mined, "pairs:own")


@pytest.mark.parametrize("layers", ["own", "all", "mean"])
def test_distances_are_those_of_a_loop_over_words(
    folder: Path, bert: BertModel, layers: Layers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paraform.evaluation.embedding.distances.BLOCK", 2)
    model = encoders.load(str(folder), device="cpu")
    assert isinstance(model, ReadsWords)
    found = shared_distances(word_pairs(SENTENCES), word_system("tiny", model, layers=layers).words)
    expected = []
    for number, (left, right) in enumerate(SENTENCES):
        sides = [text.split() for text in (left, right)]
        states = [brute_states(folder, bert, words, layers) for words in sides]
        for word in dict.fromkeys(sides[0]):
            places = [[at for at, one in enumerate(words) if one == word] for words in sides]
            two = [(states[0][one], states[1][other]) for one, other in itertools.product(*places)]
            if two and word != ",":
                l2 = np.mean([np.linalg.norm(one - other) for one, other in two])
                expected.append((number, l2, np.mean([cosine_distance(*each) for each in two])))
    assert len(expected) == 10
    np.testing.assert_allclose(np.stack(found, axis=1), expected, rtol=1e-4, atol=1e-5)


def test_references_are_means_over_every_two_sentences(
    folder: Path, bert: BertModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = the_set()
    words = word_system("tiny", encoders.load(str(folder), device="cpu")).words
    monkeypatch.setattr(distances, "REFERENCES", (("good", "bad"), ("small", "dog"), ("good", "zebra")))
    found = reference_distances(one.sentences, words)
    for reference in found[:2]:
        l2, cosine = [], []
        for left, right in itertools.product(one.sentences, repeat=2):
            if left != right and reference.words[0] in left and reference.words[1] in right:
                states = [brute_states(folder, bert, side, "own") for side in (left, right)]
                two = [of[side.index(w)] for of, side, w in zip(states, (left, right), reference.words, strict=True)]
                l2.append(np.linalg.norm(two[0] - two[1]))
                cosine.append(cosine_distance(*two))
        assert reference.cosine > 0.05  # or there would be nothing to tell apart
        assert reference.l2 == pytest.approx(np.mean(l2), rel=1e-4)
        assert reference.cosine == pytest.approx(np.mean(cosine), rel=1e-4, abs=1e-6)
    assert found[0].contexts == (3, 3) and found[0].name == "good–bad"
    assert found[2].contexts == (3, 0) and math.isnan(found[2].l2)
    many = [(*("a" for _ in range(number)), "good") for number in range(40)] + [("bad",)]
    monkeypatch.setattr(distances, "MOST_CONTEXTS", 7)
    assert reference_distances(many, constant_words)[0].contexts == (7, 1)


def system_of(values: dict[tuple[str, ...], Sequence[float]], name: str = "made") -> WordSystem:
    """States of one feature, and a second that is 1."""

    def words(sentences: Sequence[Sequence[str]]) -> WordStates:
        rows = [[value, 1.0] for sentence in sentences for value in values[tuple(sentence)]]
        offsets = np.cumsum([0, *map(len, sentences)])
        return WordStates(torch.tensor(rows)[:, None], offsets)

    return WordSystem(name, f"made:{name}", words, lambda sentences: [len(sentence) for sentence in sentences])


def constant_words(sentences: Sequence[Sequence[str]]) -> WordStates:
    count = sum(map(len, sentences))
    return WordStates(torch.ones(count, 1, 2), np.cumsum([0, *map(len, sentences)]))


VALUES: dict[tuple[str, ...], Sequence[float]] = {
    ("x", "y"): [0, 0],
    ("y", "x"): [3, 1],  # y: 3 apart, x: 1
    ("x", "good"): [0, 0],
    ("x", "bad"): [6, 2],  # x: 6 apart; good to bad: 2
}


def made_set(mined: bool = False) -> SharedWordSet:
    left, right, good, bad = VALUES
    paraphrases = [WordPair(left, right, shared_words(left, right)), WordPair(left, left, shared_words(left, left))]
    return SharedWordSet("own", paraphrases, [WordPair(good, bad, shared_words(good, bad))], list(VALUES), mined, "s:1")


def test_metrics_are_means_over_words_shares_and_a_ratio_that_no_scale_changes() -> None:
    one, system = made_set(), system_of(VALUES)
    scores = {
        (f.score.subset, f.score.name): f.score for f in distance_findings(one, system, measure_distances(one, system))
    }
    assert scores["own, paraphrases", "L2"].value == (3 + 1 + 0 + 0) / 4
    assert scores["own, others", "L2"].value == 6
    assert scores["own, paraphrases", "L2 > good–bad"].value == 25.0  # of four words one is more than 2 apart
    assert scores["own, others", "L2 > good–bad"].value == 100.0
    assert scores["own, good–bad", "L2"].value == 2
    assert scores["own, paraphrases", "L2 ratio"].value == pytest.approx(1 / 6)
    assert ("own, paraphrases", "L2 > large–small") not in scores and math.isnan(scores["own, large–small", "L2"].value)
    angle = [math.atan(3), math.atan(1)]
    assert scores["own, paraphrases", "cosine"].value == pytest.approx(sum(1 - math.cos(a) for a in angle) / 4)
    assert "distance:length of the difference" in scores["own, others", "L2"].signature
    assert scores["own, others", "L2"].signature.endswith("|s:1|made:made")
    shrunk = system_of({words: [value * 0.01 for value in row] for words, row in VALUES.items()}, "shrunk")
    report = evaluate_distances([one], [shrunk, system], resamples=30)
    found = {(s.subset, s.name, s.system): s for s in report.scores}
    assert found["own, paraphrases", "L2", "shrunk"].value == pytest.approx(0.01)
    assert found["own, paraphrases", "L2 ratio", "shrunk"].value == pytest.approx(1 / 6)
    (difference,) = [d for d in report.differences if d.subset == "own, paraphrases" and d.name == "L2"]
    assert difference.difference == pytest.approx(0.01 - 1)
    assert difference.low <= difference.difference <= difference.high
    assert report.notes == ["own: no sentence with 'large' or 'small', so no distance of that word"]
    assert "shrunk − made = -0.99" in report.table() and json.dumps(report.to_json())


def test_how_far_a_matrix_is_from_an_orthogonal_one(tmp_path: Path) -> None:
    """Of 2 I_d: 3 √d, and twos; of a rotation 0, and ones; of diag(1, 2, 4): √(9 + 225)."""
    assert matrix_shape(2 * np.eye(9)) == pytest.approx((9, 2, 2, 2))
    rotation, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))
    assert matrix_shape(rotation) == pytest.approx((0, 1, 1, 1), abs=1e-12)
    mixed = np.diag([4.0, 1, 2])
    assert matrix_shape(mixed) == pytest.approx((234**0.5, 1, 2, 4))
    system = system_of(VALUES)._replace(matrix=mixed)
    report = evaluate_distances([made_set()], [system, system_of(VALUES, "plain")], resamples=0)
    found = {score.name: (score.value, score.system) for score in report.scores if score.subset == "M"}
    assert found["‖I − MᵀM‖_F"] == (pytest.approx(234**0.5), "made")
    assert [found[f"{which} singular value"][0] for which in ("least", "median", "largest")] == pytest.approx([1, 2, 4])
    assert "15.297" in report.table() and matrix_line(system).endswith("15.30, singular values 1.00, 2.00, 4.00")
    assert matrix_line(system_of(VALUES)) == ""
    report.draw(tmp_path / "distances.png")
    assert (tmp_path / "distances.png").stat().st_size > 1000


def test_resamples_are_of_pairs() -> None:
    """Of two pairs of paraphrases with means 2 and 0 a resample has a mean of 0, 1 or 2; one pair has none to draw."""
    report = evaluate_distances([made_set(mined=True)], [system_of(VALUES)], resamples=200)
    found = {(score.subset, score.name): score for score in report.scores}
    both = found["own, paraphrases", "L2"]
    assert (both.low, both.value, both.high) == (0, 1, 2)
    alone = found["own, mined others", "L2"]
    assert (alone.low, alone.value, alone.high) == (6, 6, 6)
    ratio = found["own, paraphrases", "L2 ratio"]
    assert ratio.low is not None and math.isnan(ratio.low)  # a resample may have no other pair


def test_states_that_cannot_be(folder: Path) -> None:
    one = made_set()
    broken = system_of({**VALUES, ("x", "bad"): [math.nan, 0]}, "broken")
    with pytest.raises(InputError, match=r"^broken: NaN or infinity in a word's state; expected finite states$"):
        measure_distances(one, broken)
    few = WordSystem("few", "", lambda sentences: constant_words([["one"]]), list)
    with pytest.raises(InputError, match=r"^few: 1 states of 4 words; expected one a word$"):
        measure_distances(one, few)
    with pytest.raises(InputError, match="two models are called 'made'"):
        evaluate_distances([one], [system_of(VALUES), system_of(VALUES)])


def test_sentences_are_cut_to_what_all_systems_read(folder: Path) -> None:
    model = encoders.load(str(folder), device="cpu")
    sentences = [["dogs"] * 20, ["dog"] * 20, ["dog"] * 14, [], ["dog"] * 12 + ["dogse"] * 2]
    fitting = word_system("tiny", model).fitting
    assert fitting(sentences) == [7, 14, 14, 0, 12]  # of 14 pieces beside [CLS] and [SEP]
    assert (
        len(
            model.word_states(
                [words[:most] for words, most in zip(sentences, fitting(sentences), strict=True)], layers=[0]
            ).states_NLD
        )
        == 7 + 14 + 14 + 12
    )
    narrow = WordSystem("narrow", "", constant_words, lambda some: [3 for _ in some])
    assert fitting_all([word_system("tiny", model), narrow])(sentences) == [3, 3, 3, 0, 3]


def test_the_printed_pairs(folder: Path, bert: BertModel) -> None:
    words: dict[str, Words] = {}
    found = example_distances(word_system("tiny", encoders.load(str(folder), device="cpu")))
    words |= {one.words[0]: one.words for one in found}
    assert list(words) == ["bigger", "people", "believe", "earth", "flat", "why", "small"]
    assert words["small"] == ("small", "large") and found[-1].example is EXAMPLES[2]
    left, right = (brute_states(folder, bert, text.split(), "own") for text in EXAMPLES[2][:2])
    assert found[-1].l2 == pytest.approx(np.linalg.norm(left[4] - right[3]), rel=1e-4)
    assert found[-1].to_json()["sentences"] == ["It is a very small window.", "I have a large suitcase."]
    assert found[0].to_json()["published"] == {"elmo": (6.42, 0.27), "elmo_par": (2.75, 0.14)}

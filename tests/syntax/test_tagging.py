"""The shipped tagger on plain questions and on GUM; NLTK's and spaCy's behind the same function."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import pytest
import torch

from paraform import checkpoint, manifest
from paraform.corpora.treebank import read_treebank
from paraform.encoders import Encoder
from paraform.records import InputError
from paraform.syntax import running, tagging
from paraform.syntax.head import SyntaxHead, SyntaxHeadConfig, word_shape
from paraform.syntax.running import load_head
from paraform.syntax.tagging import Tagger, head_tagger, load_tagger, tagger_digest
from paraform.syntax.windows import windows_of

TINY = SyntaxHeadConfig(width=8, feed_forward=8, heads=2, depth=1, span_width=8)


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return load_tagger(device="cpu")


@pytest.mark.parametrize(
    ("words", "tags"),
    [
        ("How do I develop good project management skills ?", "WRB VBP PRP VB JJ NN NN NNS ."),
        ("how can i learn the guitar in a month ?", "WRB MD PRP VB DT NN IN DT NN ."),
        ("What is the best laptop ?", "WP VBZ DT JJS NN ."),
        ("The dogs have eaten John 's sandwiches .", "DT NNS VBP VBN NNP POS NNS ."),
        ("She quickly gave him two of them .", "PRP RB VBD PRP CD IN PRP ."),
    ],
)
def test_plain_sentences(words: str, tags: str, tagger: Tagger) -> None:
    assert tagger([words.split()]) == [tags.split()]


def test_accuracy_on_gum(tagger: Tagger, data: Path) -> None:
    """docs/results/syntax.md has them genre by genre; these three are of the written ones."""
    right = count = 0
    for genre in ("letter", "news", "voyage"):
        sentences = list(read_treebank(data / "treebank" / "gum" / "test" / f"{genre}.mrg"))
        for sentence, found in zip(sentences, tagger([sentence.tokens for sentence in sentences]), strict=True):
            right += sum(a == b for a, b in zip(sentence.tags, found, strict=True))
            count += len(found)
    assert count > 5_000 and right / count >= 0.955


def test_any_number_of_words(tagger: Tagger) -> None:
    """Beyond `WINDOW`, windows are tagged as sentences of their own; order and repeats are kept."""
    words = [f"{verb} the {noun}" for verb in ("Take", "see") for noun in ("dog", "old house", "end .")]
    long = [word for text in words * 9 for word in text.split()]
    assert len(long) == 198 and len(long) % tagging.WINDOW
    found = tagger([[], long, ["Dogs"], long, []])
    windows = [list(window) for window in windows_of(long, tagging.WINDOW)]
    assert found == [[], [tag for row in tagger(windows) for tag in row], tagger([["Dogs"]])[0], found[1], []]
    assert tagger([]) == []


def test_words_of_many_pieces(tagger: Tagger) -> None:
    """A window may have more pieces than the encoder reads, whatever the writing."""
    for word in ("x7" * 50, "한국어" * 20, "你好" * 30, "é" * 30, "☂", "\x00"):
        for count in (1, 59, 61):
            (tags,) = tagger([[word] * count])
            assert len(tags) == count and all(tags)


def test_a_head_on_the_encoders_states(minilm: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tagger is the head's best tag on the states of each word, whatever stands in the same batch."""
    torch.manual_seed(0)
    head = SyntaxHead(TINY, ["A", "B", "C", "D"], ["S"]).eval()
    monkeypatch.setattr(running.encoders, "load", lambda *_, **__: minilm)
    monkeypatch.setattr(running.encoders, "best_dtype", lambda _: torch.float32)
    sentences = [
        ["One", "two", "3"],
        ["a"],
        ["Uncharacteristically", "GOOD", "."],
        [],
        ["four", "words", "are", "here"],
    ]
    expected = []
    for words in filter(None, sentences):
        states = minilm.word_states([words], layers=head.config.layers).states_NLD.float()
        tags = head(states[None], torch.tensor([[word_shape(word) for word in words]])).tags_BTK[0].argmax(-1)
        expected.append([head.tags[number] for number in tags])
    assert head_tagger(head)(sentences) == [*expected[:3], [], expected[3]]
    assert head.tag.weight.dtype == torch.float32  # the one that was given is left as it is


def test_heads_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no tagger 'nobody'; expected 'syntax', .* or a trained head's folder"):
        load_tagger("nobody")
    with pytest.raises(InputError, match="no tagger 'nobody'"):
        tagger_digest("nobody")
    with pytest.raises(InputError, match=r"paraform\.json: no such file"):
        load_tagger(str(tmp_path))
    head = SyntaxHead(TINY, ["A", "B"], ["S"])
    checkpoint.save(head, tmp_path / "head", card="A head.")
    assert load_head(tmp_path / "head").tags == ("A", "B")
    assert tagger_digest(str(tmp_path / "head")) == manifest.read(tmp_path / "head").files["model.safetensors"]
    (tmp_path / "head" / "tags.txt").write_text("A\nC\n")
    with pytest.raises(InputError, match=r"tags\.txt: its SHA-256 is not"):
        load_head(tmp_path / "head")
    head.tags = ("A", "B", "C")
    checkpoint.save(head, tmp_path / "three", card="A head whose weights have two tags.")
    with pytest.raises(InputError, match=r"model\.safetensors: tensor 'tag.bias' is \[2\]; its config makes it \[3\]"):
        load_head(tmp_path / "three")
    about = manifest.read(tmp_path / "three")
    manifest.commit(tmp_path / "other", dataclasses.replace(about, system="exemplar", assets=[]), {})
    with pytest.raises(InputError, match="system 'exemplar'; expected 'syntax-head'"):
        load_head(tmp_path / "other")


def test_nltk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tagger trained here and saved in NLTK's own format: its tags are those it gives in NLTK."""
    nltk = pytest.importorskip("nltk")
    from nltk.tag.perceptron import PerceptronTagger

    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    with pytest.raises(InputError, match=r"python -m nltk\.downloader averaged_perceptron_tagger_eng"):
        load_tagger("nltk")
    trained = PerceptronTagger(load=False)
    trained.train([[("dogs", "NNS"), ("run", "VBP")], [("cats", "NNS"), ("sit", "VBP")]] * 20)
    folder = tmp_path / "taggers" / "averaged_perceptron_tagger_eng"
    folder.parent.mkdir()
    trained.save_to_json(lang="eng", loc=str(folder))
    sentences = [["dogs", "sit"], [], ["birds", "run", "home"]]
    expected = [[tag for _, tag in trained.tag(words)] for words in sentences]
    assert load_tagger("nltk")(sentences) == expected and expected[0] == ["NNS", "VBP"]
    assert tagger_digest("nltk") == "nltk"


def test_spacy(tmp_path: Path) -> None:
    """A pipeline of two rules, saved in spaCy's own format; words that no rule knows have no tag."""
    spacy = pytest.importorskip("spacy")
    pipeline = spacy.blank("en")
    rules = pipeline.add_pipe("attribute_ruler")
    rules.add([[{"LOWER": "dogs"}]], {"TAG": "NNS"})
    rules.add([[{"LOWER": "run"}]], {"TAG": "VBP"})
    pipeline.to_disk(tmp_path / "model")
    name = f"spacy:{tmp_path / 'model'}"
    tagger = load_tagger(name)
    assert tagger([["Dogs", "run"], [], ["run"]]) == [["NNS", "VBP"], [], ["VBP"]]
    assert tagger_digest(name) == name
    with pytest.raises(InputError, match="gives no fine-grained tags; use one with a tagger"):
        tagger([["Dogs", "sleep"]])
    for absent in ("spacy", "spacy:nobody"):
        with pytest.raises(InputError, match="python -m spacy download"):
            load_tagger(absent)


def test_extras_that_are_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, module, extra in (("nltk", "nltk.tag.perceptron", "eval"), ("spacy", "spacy", "spacy")):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(InputError, match=rf"pip install 'paraform\[{extra}\]'"):
            load_tagger(name)

"""The parser on what a head says, and on whatever text there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from paraform import checkpoint
from paraform.encoders import Encoder
from paraform.records import InputError
from paraform.syntax import parsing, running
from paraform.syntax.chart import best_trees, span_ends
from paraform.syntax.head import SyntaxHead, SyntaxHeadConfig, word_shape
from paraform.syntax.parsing import WINDOW, head_parser, load_parser, parser_digest
from paraform.syntax.spans import Span, tree_of
from paraform.syntax.trees import Parser, Tree, linearized
from paraform.syntax.windows import windows_of

TINY = SyntaxHeadConfig(width=8, feed_forward=8, heads=2, depth=1, span_width=8)


@pytest.fixture
def head() -> SyntaxHead:
    torch.manual_seed(0)
    return SyntaxHead(TINY, ["A", "B", "C"], ["S", "NP", "S+VP"]).eval()


@pytest.fixture(scope="module")
def parse() -> Parser:
    return load_parser(device="cpu")


def test_a_head_on_the_encoders_states(head: SyntaxHead, minilm: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tree is the best one over each span's best label, whatever stands in the same batch."""
    monkeypatch.setattr(running.encoders, "load", lambda *_, **__: minilm)
    monkeypatch.setattr(running.encoders, "best_dtype", lambda _: torch.float32)
    sentences = [
        ["One", "two", "3"],
        ["a"],
        [],
        ["Uncharacteristically", "GOOD", "."],
        ["four", "words", "are", "here"],
    ]
    found = head_parser(head)(sentences)
    assert found[2] is None
    for words, tree in zip(sentences, found, strict=True):
        if not words:
            continue
        states = minilm.word_states([words], layers=TINY.layers).states_NLD.float()
        scores = head(states[None], torch.tensor([[word_shape(word) for word in words]]))
        best = scores.spans_BPC[0].max(-1)
        (chosen,) = best_trees(best.values.detach().numpy()[None], len(words))
        starts, ends = span_ends(len(words))
        spans = [Span(int(starts[p]), int(ends[p]), head.labels[best.indices[p]]) for p in chosen if best.indices[p]]
        tags = [head.tags[number] for number in scores.tags_BTK[0].argmax(-1)]
        assert tree == tree_of(words, tags, spans)


def test_a_question_and_the_better_head() -> None:
    """GUM, which the default head has alone, labels "what" now NP, now WHNP; QuestionBank says WHNP."""
    (found,) = load_parser("syntax-all", device="cpu")([["What", "does", "the", "moon", "weigh", "?"]])
    assert str(found) == "(ROOT (SBARQ (WHNP (WP What)) (SQ (VBZ does) (NP (DT the) (NN moon)) (VP (VB weigh))) (. ?)))"


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("Why did the old man leave ?", "(SBARQ (WHADVP WRB) (SQ VBD (NP DT JJ NN) (VP VB)) .)"),
        ("She gave him a book .", "(S (NP PRP) (VP VBD (NP PRP) (NP DT NN)) .)"),
        ("The old man slept in the park .", "(S (NP DT JJ NN) (VP VBD (PP IN (NP DT NN))) .)"),
    ],
)
def test_plain_sentences(text: str, tree: str, parse: Parser) -> None:
    (found,) = parse([text.split()])
    assert found is not None and found.words() == tuple(text.split())
    assert re.sub(r"\(([^()\s]+)\)", r"\1", linearized(found)) == f"(ROOT {tree})"


def test_any_text_has_a_tree_of_its_words(parse: Parser) -> None:
    """Emoji, scripts without spaces, brackets, one word, none, and windows beyond the encoder's pieces."""
    sentences = [
        ["☂", "🙂", "👩‍👩‍👧"],
        ["東京", "は", "日本", "の", "首都", "です", "。"],
        ["한국어" * 20] * 130,
        ["(", "a", "-LRB-", "b)", ")", "[", "{"],
        ["x" * 10_000],
        [],
        ["Yes"],
        ["\x00"],
    ]
    for words, tree in zip(sentences, parse(sentences), strict=True):
        assert (tree.words() if tree else ()) == tuple(words)
        if tree:
            assert tree.label == "ROOT" and all(tree.tags())
    assert parse([]) == []


def test_5000_words_are_parsed_in_parts(parse: Parser) -> None:
    words = ["The", "dog", "saw", "the", "old", "cat", "and", "ran", "home", "."] * 500
    (tree,) = parse([words])
    assert tree is not None and tree.words() == tuple(words)
    parts = parse(windows_of(words, WINDOW))
    assert tree.children == tuple(child for part in parts if part for child in part.children)


def test_names(head: SyntaxHead, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no parser 'nobody'; expected 'syntax', .* or a trained head's folder"):
        load_parser("nobody")
    checkpoint.save(head, tmp_path / "head", card="A head.")
    (tree,) = load_parser(str(tmp_path / "head"))([["a", "b"]])
    assert isinstance(tree, Tree)
    assert len(parser_digest(str(tmp_path / "head"))) == 64
    assert parser_digest("corenlp:http://localhost:1") == "corenlp:http://localhost:1"
    with pytest.raises(InputError, match="no parser 'nobody'"):
        parser_digest("nobody")
    assert parsing.DEFAULT == "syntax"


@pytest.mark.parametrize("part", ["tag", "label"])
def test_damaged_weights(part: str, head: SyntaxHead, tmp_path: Path) -> None:
    damaged = getattr(head, part)
    with torch.no_grad():
        damaged.weight.fill_(3e38)  # finite as it is saved, not in what it makes
    checkpoint.save(head, tmp_path / "head", card="A head.")
    with pytest.raises(InputError, match="a score of the syntax head is not finite; its weights are damaged"):
        load_parser(str(tmp_path / "head"))([["a", "b"]])

"""The syntax head's batches, and that training it makes ten trees come back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from paraform.encoders import Encoder
from paraform.syntax.chart import span_place
from paraform.syntax.head import SHAPES, SyntaxHead, SyntaxHeadConfig
from paraform.syntax.parsing import head_parser
from paraform.syntax.trees import Tree
from paraform.training import TrainingConfig, fit, make_accelerator
from paraform_papers.shipped.head_training import LONGEST, ParsedWords, label_set, make_update
from paraform_papers.shipped.span_labels import span_label_nll

TREES = [
    Tree.parse(text)
    for text in (
        "(ROOT (S (NP (DT The) (NN cat)) (VP (VBD sat)) (. .)))",
        "(ROOT (S (NP (PRP She)) (VP (VBZ sees) (NP (PRP him))) (. .)))",
        "(ROOT (SBARQ (WHNP (WP What)) (SQ (VBZ is) (NP (NN love))) (. ?)))",
        "(ROOT (S (VP (VB Go) (ADVP (RB home))) (. !)))",
        "(ROOT (NP (NP (DT a) (NN day)) (PP (IN in) (NP (NNP May)))))",
        "(ROOT (SQ (VBZ Does) (NP (PRP it)) (VP (VB matter)) (. ?)))",
        "(ROOT (S (NP (NNS Dogs)) (VP (VBP bark) (PP (IN at) (NP (NNS cats)))) (. .)))",
        "(ROOT (INTJ (UH Yes)))",
        "(ROOT (S (NP (PRP We)) (VP (MD can) (VP (VB try) (S (VP (TO to) (VP (VB win)))))) (. .)))",
        "(ROOT (FRAG (ADVP (RB Not)) (NP (DT that)) (. .)))",
    )
]
TINY = SyntaxHeadConfig(
    first_layer=0, last_layer=2, width=64, feed_forward=64, heads=4, depth=1, span_width=64, dropout=0.0,
    label_smoothing=0.0, lower_case=0.0, batch_words=50, learning_rate=5e-3,
)  # fmt: skip
TAGS = sorted({tag for tree in TREES for tag in tree.tags()})
LABELS = ["S", "NP", "VP", "SBARQ", "WHNP", "SQ", "ADVP", "PP", "INTJ", "S+VP", "FRAG"]


@pytest.fixture(scope="module")
def parsed(minilm: Encoder) -> ParsedWords:
    long = Tree("ROOT", tuple(Tree("NN", word="a") for _ in range(LONGEST + 1)))
    return ParsedWords([*TREES, long], TAGS, LABELS, minilm, TINY.layers)


def test_labels_that_are_learnt() -> None:
    """Those of five constituents or more, the frequent ones first."""
    assert label_set(TREES) == ["NP", "VP", "S"]


def test_places_of_labels_before_a_bare_last_word(minilm: Encoder) -> None:
    """The full stop is in no constituent, and a word of the sentence all the same."""
    tree = Tree.parse("(ROOT (CC So) (NP (DT the) (NN cat)) (. .))")
    labels = ParsedWords([tree], ["CC", "DT", "NN", "."], ["NP"], minilm, (0,)).batch([0], [False]).labels_BP
    assert labels.nonzero().tolist() == [[0, span_place(1, 3, 4)]]


def test_a_batch_worked_by_hand(parsed: ParsedWords, minilm: Encoder) -> None:
    """Go home ! and a tree of the same length; "S+VP" of "to win" is a label, and so is each of "We can try to win"."""
    assert len(parsed.trees) == len(TREES)  # the long one is left out
    batch = parsed.batch([3, 9], [True, False])
    assert batch.states_BTLD.shape == (2, 3, 3, 384)
    states = minilm.word_states([TREES[3].words()], layers=TINY.layers).states_NLD
    torch.testing.assert_close(batch.states_BTLD[0], states.float(), atol=0.05, rtol=0.05)
    assert [SHAPES[shape] for shape in batch.shapes_BT[0].tolist()] == ["lower", "lower", "punctuation"]
    assert [SHAPES[shape] for shape in batch.shapes_BT[1].tolist()] == ["title", "lower", "punctuation"]
    assert [TAGS[tag] for tag in batch.tags_BT[0].tolist()] == ["VB", "RB", "."]
    found = {place: LABELS[label - 1] for place, label in enumerate(batch.labels_BP[0].tolist()) if label}
    assert found == {span_place(0, 3, 3): "S", span_place(0, 2, 3): "VP", span_place(1, 2, 3): "ADVP"}
    joined = parsed.batch([8], [False]).labels_BP[0]
    assert LABELS[int(joined[span_place(3, 5, 6)]) - 1] == "S+VP"


def test_unknown_labels_are_taken_apart(minilm: Encoder) -> None:
    tree = Tree.parse("(ROOT (X (FRAG (NP (NN a) (NN b)))))")
    parsed = ParsedWords([tree], ["NN"], ["FRAG+NP", "NP"], minilm, [0])
    assert parsed.batch([0], [False]).labels_BP.tolist() == [[0, 1, 0]]  # X+FRAG+NP is none, FRAG+NP is
    assert ParsedWords([tree], ["VB"], ["S"], minilm, [0]).batch([0], [False]).labels_BP.tolist() == [[0, 0, 0]]
    assert ParsedWords([tree], ["VB"], ["S"], minilm, [0]).tags_N.tolist() == [-1, -1]


def test_batches_are_a_function_of_seed_and_step(parsed: ParsedWords) -> None:
    batches, steps = parsed.batches(words=10, seed=3, lower_case=0.5)
    again, _ = parsed.batches(words=10, seed=3, lower_case=0.5)
    later = batches(steps + 1)
    for one, other in zip(later, again(steps + 1), strict=True):
        assert torch.equal(one, other)
    words = sum(batches(step).tags_BT.numel() for step in range(steps))
    assert words == parsed.lengths.sum()  # each tree once an epoch
    shared = [parsed.batches(words=10, seed=3, lower_case=0.5, rank=rank, world=2)[0](0) for rank in range(2)]
    assert torch.equal(shared[0].tags_BT, batches(0).tags_BT) and torch.equal(shared[1].tags_BT, batches(1).tags_BT)


def test_ten_trees_come_back(parsed: ParsedWords, tmp_path: Path) -> None:
    loop = TrainingConfig(steps=150, evaluate_every=150, checkpoint_every=150, tensorboard=False)
    accelerator = make_accelerator(replace(loop, device="cpu"))
    head = SyntaxHead(TINY, TAGS, LABELS)
    batches, _ = parsed.batches(words=TINY.batch_words, seed=0, lower_case=0.0)
    update, state = make_update(head, TINY, accelerator, total_steps=loop.steps)
    first = update(batches(0), 0)
    assert first["loss"] == pytest.approx(first["tags"] + first["spans"])
    fit(head, update, state, batches, folder=tmp_path, config=loop, accelerator=accelerator)
    assert head_parser(head)([tree.words() for tree in TREES]) == TREES


def test_the_loss_of_a_step_is_that_of_its_equations(parsed: ParsedWords) -> None:
    head = SyntaxHead(TINY, TAGS, LABELS).eval()
    batch = parsed.batch([0], [False])
    scores = head(batch.states_BTLD, batch.shapes_BT)
    tags = -torch.log_softmax(scores.tags_BTK, -1).gather(-1, batch.tags_BT[..., None]).mean()
    spans = -torch.log_softmax(scores.spans_BPC, -1).gather(-1, batch.labels_BP[..., None]).sum() / 4
    torch.testing.assert_close(span_label_nll(scores.spans_BPC, batch.labels_BP, 4), spans)
    accelerator = make_accelerator(TrainingConfig(device="cpu"))
    update, _ = make_update(head, TINY, accelerator, total_steps=100)
    terms = update(batch, 0)
    np.testing.assert_allclose([terms["tags"], terms["spans"]], [tags.item(), spans.item()], rtol=1e-5)

"""The tree-LSTM by levels against the paper's equations, node by node."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from paraform.syntax.trees import Tree
from paraform_papers.par.tree_lstm import ChildSumTreeLSTM, Forest, TreeRelatedness

TREES = [
    "(ROOT (S (NP (DT The) (JJ big) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (DT a) (NN mat)))) (. .)))",
    "(ROOT (UH Yes))",
    "(ROOT (S (NP (PRP I)) (VP (VBP see))))",
    "(X (A (B (C (D (E e) (F f)) (G g)) (H h)) (I i)) (J j))",
]


def by_recursion(lstm: ChildSumTreeLSTM, tree: Tree, words: list[Tensor]) -> tuple[Tensor, Tensor]:
    """h and c of a node (eq. 2 to 8), words taken from left to right; a node with one child is that child."""
    weight_i, weight_o, weight_u = lstm.of_word.weight.chunk(3)
    bias_i, bias_o, bias_u = lstm.of_word.bias.chunk(3)
    own_i, own_o, own_u = lstm.of_children.weight.chunk(3)
    if len(tree.children) == 1:
        return by_recursion(lstm, tree.children[0], words)
    below = [by_recursion(lstm, child, words) for child in tree.children]
    x = torch.zeros(weight_i.shape[1]) if below else words.pop(0)
    summed = sum((h for h, _ in below), torch.zeros(len(bias_i)))
    i = torch.sigmoid(weight_i @ x + own_i @ summed + bias_i)
    o = torch.sigmoid(weight_o @ x + own_o @ summed + bias_o)
    u = torch.tanh(weight_u @ x + own_u @ summed + bias_u)
    c = i * u
    for h_k, c_k in below:
        c = c + torch.sigmoid(lstm.forget.weight @ h_k + lstm.forget.bias) * c_k
    return o * torch.tanh(c), c


@torch.no_grad()
def test_by_levels_and_by_recursion() -> None:
    torch.manual_seed(0)
    lstm, trees = ChildSumTreeLSTM(4, 5), [Tree.parse(text) for text in TREES]
    forest = Forest.of(trees)
    words = torch.randn(forest.words, 4)
    found = lstm(words, forest)
    rest = list(words)
    expected = torch.stack([by_recursion(lstm, tree, rest)[0] for tree in trees])
    assert not rest and forest.words == 8 + 1 + 2 + 6
    torch.testing.assert_close(found, expected)
    # of height 1: NP, NP of the mat, I see, D; then PP and C; VP and B; S and A; X
    assert [level.phrases for level in forest.levels] == [4, 2, 2, 2, 1]
    for row, tree in enumerate(trees):  # a tree among others is the tree alone
        begin = sum(len(other.words()) for other in trees[:row])
        alone = lstm(words[begin : begin + len(tree.words())], Forest.of([tree]))
        torch.testing.assert_close(alone[0], found[row])


def test_relatedness_by_its_equations_and_its_gradient() -> None:
    torch.manual_seed(0)
    model, trees = TreeRelatedness(4, 5, 3, 5), [Tree.parse(text) for text in TREES]
    forest = Forest.of(trees)
    words = torch.randn(forest.words, 4)
    found = model(words, forest)
    found[:, 2].sum().backward()
    assert all(weight.grad is not None and weight.grad.abs().max() > 0 for weight in model.parameters())
    with torch.no_grad():
        roots = model.tree(words, forest)
        for row in range(2):
            left, right = roots[row], roots[row + 2]
            times, plus = model.compare.weight[:, :5], model.compare.weight[:, 5:]
            h = torch.sigmoid(times @ (left * right) + plus @ (left - right).abs() + model.compare.bias)
            p = torch.softmax(model.grade.weight @ h + model.grade.bias, 0)
            torch.testing.assert_close(found[row].exp(), p)


def test_a_tree_without_words() -> None:
    with pytest.raises(ValueError, match="a tree without words, 'ROOT'; expected some at its leaves"):
        Forest.of([Tree.parse("(ROOT (S (NP)))")])

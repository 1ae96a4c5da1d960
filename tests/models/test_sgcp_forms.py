"""Cut trees and their queues of leaves against a recursive walk over random trees."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from paraform.batching import Ragged
from paraform.syntax.trees import Tree, below_one_root, delexicalized, template
from paraform_papers.rivals.sgcp.forms import Forms, cut, leaf_nodes, nodes_of, of_first_words
from paraform_papers.rivals.sgcp.tree_encoder import TreeEncoder

LABELS = ["NP", "VP", "S", "DT", "NN", "PP"]
END = 99


def random_tree(draw: random.Random, levels: int) -> Tree:
    """Below ROOT, at most so many levels, a word at each leaf."""
    words = iter(range(10**6))

    def node(left: int) -> Tree:
        label = draw.choice(LABELS)
        if left == 1 or draw.random() < 0.3:
            return Tree(label, word=f"w{next(words)}")
        return Tree(label, tuple(node(left - 1) for _ in range(draw.randint(1, 3))))

    return Tree("ROOT", tuple(node(levels - 1) for _ in range(draw.randint(1, 2))))


def number(label: str) -> int:
    return 10 + ["ROOT", *LABELS].index(label)


def forms_of(trees: list[Tree], heights: list[int]) -> tuple[Forms, list[list[int]]]:
    """The cut trees, and the place in the queue of the leaf above each word of a tree, and of the end's."""
    nodes = [nodes_of(tree, number, END) for tree in trees]
    labels, parents, levels = (Ragged.of(each) for each in zip(*nodes, strict=True))
    forms, leaf_BN = cut(labels, parents, levels, np.arange(len(trees)), np.array(heights))
    return forms, [leaf_BN[row, [*leaf_nodes(one), len(one.labels) - 1]].tolist() for row, one in enumerate(nodes)]


def walked(tree: Tree, height: int, level: int = 1, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], int]]:
    """The leaves of a cut, from left to right: the labels from the root down to each, and how many words are below."""
    path = (*path, tree.label)
    if level == height or not tree.children:
        return [(path, len(tree.words()))]
    return [leaf for child in tree.children for leaf in walked(child, height, level + 1, path)]


@pytest.mark.parametrize("seed", range(20))
def test_the_queue_is_that_of_a_recursive_walk(seed: int) -> None:
    """Of random trees, each at a height of its own: labels on the way from the root to each leaf, and the leaf above
    each word, one more of them for each word that begins a leaf's."""
    draw = random.Random(seed)
    trees = [random_tree(draw, draw.randint(2, 7)) for _ in range(9)]
    heights = [draw.randint(2, 8) for _ in trees]
    forms, leaves = forms_of(trees, heights)
    begins = np.concatenate([[0], np.cumsum(forms.levels)])
    parents = forms.parents_M.tolist()

    def path(node: int) -> list[int]:
        level = int(np.searchsorted(begins, node, side="right")) - 1
        above = path(int(begins[level - 1]) + parents[node]) if level else []
        return [*above, int(forms.labels_M[node])]

    for row, (tree, height) in enumerate(zip(trees, heights, strict=True)):
        expected = walked(tree, height)
        queue = forms.queue_BL[row, : int(forms.lengths_B[row])].tolist()
        assert [path(node) for node in queue[:-1]] == [list(map(number, labels)) for labels, _ in expected]
        assert path(queue[-1]) == [number("ROOT"), END]
        assert leaves[row] == [at for at, (_, words) in enumerate(expected) for _ in range(words)] + [len(expected)]
        # What is cut so has the queue of the template, which has no words.
        alone, _ = forms_of([delexicalized(template(tree, height))], [99])
        assert alone.lengths_B.tolist() == [len(queue)]


def test_the_tree_encoder_is_its_equation() -> None:
    """By recursion from the root down, tree after tree."""
    draw = random.Random(1)
    trees = [random_tree(draw, 5) for _ in range(4)]
    heights = [3, 4, 2, 9]
    forms, _ = forms_of(trees, heights)
    torch.manual_seed(0)
    encoder, labels = TreeEncoder(4, 6), torch.nn.Embedding(100, 4)
    found = encoder(labels(forms.labels_M), forms)

    def leaves(tree: Tree, height: int, above: torch.Tensor, level: int = 1) -> list[torch.Tensor]:
        inputs = torch.cat([above, labels.weight[number(tree.label)]])
        state = F.gelu(encoder.down.weight @ inputs + encoder.down.bias)
        if level == height or not tree.children:
            return [state]
        below = [leaf for child in tree.children for leaf in leaves(child, height, state, level + 1)]
        if level == 1:
            end = torch.cat([state, labels.weight[END]])
            below.append(F.gelu(encoder.down.weight @ end + encoder.down.bias))
        return below

    for row, (tree, height) in enumerate(zip(trees, heights, strict=True)):
        expected = leaves(tree, height, torch.zeros(6))
        assert len(expected) == int(forms.lengths_B[row])
        torch.testing.assert_close(found[row, : len(expected)], torch.stack(expected))


def test_a_tree_over_its_first_words() -> None:
    tree = Tree.parse("(TOP (S (NP (DT the) (NN dog)) (VP (VBZ runs) (ADVP (RB home)))))")
    assert str(of_first_words(below_one_root(tree), 3)) == "(ROOT (S (NP (DT the) (NN dog)) (VP (VBZ runs))))"
    assert of_first_words(tree, 4) == tree
    bare = delexicalized(tree)
    assert of_first_words(bare, 2) == bare  # a form, no sentence's
    assert str(of_first_words(Tree.parse("(S (NP) (VP (VB go)))"), 2)) == "(S (VP (VB go)))"

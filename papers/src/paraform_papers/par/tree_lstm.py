"""The child-sum tree-LSTM (Tai, Socher and Manning 2015, section 3.1), all trees of a batch level by level.

Shape key: B trees, N nodes of all trees, M nodes of a level, C children of a level's nodes, D features of a word, H of
a state; W words of all trees.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import torch
from torch import Tensor, nn

from paraform.syntax.trees import Tree


class Level(NamedTuple):
    """Phrases of one height: the nodes that are their children, [C], and to which of the M phrases each belongs."""

    phrases: int
    children_C: Tensor
    parents_C: Tensor


@final
@dataclass(frozen=True, eq=False)
class Forest:
    """Trees as levels: all words first, then phrases of height 1, of height 2, and so on; children come before parents.

    A phrase of one part is that part: unary phrases have no node of their own.

    Args:
        words: how many, W; nodes 0 to W − 1, tree after tree, from left to right.
        levels: the phrases.
        roots_B: the node of each tree.
    """

    words: int
    levels: tuple[Level, ...]
    roots_B: Tensor

    @classmethod
    def of(cls, trees: Sequence[Tree]) -> Forest:
        """Of trees with words at their leaves. Raises: ValueError for one without a word."""
        words = 0
        by_height: list[list[list[tuple[int, int]]]] = []  # of each height its phrases, by their children's places

        def placed(tree: Tree) -> tuple[int, int]:
            """A node's height, and its place in it."""
            nonlocal words
            if not tree.children:
                words += 1
                return 0, words - 1
            parts = [placed(child) for child in tree.children]
            if len(parts) == 1:
                return parts[0]
            height = 1 + max(part[0] for part in parts)
            while len(by_height) < height:
                by_height.append([])
            by_height[height - 1].append(parts)
            return height, len(by_height[height - 1]) - 1

        roots = []
        for tree in trees:
            if not tree.words():
                raise ValueError(f"a tree without words, {str(tree.label)[:40]!r}; expected some at its leaves")
            roots.append(placed(tree))
        begins = [0, words]
        for level in by_height:
            begins.append(begins[-1] + len(level))
        levels = tuple(
            Level(
                len(phrases),
                torch.tensor([begins[height] + place for parts in phrases for height, place in parts]),
                torch.tensor([row for row, parts in enumerate(phrases) for _ in parts]),
            )
            for phrases in by_height
        )
        return cls(words, levels, torch.tensor([begins[height] + place for height, place in roots]))


@final
class ChildSumTreeLSTM(nn.Module):
    """h̃ = Σ_k h_k; i, o, u from x and h̃; f_k from x and h_k; c = i ∘ u + Σ_k f_k ∘ c_k; h = o ∘ tanh c (eq. 2 to 8).

    A word has an input and no children, a phrase children and no input.

    Args:
        inputs: D.
        width: H.
    """

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.of_word = nn.Linear(inputs, 3 * width)  # W and b of i, o and u
        self.of_children = nn.Linear(width, 3 * width, bias=False)  # U of these
        self.forget = nn.Linear(width, width)  # U and b of f; W meets no input where there are children

    def forward(self, words_WD: Tensor, forest: Forest) -> Tensor:
        """The state of each tree's root, [B, H]."""
        states_NH, cells_NH = _node(self.of_word(words_WD), None)
        for phrases, children_C, parents_C in forest.levels:
            below_CH, kept_CH = states_NH[children_C], cells_NH[children_C]
            sums_MH = below_CH.new_zeros(phrases, below_CH.shape[1]).index_add(0, parents_C, below_CH)
            kept_CH = torch.sigmoid(self.forget(below_CH)) * kept_CH
            kept_MH = torch.zeros_like(sums_MH).index_add(0, parents_C, kept_CH)
            states_MH, cells_MH = _node(self.of_children(sums_MH) + self.of_word.bias, kept_MH)
            states_NH, cells_NH = torch.cat([states_NH, states_MH]), torch.cat([cells_NH, cells_MH])
        return states_NH[forest.roots_B]


def _node(gates_M3H: Tensor, kept_MH: Tensor | None) -> tuple[Tensor, Tensor]:
    """States and cells, of i, o and u before their nonlinearities and what is kept of the children's cells."""
    input_MH, output_MH, update_MH = gates_M3H.chunk(3, dim=-1)
    cells_MH = torch.sigmoid(input_MH) * torch.tanh(update_MH)
    cells_MH = cells_MH if kept_MH is None else cells_MH + kept_MH
    return torch.sigmoid(output_MH) * torch.tanh(cells_MH), cells_MH


@final
class TreeRelatedness(nn.Module):
    """How related two sentences are, as a distribution over grades, from the states of their roots (section 4.2).

    h_s = σ(W_× (h_L ∘ h_R) + W_+ |h_L − h_R| + b);  p = softmax(W_p h_s + b_p)
    """

    def __init__(self, inputs: int, width: int, hidden: int, grades: int) -> None:
        super().__init__()
        self.tree = ChildSumTreeLSTM(inputs, width)
        self.compare = nn.Linear(2 * width, hidden)
        self.grade = nn.Linear(hidden, grades)

    def forward(self, words_WD: Tensor, forest: Forest) -> Tensor:
        """Log-probabilities of the grades, [B / 2, G].

        Args:
            forest: left sentences, then right ones.
        """
        left_BH, right_BH = self.tree(words_WD, forest).chunk(2)
        both = torch.cat([left_BH * right_BH, (left_BH - right_BH).abs()], -1)
        grades_BG: Tensor = self.grade(torch.sigmoid(self.compare(both))).log_softmax(-1)
        return grades_BG

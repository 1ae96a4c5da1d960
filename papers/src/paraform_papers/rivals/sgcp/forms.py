"""Trees as numbers, cut at a height, and the queue of leaves that a cut leaves.

Shape key: B trees, N nodes of the longest, M nodes of all trees that are kept, L leaves of the longest queue.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from paraform.batching import Ragged
from paraform.batching.epochs import Rows
from paraform.syntax.trees import Tree

Bools = npt.NDArray[np.bool_]


class Nodes(NamedTuple):
    """A tree's nodes, each before what stands below it, from left to right.

    Args:
        labels: their numbers.
        parents: the node above each; of the first, itself.
        levels: 1 is the root's.
    """

    labels: list[int]
    parents: list[int]
    levels: list[int]


def of_first_words(tree: Tree, most: int) -> Tree:
    """The tree over its first words, so many at most; leaves without a word, and phrases of such alone, go.

    A tree without any word stays as it is: it is a form and no sentence's.
    """
    left = most

    def kept(node: Tree) -> Tree | None:
        nonlocal left
        if not node.children:
            if node.word is None or not left:
                return None
            left -= 1
            return node
        children = tuple(child for child in map(kept, node.children) if child)
        return Tree(node.label, children) if children else None

    return kept(tree) or tree


def nodes_of(tree: Tree, number: Callable[[str], int], end: int) -> Nodes:
    """The nodes of a tree, and behind them one of label `end` right below the root: the leaf of the sentence's end.

    Args:
        tree: below a ROOT.
        number: of a label.
    """
    labels: list[int] = []
    parents: list[int] = []
    levels: list[int] = []
    waiting = [(tree, 0, 1)]
    while waiting:
        node, parent, level = waiting.pop()
        here = len(labels)
        labels.append(number(node.label))
        parents.append(parent)
        levels.append(level)
        waiting += [(child, here, level + 1) for child in reversed(node.children)]
    return Nodes([*labels, end], [*parents, 0], [*levels, 2])


def leaf_nodes(nodes: Nodes) -> list[int]:
    """The leaves of a tree, from left to right, without the end's."""
    levels = nodes.levels
    return [at for at in range(len(levels) - 1) if levels[at + 1] <= levels[at]]


class Forms(NamedTuple):
    """B trees cut at heights of their own: nodes level after level, of all trees together; and their queues of leaves.

    Args:
        labels_M: their numbers.
        parents_M: among the nodes of the level above; 0 of a root.
        levels: nodes of each level.
        queue_BL: nodes among all M, from left to right, 0 behind a queue's last; the last is the end's.
        lengths_B: leaves of each queue.
    """

    labels_M: Tensor
    parents_M: Tensor
    levels: tuple[int, ...]
    queue_BL: Tensor
    lengths_B: Tensor

    def to(self, device: torch.device) -> Forms:
        """On that device."""
        return self._replace(
            labels_M=self.labels_M.to(device),
            parents_M=self.parents_M.to(device),
            queue_BL=self.queue_BL.to(device),
            lengths_B=self.lengths_B.to(device),
        )


def cut(labels: Ragged, parents: Ragged, levels: Ragged, rows: Rows, heights_B: Rows) -> tuple[Forms, Rows]:
    """The trees of those rows, each cut at its height.

    Args:
        labels, parents, levels: as `Nodes` has them, a row a tree.
        heights_B: 2 or more; a tree that has fewer levels is whole.
    Returns: the forms, and for each node [B, N] the place in the queue of the leaf that it is, or stands below
        (of a node above leaves, and of padding, whatever).
    """
    (labels_BN, counts_B), (parents_BN, _), (levels_BN, _) = (_padded(one, rows) for one in (labels, parents, levels))
    there_BN: Bools = np.arange(labels_BN.shape[1]) < counts_B[:, None]
    following_BN = np.pad(levels_BN, ((0, 0), (0, 1)))[:, 1:]  # behind the last node: 0, so that it is a leaf
    top_BN = levels_BN == heights_B[:, None]
    kept_BN: Bools = there_BN & (levels_BN <= heights_B[:, None])
    queue_BN: Bools = kept_BN & ((following_BN <= levels_BN) | top_BN)
    tree_M, node_M = np.nonzero(kept_BN)
    order_M = np.argsort(levels_BN[kept_BN], kind="stable")  # within a level, tree after tree, from left to right
    tree_M, node_M = tree_M[order_M], node_M[order_M]
    place_BN = np.zeros_like(levels_BN)
    place_BN[tree_M, node_M] = np.arange(len(node_M))
    sizes = np.bincount(levels_BN[kept_BN])[1:]
    begins = np.concatenate([[0, 0], np.cumsum(sizes)])  # of the level above each level
    above_M = begins[levels_BN[tree_M, node_M] - 1]
    parents_M = place_BN[tree_M, parents_BN[tree_M, node_M]] - above_M
    parents_M[: sizes[0]] = 0
    # Leaves of a cut are disjoint and each node stands behind what is above it: the leaf at or above a node is the last
    # one that is no further right.
    leaf_BN = (queue_BN.cumsum(1) - 1).clip(0)
    lengths_B = queue_BN.sum(1)
    queue_BL = np.zeros((len(rows), int(lengths_B.max(initial=0))), np.int64)
    tree_Q, node_Q = np.nonzero(queue_BN)
    queue_BL[tree_Q, leaf_BN[tree_Q, node_Q]] = place_BN[tree_Q, node_Q]
    forms = Forms(
        torch.from_numpy(labels_BN[tree_M, node_M]),
        torch.from_numpy(parents_M),
        tuple(map(int, sizes)),
        torch.from_numpy(queue_BL),
        torch.from_numpy(lengths_B),
    )
    return forms, leaf_BN


def _padded(table: Ragged, rows: Rows) -> tuple[npt.NDArray[Any], Rows]:
    values, lengths = table.padded(rows)
    return values.numpy(), lengths.numpy()

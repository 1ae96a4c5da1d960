"""Pairs to SGCP's training table: units and trees of each different sentence, computed once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paraform.batching import EOS, Ragged, Vocabulary
from paraform.batching.pairs import sides_of
from paraform.models.by_tree import units_of_words
from paraform.models.disentangled.symbols import TreeSymbols
from paraform.records import Pair
from paraform.syntax.trees import Tree, below_one_root
from paraform_papers.rivals.sgcp.batches import PairTable
from paraform_papers.rivals.sgcp.config import SgcpConfig
from paraform_papers.rivals.sgcp.forms import Nodes, leaf_nodes, nodes_of, of_first_words


def tree_nodes(tree: Tree, vocabulary: Vocabulary, symbols: TreeSymbols) -> Nodes:
    """The nodes of a tree below a ROOT, as the one embedding numbers them: labels stand behind the units."""
    return nodes_of(tree, lambda label: len(vocabulary) + symbols.number(label), EOS)


def pair_table(
    pairs: Sequence[Pair],
    trees: Mapping[str, Tree],
    config: SgcpConfig,
    vocabulary: Vocabulary,
    symbols: TreeSymbols,
) -> PairTable:
    """Number the sentences of pairs.

    Args:
        trees: of every text, with its words.
    """
    texts, source, target = sides_of(pairs)
    read = [of_first_words(below_one_root(trees[text]), config.max_tokens) for text in texts]
    beyond: dict[str, int] = {}  # a unit that the vocabulary lacks has one number on both sides
    units, tags, nodes = [], [], [tree_nodes(tree, vocabulary, symbols) for tree in read]
    for words, one in zip(units_of_words([tree.words() for tree in read], config), nodes, strict=True):
        units.append(vocabulary.encode([unit for word in words for unit in word], beyond))
        tags.append([tag for tag, word in zip(leaf_nodes(one), words, strict=True) for _ in word])
    labels, parents, levels = (Ragged.of(each) for each in zip(*nodes, strict=True))
    return PairTable(
        units=Ragged.of(units),
        tags=Ragged.of(tags),
        labels=labels,
        parents=parents,
        levels=levels,
        source=source,
        target=target,
    )

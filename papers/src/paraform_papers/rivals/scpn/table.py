"""Pairs to SCPN's training table: units, parses and templates of each different sentence, computed once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from paraform.batching import Ragged, Vocabulary, prepare_all
from paraform.models.by_tree import units_of
from paraform.models.disentangled.symbols import TreeSymbols
from paraform.records import Pair
from paraform.syntax.trees import Tree, delexicalized, template, without_root
from paraform_papers.rivals.scpn.batches import PairTable
from paraform_papers.rivals.scpn.config import ScpnConfig

MOST_TEMPLATES = 10  # the paper's number


def below_same_root(tree: Tree) -> Tree:
    """The tree without words, under one ROOT, whatever its own is called."""
    return Tree("ROOT", tuple(map(delexicalized, without_root(tree))))


def different_parses(pairs: Sequence[Pair], trees: Mapping[str, Tree], config: ScpnConfig) -> list[Pair]:
    """The pairs that are trained on: those whose sides have different parses, and are not too short."""
    bare = {text: below_same_root(tree) for text, tree in trees.items()} if config.drop_same_parse else {}

    def fits(pair: Pair) -> bool:
        sides = (pair.source.text, pair.target.text)
        if config.drop_same_parse and bare[sides[0]] == bare[sides[1]]:
            return False
        return min(len(trees[side].words()) for side in sides) >= config.min_tokens

    return [pair for pair in pairs if fits(pair)]


def commonest_templates(texts: Sequence[str], trees: Mapping[str, Tree], levels: int) -> list[Tree]:
    """The ten templates that most sentences have, the commonest first."""
    counts = Counter(str(template(below_same_root(trees[text]), levels + 1)) for text in texts)
    chosen = sorted(counts, key=lambda text: (-counts[text], text))[:MOST_TEMPLATES]
    return [Tree.parse(text) for text in chosen]


def pair_table(
    pairs: Sequence[Pair],
    trees: Mapping[str, Tree],
    config: ScpnConfig,
    vocabulary: Vocabulary,
    symbols: TreeSymbols,
) -> PairTable:
    """Number the sentences of pairs.

    Args:
        trees: of every text.
    """
    texts = list(dict.fromkeys(side.text for pair in pairs for side in (pair.source, pair.target)))
    row = {text: number for number, text in enumerate(texts)}
    beyond: dict[str, int] = {}  # a unit that the vocabulary lacks has one number on both sides
    units = units_of(prepare_all(texts, config.max_tokens), config)
    parses, templates = [], []
    for text in texts:
        numbers, levels = symbols.encode(trees[text])
        parses.append(numbers[: config.max_symbols])
        kept = [number for number, level in zip(numbers, levels, strict=True) if level <= config.template_levels]
        templates.append(kept[: config.max_symbols])
    return PairTable(
        units=Ragged.of([vocabulary.encode(some, beyond) for some in units]),
        parses=Ragged.of(parses),
        templates=Ragged.of(templates),
        source=np.array([row[pair.source.text] for pair in pairs], np.int64),
        target=np.array([row[pair.target.text] for pair in pairs], np.int64),
    )

"""Pairs to SCPN's training table: units, parses and templates of each different sentence, computed once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from paraform.batching import Ragged, Vocabulary, prepare_all
from paraform.batching.pairs import sides_of
from paraform.models.by_tree import units_of
from paraform.models.disentangled.symbols import TreeSymbols
from paraform.records import Pair
from paraform.syntax.trees import Tree, below_one_root, delexicalized, template
from paraform_papers.rivals.scpn.batches import PairTable
from paraform_papers.rivals.scpn.config import ScpnConfig

MOST_TEMPLATES = 10  # the paper's number
MOST_SYMBOLS = 150  # longer linearised parses are cut there
TEMPLATE_LEVELS = 2  # of a template below ROOT


def template_of(tree: Tree) -> Tree:
    """ROOT, whatever the tree's own is called, and the levels right below it."""
    return template(below_one_root(tree), TEMPLATE_LEVELS + 1)


def different_parses(pairs: Sequence[Pair], trees: Mapping[str, Tree]) -> list[Pair]:
    """The pairs that are trained on: those whose sides have different parses, words left out."""
    bare = {text: delexicalized(below_one_root(tree)) for text, tree in trees.items()}
    return [pair for pair in pairs if bare[pair.source.text] != bare[pair.target.text]]


def commonest_templates(texts: Sequence[str], trees: Mapping[str, Tree]) -> list[Tree]:
    """The ten templates that most sentences have, the commonest first."""
    counts = Counter(str(template_of(trees[text])) for text in texts)
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
    texts, source, target = sides_of(pairs)
    beyond: dict[str, int] = {}  # a unit that the vocabulary lacks has one number on both sides
    units = units_of(prepare_all(texts, config.max_tokens), config)
    parses, templates = [], []
    for text in texts:
        numbers, levels = symbols.encode(trees[text])
        parses.append(numbers[:MOST_SYMBOLS])
        kept = [number for number, level in zip(numbers, levels, strict=True) if level <= TEMPLATE_LEVELS]
        templates.append(kept[:MOST_SYMBOLS])
    return PairTable(
        units=Ragged.of([vocabulary.encode(some, beyond) for some in units]),
        parses=Ragged.of(parses),
        templates=Ragged.of(templates),
        source=source,
        target=target,
    )

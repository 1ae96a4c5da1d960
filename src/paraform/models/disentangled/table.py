"""Pairs to ParaBART's training table: pieces, trees and bags of each different sentence, computed once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from paraform.batching import Ragged
from paraform.models.disentangled.config import DisentangledConfig
from paraform.models.disentangled.pairs import PairTable
from paraform.models.disentangled.paraphraser import piece_rows
from paraform.models.disentangled.symbols import TreeSymbols
from paraform.records import InputError, Pair
from paraform.syntax import annotate
from paraform.syntax.running import DEFAULT
from paraform.syntax.trees import Tree, delexicalized


def trees_of(
    pairs: Sequence[Pair], *, parser: str = DEFAULT, cache: Path | None = None, progress: bool = False
) -> dict[str, Tree]:
    """The tree of every text of the pairs, words left out: its own if the sentence came with one, else by the parser.

    Raises: InputError if a sentence's own tree is none, or has other words than the sentence.
    """
    texts = list(dict.fromkeys(side.text for pair in pairs for side in (pair.source, pair.target)))
    found = {
        one.text: delexicalized(Tree.parse(one.tree))
        for one in annotate(texts, parser=parser, cache=cache, progress=progress)
        if one.tree
    }
    if lacking := [text for text in texts if text not in found]:
        raise InputError(f"{lacking[0][:60]!r} has no words to parse; expected sentences")
    return found


def pair_table(
    pairs: Sequence[Pair],
    trees: dict[str, Tree],
    config: DisentangledConfig,
    tokenizer: Tokenizer,
    symbols: TreeSymbols,
    *,
    groups: Sequence[int] = (),
) -> PairTable:
    """Number the sentences of pairs and of what they are told apart from.

    Args:
        pairs: with clusters.
        trees: of every text (`trees_of`).
        groups: the file that each pair is from, counted from 0; (): all from one.
    """
    cluster: dict[str, int] = {}
    for pair in pairs:
        for side in (pair.source, pair.target):
            cluster.setdefault(side.text, -1 if pair.cluster is None else pair.cluster)
    texts = list(cluster)
    row = {text: number for number, text in enumerate(texts)}
    encoded = [symbols.encode(trees[text]) for text in texts]
    bag = symbols.constituent_shares if config.bag_of_tags == "constituents" else symbols.symbol_shares
    most = config.max_symbols
    return PairTable(
        pieces=Ragged.of(piece_rows(tokenizer, texts, config.max_tokens)),
        symbols=Ragged.of([numbers[:most] for numbers, _ in encoded]),
        levels=Ragged.of([levels[:most] for _, levels in encoded]),
        bags=np.stack([bag(trees[text]) for text in texts]),
        clusters=np.array(list(cluster.values()), np.int64),
        source=np.array([row[pair.source.text] for pair in pairs]),
        target=np.array([row[pair.target.text] for pair in pairs]),
        negatives=np.full((len(pairs), 0), -1, np.int64),
        groups=np.array(groups, np.int64) if len(groups) else np.zeros(len(pairs), np.int64),
    )

"""Pairs to ParaBART's training table: pieces, trees and bags of each different sentence, computed once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from paraform.batching import Ragged
from paraform.corpora.leaks import normalised
from paraform.models.disentangled.config import DisentangledConfig
from paraform.models.disentangled.negatives import as_text, exchanged, same_form
from paraform.models.disentangled.pairs import PairTable
from paraform.models.disentangled.paraphraser import piece_rows
from paraform.models.disentangled.symbols import TreeSymbols
from paraform.records import InputError, Pair, Sentence
from paraform.syntax import annotate
from paraform.syntax.running import DEFAULT
from paraform.syntax.trees import Tree, read_tree
from paraform.words import tokenize


def trees_of(
    pairs: Sequence[Pair], *, parser: str = DEFAULT, cache: Path | None = None, progress: bool = False
) -> dict[str, Tree]:
    """The tree of every text of the pairs: its own, where the file brought one, else as it is parsed.

    Raises: InputError for a text without words, or a tree of other words than its sentence's.
    """
    sides = [side for pair in pairs for side in (pair.source, pair.target)]
    found = {side.text: own_tree(side) for side in sides if side.tree}
    texts = [text for text in dict.fromkeys(side.text for side in sides) if text not in found]
    found |= {
        one.text: Tree.parse(one.tree)
        for one in (annotate(texts, parser=parser, cache=cache, progress=progress) if texts else [])
        if one.tree
    }
    if lacking := [text for text in texts if text not in found]:
        raise InputError(f"{lacking[0][:60]!r} has no words to parse; expected sentences")
    return found


def own_tree(sentence: Sentence) -> Tree:
    """The tree that a sentence was read with. Raises: InputError if its words are not the sentence's."""
    tree = read_tree(sentence)
    words, expected = tree.words(), sentence.tokens or tuple(tokenize(sentence.text))
    if words != expected:
        at = next((at for at, pair in enumerate(zip(words, expected, strict=False)) if pair[0] != pair[1]), None)
        said = f"{len(words)} words, not {len(expected)}" if at is None else f"{words[at]!r}, not {expected[at]!r}"
        message = f"a tree of other words than its sentence ({said}); without trees they are parsed on the way"
        raise sentence.origin.error(message) if sentence.origin else InputError(message)
    return tree


def pair_table(
    pairs: Sequence[Pair],
    trees: dict[str, Tree],
    config: DisentangledConfig,
    tokenizer: Tokenizer,
    symbols: TreeSymbols,
    *,
    groups: Sequence[int] = (),
    negatives: Sequence[Sequence[str | None]] = (),
) -> PairTable:
    """Number the sentences of pairs and of what they are told apart from.

    Args:
        pairs: with clusters.
        trees: of every text (`trees_of`).
        groups: the file that each pair is from, counted from 0; (): all from one.
        negatives: further negatives of each pair, as many of each, None where there is none (`hard_negatives`).
    """
    cluster: dict[str, int] = {}
    for pair in pairs:
        for side in (pair.source, pair.target):
            cluster.setdefault(side.text, -1 if pair.cluster is None else pair.cluster)
    for text in (text for some in negatives for text in some if text is not None):
        cluster.setdefault(text, -2 - len(cluster))  # one of its own: what it says nobody else says
    texts = list(cluster)
    row = {text: number for number, text in enumerate(texts)}
    bag = symbols.constituent_shares if config.bag_of_tags == "constituents" else symbols.symbol_shares
    return PairTable(
        pieces=Ragged.of(piece_rows(tokenizer, texts, config.max_tokens)),
        symbols=Ragged.of([symbols.encode(trees[text])[0][: config.max_symbols] for text in texts]),
        bags=np.stack([bag(trees[text]) for text in texts]),
        clusters=np.array(list(cluster.values()), np.int64),
        source=np.array([row[pair.source.text] for pair in pairs]),
        target=np.array([row[pair.target.text] for pair in pairs]),
        negatives=np.array([[-1 if text is None else row[text] for text in some] for some in negatives], np.int64)
        if len(negatives)
        else np.full((len(pairs), 0), -1, np.int64),
        reads_trees=bool(config.generation_weight),  # so that an ablation without syntax has the batches of the others
        groups=np.array(groups, np.int64) if len(groups) else np.zeros(len(pairs), np.int64),
    )


def hard_negatives(
    pairs: Sequence[Pair], trees: dict[str, Tree], config: DisentangledConfig, *, seed: int
) -> list[list[str | None]]:
    """The further negatives of each pair that the config asks for; the trees of those that are new are entered."""
    columns: list[list[str | None]] = []
    draw = np.random.default_rng([seed, 2])
    if config.form_negatives:
        found = same_form(pairs, max_tokens=config.max_tokens, seed=seed)
        wanted = draw.random(len(pairs)) < config.form_negatives
        columns.append([text if want else None for text, want in zip(found, wanted, strict=True)])
    if config.role_negatives:
        known, made = {normalised(text) for text in trees}, list[str | None]()
        for pair, want in zip(pairs, draw.random(len(pairs)) < config.role_negatives, strict=True):
            tree = exchanged(trees[pair.source.text], seed=seed) if want else None
            text = None if tree is None else as_text(tree, pair.source.text)
            if (
                tree is None or text is None or normalised(text) in known
            ):  # what somebody says may mean what the pair does
                made.append(None)
                continue
            trees[text] = tree
            made.append(text)
        columns.append(made)
    return [list(row) for row in zip(*columns, strict=True)]

"""Pairs to CRL-EGPG's training table: words, tags, mined exemplars, style features; each computed once.

Shape key: M pairs, K exemplars kept a pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from paraform import encoders
from paraform.batching import Ragged, Vocabulary, cached_states, prepare
from paraform.corpora import clusters
from paraform.models.exemplar.batches import PickedStates, TripleTable
from paraform.models.exemplar.config import ExemplarConfig
from paraform.models.exemplar.inputs import CONTENT_LAYER, first_tokens, style_text
from paraform.records import InputError, Pair, texts_of
from paraform.syntax.mining import Mined, mined_exemplars
from paraform.syntax.rules import MiningConfig
from paraform.syntax.running import DEFAULT


class Prepared(NamedTuple):
    """What a model is trained on or measured by: the table, its vocabulary, and the exemplars that were found."""

    table: TripleTable
    vocabulary: Vocabulary
    mined: Mined


def mining_rules(config: ExemplarConfig, seed: int) -> MiningConfig:
    """How the exemplars of a model's pairs are searched."""
    return MiningConfig(
        pool=config.pool,
        pool_size=config.pool_size,
        length_gap=config.length_gap,
        keep=config.ties,
        exclude_cluster=config.mask_clusters,
        seed=seed,
    )


def triple_table(
    pairs: Sequence[Pair],
    config: ExemplarConfig,
    vocabulary: Vocabulary | None = None,
    *,
    tagger: str = DEFAULT,
    seed: int = 0,
    cache: Path | None = None,
    progress: bool = False,
) -> Prepared:
    """Tokenise, tag, mine and encode pairs, as `config` says.

    Args:
        pairs: M; they get clusters if one has none.
        vocabulary: None: counted here.
        tagger: for the exemplar search.
        seed: the seed of the draw among exemplars tied at the smallest distance.
        cache: folder of computed tags, exemplars and features; None: `weights.cache_folder()`.
    Raises: InputError if there are no pairs.
    """
    if not pairs:
        raise InputError("no pairs; expected at least one")
    if any(pair.cluster is None for pair in pairs):
        pairs = clusters(pairs)
    rules = mining_rules(config, seed)
    cut = config.max_tokens
    dealt = [
        mined_exemplars(pairs, replace(rules, seed=seed + deal), cut, tagger=tagger, cache=cache, progress=progress)
        for deal in range(config.exemplar_deals)
    ]
    mined = dealt[0]
    cased = {
        text: prepare(text, cut) for text in dict.fromkeys(s.text for pair in pairs for s in (pair.source, pair.target))
    }
    encoder = encoders.load(config.style_encoder)
    # Sentences that need style features come first, so that both tables number them alike.
    read = {text: style_text(words) for text, words in cased.items()}
    styled = list(dict.fromkeys(read[s.text] for s in (*(pair.target for pair in mined.pairs), *mined.pool)))
    number = {text: row for row, text in enumerate(dict.fromkeys([*styled, *read.values()]))}
    lowered = [text.split(" ") if text else [] for text in number]
    if vocabulary is None:
        vocabulary = Vocabulary.build((cased[text] for text in texts_of(pairs)), min_count=config.min_count)
    beyond: dict[str, int] = {}
    words = Ragged.of([vocabulary.encode(row, beyond) for row in lowered])
    if config.style_trainable:
        style = Ragged.of(encoder.pieces(styled))
    else:
        style = cached_states(encoder, styled, layer=config.style_layer, folder=cache, progress=progress)
    content = None
    if config.content_input != "words":
        states = cached_states(encoder, list(number), layer=CONTENT_LAYER, folder=cache, progress=progress)
        content = PickedStates(states.values, first_tokens(lowered, encoder, states.offsets))
    pool_number = np.array([number[read[sentence.text]] for sentence in mined.pool])
    deals = [np.where(deal.exemplars >= 0, pool_number[deal.exemplars], -1) for deal in dealt]
    table = TripleTable(
        words,
        style,
        np.array([number[read[pair.source.text]] for pair in pairs]),
        np.array([number[read[pair.target.text]] for pair in pairs]),
        deals[0],
        np.array([pair.cluster for pair in pairs]),
        # Where a deal finds none, those of the first stand again.
        [np.where(deal[:, :1] >= 0, deal, deals[0]) for deal in deals[1:]],
        content,
    )
    return Prepared(table, vocabulary, mined)

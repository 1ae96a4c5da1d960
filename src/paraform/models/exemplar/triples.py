"""Pairs to CRL-EGPG's training table: words, tags, mined exemplars, style features; each computed once.

Shape key: M pairs, K exemplars kept a pair.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from paraform import encoders
from paraform.batching import Ragged, TripleTable, Vocabulary, cached_states, prepare
from paraform.corpora import clusters
from paraform.models.exemplar.config import ExemplarConfig
from paraform.models.exemplar.reading import split_units, style_text
from paraform.records import InputError, Pair, Sentence
from paraform.syntax.annotation import annotate
from paraform.syntax.mining import mine
from paraform.syntax.rules import MiningConfig
from paraform.syntax.running import DEFAULT
from paraform.weights import cache_folder, load_tensors, save_tensors


def triple_table(
    pairs: Sequence[Pair],
    config: ExemplarConfig,
    vocabulary: Vocabulary | None = None,
    *,
    tagger: str = DEFAULT,
    seed: int = 0,
    cache: Path | None = None,
    progress: bool = False,
) -> tuple[TripleTable, Vocabulary]:
    """Tokenise, tag, mine and encode pairs, as `config` says.

    Args:
        vocabulary: None: counted here.
        tagger: for the exemplar search.
        seed: of the draw among exemplars tied at the smallest distance.
        cache: folder of computed tags, exemplars and features; None: `weights.cache_folder()`.
    Returns: the table and the vocabulary.
    Raises: InputError if there are no pairs.
    """
    if not pairs:
        raise InputError("no pairs; expected at least one")
    if any(pair.cluster is None for pair in pairs):
        pairs = clusters(pairs)
    tagged, exemplars = mined_exemplars(pairs, config, tagger=tagger, seed=seed, cache=cache, progress=progress)
    cut = config.max_tokens
    cased = {
        text: prepare(text, cut) for text in dict.fromkeys(s.text for pair in pairs for s in (pair.source, pair.target))
    }
    encoder = encoders.load(config.style_encoder)
    # Sentences that need style features come first, so that both tables number them alike.
    read = {text: style_text(words) for text, words in cased.items()}
    styled = list(dict.fromkeys(read[sentence.text] for sentence in tagged))
    number = {text: row for row, text in enumerate(dict.fromkeys([*styled, *read.values()]))}
    units = split_units([text.split(" ") if text else [] for text in number], config.units, encoder)
    if vocabulary is None:
        seen = [sentence.text for pair in pairs for sentence in (pair.source, pair.target)]
        counted = None if config.units == "words" else (units[number[read[text]]] for text in seen)
        vocabulary = Vocabulary.build((cased[text] for text in seen), min_count=config.min_count, units=counted)
    beyond: dict[str, int] = {}
    words = Ragged.of([vocabulary.encode(row, beyond) for row in units])
    if config.style_trainable:
        style = Ragged.of(encoder.pieces(styled))
    else:
        style = cached_states(encoder, styled, layer=config.style_layer, folder=cache, progress=progress)
    pool = [pair.target if config.pool == "targets" else pair.source for pair in pairs]
    pool_number = np.array([number[read[sentence.text]] for sentence in pool])
    table = TripleTable(
        words,
        style,
        np.array([number[read[pair.source.text]] for pair in pairs]),
        np.array([number[read[pair.target.text]] for pair in pairs]),
        np.where(exemplars >= 0, pool_number[exemplars], -1),
        np.array([pair.cluster for pair in pairs]),
    )
    return table, vocabulary


def mined_exemplars(
    pairs: Sequence[Pair],
    config: ExemplarConfig,
    *,
    tagger: str = DEFAULT,
    seed: int = 0,
    cache: Path | None = None,
    progress: bool = False,
) -> tuple[list[Sentence], npt.NDArray[np.int64]]:
    """Algorithm 1 over pairs with clusters, kept on disk by content.

    Returns: every sentence that may need style features (targets, and the pool's), tagged; and [M, K] rows of pairs
        whose target (or source, as `config.pool` says) is the exemplar, −1 = none.
    """
    wanted = [pair.target.text for pair in pairs]
    if config.pool == "sources":
        wanted += [pair.source.text for pair in pairs]
    tagged = annotate(wanted, tagger=tagger, max_tokens=config.max_tokens, lower=True, cache=cache, progress=progress)
    by_text = dict(zip(wanted, tagged, strict=True))
    full = [
        Pair(by_text.get(p.source.text, p.source), by_text[p.target.text], p.label, p.score, p.cluster) for p in pairs
    ]
    rules = MiningConfig(
        pool=config.pool,
        pool_size=config.pool_size,
        length_gap=config.length_gap,
        keep=config.ties,
        exclude_cluster=config.mask_clusters,
        seed=seed,
    )
    # "drawn by hash": ties of the same seed were drawn otherwise before, and what is kept of that must not be taken.
    key = hashlib.sha256(repr(["drawn by hash", *sorted(asdict(rules).items())]).encode())
    for pair in full:
        key.update(repr((pair.source.text, pair.target.tokens, pair.target.tags, pair.cluster)).encode())
    path = (cache or cache_folder()) / "exemplars" / f"{key.hexdigest()[:32]}.safetensors"
    if not path.is_file():
        save_tensors({"exemplars": torch.from_numpy(mine(full, rules).exemplars)}, path)
    return tagged, load_tensors(path)["exemplars"].numpy().astype(np.int64)

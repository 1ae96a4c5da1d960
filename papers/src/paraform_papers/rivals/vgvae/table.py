"""Pairs to VGVAE's training table: words of each different sentence, and their tags, if words are to be replaced."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paraform.batching import SPECIAL, Ragged, Vocabulary, prepare_all
from paraform.batching.pairs import sides_of
from paraform.records import Pair
from paraform.syntax.annotation import annotate
from paraform.syntax.running import DEFAULT
from paraform_papers.rivals.vgvae.batches import PairTable
from paraform_papers.rivals.vgvae.config import VgvaeConfig


def vocabulary_of(texts: Sequence[str], config: VgvaeConfig) -> Vocabulary:
    """The commonest words of texts, and how they are cased."""
    words = prepare_all(texts, config.max_tokens)
    return Vocabulary.build(words, min_count=config.min_count, size=config.vocabulary_size)


def numbered(words: Sequence[Sequence[str]], vocabulary: Vocabulary) -> list[list[int]]:
    """The numbers of each sentence's words."""
    return [vocabulary.encode([word.lower() for word in row]) for row in words]


def pair_table(
    pairs: Sequence[Pair],
    config: VgvaeConfig,
    vocabulary: Vocabulary,
    *,
    tagger: str = DEFAULT,
    progress: bool = False,
) -> PairTable:
    """Number the sentences of pairs; with `word_noise` they are tagged, and what is a tag's is what has it here.

    Args:
        tagger: a name that `load_tagger` knows.
        progress: say on stderr how far it is while texts are tagged.
    """
    texts, source, target = sides_of(pairs)
    words = Ragged.of(numbered(prepare_all(texts, config.max_tokens), vocabulary))
    tags, of_tag = np.zeros(len(words.values), np.int64), Ragged.of([[]])
    if config.word_noise:
        tagged = annotate(texts, tagger=tagger, max_tokens=config.max_tokens, progress=progress)
        names: dict[str, int] = {}
        tags = np.array([names.setdefault(tag, len(names)) for one in tagged for tag in one.tags], np.int64)
        known: list[set[int]] = [set() for _ in names]
        for word, tag in zip(words.values.tolist(), tags.tolist(), strict=True):
            if word >= len(SPECIAL):
                known[tag].add(word)
        of_tag = Ragged.of([sorted(some) for some in known])
    return PairTable(
        words=words,
        tags=tags,
        of_tag=of_tag,
        source=source,
        target=target,
        clusters=np.array([pair.cluster for pair in pairs], np.int64),
    )

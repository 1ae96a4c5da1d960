"""Pairs to PAR's training table: the words that their two sentences share.

A word is a token of `words.tokenize` with a letter or a digit, compared in lower case; of one that stands in a sentence
several times it is the first.

Shape key: S sentences, R words in their contexts (a word in a sentence), W shared words of pairs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from paraform.batching import Ragged
from paraform.encoders.split_words import encode_words
from paraform.encoders.types import Splitter
from paraform.models.retrofit.contexts import ContextTable, Pool
from paraform.records import Pair
from paraform.words import tokenize

CLOSED = re.compile(
    r"a|about|above|after|again|against|all|also|am|an|and|any|are|as|at|be|because|been|before|"
    r"being|below|between|both|but|by|can|cannot|could|did|do|does|doing|down|during|each|every|"
    r"few|for|from|further|had|has|have|having|he|her|here|hers|herself|him|himself|his|how|i|if|"
    r"in|into|is|it|its|itself|just|may|me|might|more|most|must|my|myself|n't|no|nor|not|of|off|"
    r"on|once|only|or|other|our|ours|ourselves|out|over|own|same|shall|she|should|so|some|such|"
    r"than|that|the|their|theirs|them|themselves|then|there|these|they|this|those|through|to|too|"
    r"under|until|up|upon|us|very|was|we|were|what|when|where|which|while|who|whom|whose|why|will|"
    r"with|would|you|your|yours|yourself|yourselves|'s|'m|'d|'ll|'re|'ve|ca|wo|sha"
)
"""English words of closed classes, as `tokenize` cuts them: pronouns, prepositions, conjunctions, auxiliaries …"""


def word_of(token: str, *, skip_stopwords: bool) -> str | None:
    """The word that a token is compared as; None: it is not compared.

    >>> word_of("Arms", skip_stopwords=True), word_of("?", skip_stopwords=False), word_of("the", skip_stopwords=True)
    ('arms', None, None)
    """
    word = token.lower()
    if not any(letter.isalnum() for letter in word):
        return None
    if skip_stopwords and (CLOSED.fullmatch(word) or any(letter.isdigit() for letter in word)):
        return None
    return word


def context_table(
    pairs: Sequence[Pair],
    tokenizer: Splitter,
    *,
    skip_stopwords: bool,
    min_tokens: int = 0,
    max_tokens: int = 0,
    groups: Sequence[int] = (),
) -> ContextTable:
    """Number the sentences of pairs and the words in them.

    A pair is left out if no word stands in both sides, before the tokenizer's limit; or if none of these words stands
    in a sentence of another cluster. A table may be empty.

    Args:
        pairs: with clusters; those labelled 0 are no paraphrases: they give sentences, and negatives that are labelled.
        tokenizer: the encoder's, cut at its limit.
        skip_stopwords, min_tokens, max_tokens: as `RetrofitConfig` has them.
        groups: a number from 0 for each pair, of the file that it is from; (): one of all.
    """
    cluster_of = text_clusters(pairs)
    tokens = {text: tokenize(text) for text in cluster_of}
    long = max_tokens or max(map(len, tokens.values()), default=0)
    texts = [text for text, words in tokens.items() if min_tokens <= len(words) <= long]
    number = {text: row for row, text in enumerate(texts)}
    vocabulary: dict[str, int] = {}
    pieces: list[list[int]] = []
    places: list[dict[int, int]] = []  # of each sentence: word → its number among R
    sentence, word, start, count = list[int](), list[int](), list[int](), list[int]()
    quotes = {"``": '"', "''": '"'}
    written = [[quotes.get(token, token) for token in tokens[text]] for text in texts]
    for row, encoding in enumerate(encode_words(tokenizer, written)):
        pieces.append(encoding.ids)
        own = {}
        spans: dict[int, list[int]] = {}
        for place, at in enumerate(encoding.word_ids):
            if at is not None:
                spans.setdefault(at, []).append(place)
        for at, span in spans.items():
            name = word_of(written[row][at], skip_stopwords=skip_stopwords)
            if name is None or (known := vocabulary.setdefault(name, len(vocabulary))) in own:
                continue
            own[known] = len(sentence)
            for column, value in zip((sentence, word, start, count), (row, known, span[0], len(span)), strict=True):
                column.append(value)
        places.append(own)
    identity = {name: at for at, name in enumerate(dict.fromkeys(cluster_of.values()))}
    sentence_R, word_R = np.array(sentence, np.int64), np.array(word, np.int64)
    cluster_S = np.array([identity[cluster_of[text]] for text in texts], np.int64)
    cluster_R = cluster_S[sentence_R]
    clusters = len(identity)
    pool = Pool.of(np.arange(len(sentence_R)), word_R, cluster_R, clusters)
    against: dict[int, list[int]] = {}
    shared: list[list[tuple[int, int]]] = []
    group: list[int] = []
    without_words = 0
    for pair, number_of_file in zip(pairs, groups or [0] * len(pairs), strict=True):
        one, other = number.get(pair.source.text), number.get(pair.target.text)
        if one is None or other is None or one == other:
            without_words += pair.label != 0
        elif pair.label == 0:
            against.setdefault(one, []).append(other)
            against.setdefault(other, []).append(one)
        else:
            both = [(row, places[other][name]) for name, row in places[one].items() if name in places[other]]
            without_words += not both
            shared.append(both)
            group.append(number_of_file)
    source_W = np.array([row for both in shared for row, _ in both], np.int64)
    target_W = np.array([row for both in shared for _, row in both], np.int64)
    usable_W = pool.others(word_R[source_W], cluster_R[source_W], clusters) > 0
    pair_W = np.repeat(np.arange(len(shared)), [len(both) for both in shared])[usable_W]
    source_W, target_W = source_W[usable_W], target_W[usable_W]
    labelled = [
        [
            (kept, places[sentence_no][word_no])
            for kept in (one, other)
            for word_no in [int(word_R[kept])]
            for sentence_no in against.get(int(sentence_R[kept]), ())
            if word_no in places[sentence_no]
        ]
        for one, other in zip(source_W.tolist(), target_W.tolist(), strict=True)
    ]
    flat = np.array([each for some in labelled for each in some], np.int64).reshape(-1, 2)
    kept_N, sizes = np.unique(pair_W, return_counts=True)
    return ContextTable(
        texts=texts,
        pieces=Ragged.of(pieces),
        words=Ragged.of([list(own.values()) for own in places]),
        sentence_R=sentence_R,
        word_R=word_R,
        cluster_R=cluster_R,
        start_R=np.array(start, np.int64),
        count_R=np.array(count, np.int64),
        source_W=source_W,
        target_W=target_W,
        shared=Ragged(np.arange(len(pair_W)), np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])),
        group_N=np.array(group, np.int64)[kept_N],
        labelled=Ragged(flat, np.concatenate([[0], np.cumsum([len(some) for some in labelled], dtype=np.int64)])),
        pool=pool,
        clusters=clusters,
        without_words=without_words,
        without_negatives=int((~usable_W).sum()),
    )


def text_clusters(pairs: Sequence[Pair]) -> dict[str, int]:
    """What each text says, as a number: texts of one number say the same.

    A pair labelled 0 has a cluster for its source alone; a target that no other pair knows is a cluster of its own.
    """
    found: dict[str, int] = {}
    same: dict[str, int] = {}  # of what differs in case and spaces alone
    later: list[str] = []
    for pair in pairs:
        cluster = -1 if pair.cluster is None else pair.cluster
        for side in (pair.source,) if pair.label == 0 else (pair.source, pair.target):
            found.setdefault(side.text, cluster)
            same.setdefault(" ".join(side.text.casefold().split()), cluster)
        later.append(pair.target.text)
    for text in later:
        if text not in found:
            found[text] = same.setdefault(" ".join(text.casefold().split()), -2 - len(same))
    return found

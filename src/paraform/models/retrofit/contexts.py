"""Pairs as words that their two sentences share, each with a context to be told from; batches of them.

A word is a token of `words.tokenize` with a letter or a digit, compared in lower case; of one that stands in a sentence
several times it is the first. Its vector is the mean over its pieces.

Shape key: S sentences, R words in their contexts (a word in a sentence), W shared words of pairs, B sentences of a
chunk, T word pieces, O words in their contexts of a batch, P their pieces.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from paraform.batching import Ragged, drawn_rows, epoch_steps, share_counts
from paraform.encoders.types import Splitter
from paraform.records import Pair
from paraform.words import tokenize

Rows: TypeAlias = npt.NDArray[np.int64]
PADDED = 1024  # pieces of a chunk, padding counted: enough for products to be fast, few enough to be of one length
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


@final
@dataclass(frozen=True)
class ContextBatch:
    """Sentences of a step, each once, and the words in them.

    Args:
        sentences: chunks of about one length: pieces [B, T] with zeros behind, lengths [B].
        piece_P: where each piece stands if all chunks' [B, T] lie end to end.
        word_P, counts_O: the word in its context that each piece belongs to, and the pieces of each of these.
        source_W, target_W: the two contexts of each shared word.
        kept_W, other_W: one of these, and one that is no paraphrase.
    """

    sentences: tuple[tuple[Tensor, Tensor], ...]
    piece_P: Tensor
    word_P: Tensor
    counts_O: Tensor
    source_W: Tensor
    target_W: Tensor
    kept_W: Tensor
    other_W: Tensor

    def to(self, device: torch.device) -> ContextBatch:
        """On that device."""
        chunks = tuple((pieces_BT.to(device), lengths_B.to(device)) for pieces_BT, lengths_B in self.sentences)
        rest = (self.piece_P, self.word_P, self.counts_O, self.source_W, self.target_W, self.kept_W, self.other_W)
        return ContextBatch(chunks, *(part.to(device) for part in rest))


class Pool(NamedTuple):
    """Words in their contexts, those of one word together and of these those of one cluster: a random other one of a
    word is drawn at once.

    Args:
        rows: numbers of the words in their contexts.
        keys: ascending; word × clusters + cluster.
    """

    rows: Rows
    keys: Rows

    @classmethod
    def of(cls, rows: Rows, words_R: Rows, clusters_R: Rows, clusters: int) -> Pool:
        """Of the given rows."""
        keys = words_R[rows] * clusters + clusters_R[rows]
        order = np.argsort(keys, kind="stable")
        return cls(rows[order], keys[order])

    def others(self, words_W: Rows, clusters_W: Rows, clusters: int) -> Rows:
        """How many there are of each word outside a cluster: [W]."""
        first_W, inside_W, beyond_W, last_W = self._range(words_W, clusters_W, clusters)
        return last_W - first_W - (beyond_W - inside_W)

    def draw(self, words_W: Rows, clusters_W: Rows, clusters: int, random: np.random.Generator) -> Rows:
        """One of each word outside a cluster, all as likely: [W]; −1 where there is none."""
        first_W, inside_W, beyond_W, last_W = self._range(words_W, clusters_W, clusters)
        count_W = last_W - first_W - (beyond_W - inside_W)
        at_W = first_W + (random.random(len(words_W)) * count_W).astype(np.int64)
        at_W += np.where(at_W >= inside_W, beyond_W - inside_W, 0)  # over those of the cluster itself
        if not len(self.rows):
            return np.full(len(words_W), -1, np.int64)
        return np.where(count_W > 0, self.rows[np.minimum(at_W, len(self.rows) - 1)], -1)

    def _range(self, words_W: Rows, clusters_W: Rows, clusters: int) -> tuple[Rows, Rows, Rows, Rows]:
        """Of each word the first, the first and behind the last of the cluster, and behind the last."""
        own_W = words_W * clusters + clusters_W
        keys = self.keys
        first_W, last_W = np.searchsorted(keys, words_W * clusters), np.searchsorted(keys, (words_W + 1) * clusters)
        return first_W, np.searchsorted(keys, own_W), np.searchsorted(keys, own_W, side="right"), last_W


@final
@dataclass(frozen=True)
class ContextTable:
    """Sentences, each once, the words in them, and the words that pairs share.

    Args:
        texts: [S].
        pieces: word pieces of each sentence, special ones among them.
        words: numbers from `first` of the words in their contexts, of each sentence: row i has those of sentence i.
        sentence_R, word_R, cluster_R: of each word in its context its sentence, which word it is, what it says.
        start_R, count_R: its first piece in its sentence, and how many it has.
        source_W, target_W: each shared word in both contexts.
        shared: the numbers among W of each pair's.
        group_N: [pairs] the file that each is from, counted from 0.
        labelled_W: of each shared word those contexts that a pair labelled 0 sets against one of its own.
        pool: all words in their contexts.
        clusters: how many there are.
        without_words, without_negatives: pairs without a shared word, and shared words that no other cluster has.
    """

    texts: list[str]
    pieces: Ragged
    words: Ragged
    sentence_R: Rows
    word_R: Rows
    cluster_R: Rows
    start_R: Rows
    count_R: Rows
    source_W: Rows
    target_W: Rows
    shared: Ragged
    group_N: Rows
    labelled: Ragged
    pool: Pool
    clusters: int
    without_words: int
    without_negatives: int

    def __len__(self) -> int:
        """Pairs with a shared word that another cluster has, too."""
        return len(self.shared.offsets) - 1

    def negatives(self, chosen_W: Rows, kind: str, random: np.random.Generator) -> tuple[Rows, Rows]:
        """Of each of these shared words the context that is kept, and one that is no paraphrase of it.

        Args:
            chosen_W: shared words.
            kind: as `RetrofitConfig.negatives` has it; for "batch" these are all of a step.
        """
        source_W, target_W = self.source_W[chosen_W], self.target_W[chosen_W]
        words_W, clusters_W = self.word_R[source_W], self.cluster_R[source_W]
        kept_W = np.where(random.random(len(chosen_W)) < 0.5, source_W, target_W)
        other_W = self.pool.draw(words_W, clusters_W, self.clusters, random)
        if kind == "batch":
            sentences = np.unique(self.sentence_R[np.concatenate([source_W, target_W])])
            near = Pool.of(_joined(self.words, sentences), self.word_R, self.cluster_R, self.clusters)
            near_W = near.draw(words_W, clusters_W, self.clusters, random)
            other_W = np.where(near_W >= 0, near_W, other_W)
        if kind == "labelled":
            counts_W = self.labelled.lengths(chosen_W)
            taken_W = (counts_W > 0) & (random.random(len(chosen_W)) < 0.5)
            at_W = self.labelled.offsets[chosen_W] + (random.random(len(chosen_W)) * counts_W).astype(np.int64)
            kept_W[taken_W], other_W[taken_W] = self.labelled.values[at_W[taken_W]].T
        return kept_W, other_W

    def batch(self, chosen_W: Rows, kept_W: Rows, other_W: Rows) -> ContextBatch:
        """These shared words with these negatives; every sentence stands there once."""
        contexts_4W = np.concatenate([self.source_W[chosen_W], self.target_W[chosen_W], kept_W, other_W])
        rows_O, place_4W = np.unique(contexts_4W, return_inverse=True)
        sentences = np.unique(self.sentence_R[rows_O])
        sentences = sentences[np.argsort(self.pieces.lengths(sentences), kind="stable")]
        chunks, flat_start = [], np.zeros(len(self.texts), np.int64)
        done = 0
        for part in _chunks(sentences, self.pieces.lengths(sentences)):
            pieces_BT, lengths_B = self.pieces.padded(part)
            flat_start[part] = done + np.arange(len(part)) * pieces_BT.shape[1]
            done += pieces_BT.numel()
            chunks.append((pieces_BT, lengths_B))
        counts_O = self.count_R[rows_O]
        word_P = np.repeat(np.arange(len(rows_O)), counts_O)
        within_P = np.arange(len(word_P)) - np.repeat(np.cumsum(counts_O) - counts_O, counts_O)
        first_O = flat_start[self.sentence_R[rows_O]] + self.start_R[rows_O]
        source_W, target_W, kept_W, other_W = place_4W.reshape(4, -1)
        numbers = (first_O[word_P] + within_P, word_P, counts_O, source_W, target_W, kept_W, other_W)
        return ContextBatch(tuple(chunks), *(torch.from_numpy(part) for part in numbers))


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
    for row, encoding in enumerate(tokenizer.encode_batch(written, is_pretokenized=True)):
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


def context_batches(
    table: ContextTable,
    *,
    batch_size: int,
    negatives: str,
    seed: int,
    shares: Sequence[float] = (),
    rank: int = 0,
    world: int = 1,
) -> tuple[Callable[[int], ContextBatch], int]:
    """Batches of pairs, in another order each epoch; negatives are drawn anew each time.

    Args:
        batch_size: over all processes; each of the `world` gets every `world`-th pair of it.
        negatives: as `RetrofitConfig` has it.
        seed: with the step it decides everything: `batches(step)` is a pure function of both.
        shares: of an epoch's pairs, how many are from each group, up to a factor; (): as many as there are.
    Returns: `batches(step)`, and the steps of an epoch.
    Raises: InputError if there are fewer pairs than one batch holds, a batch has no equal parts, or the shares are not
        one for each group.
    """
    steps = epoch_steps(len(table), batch_size, world=world, what="pairs with a shared word")
    counts = share_counts(np.bincount(table.group_N), shares)
    members = [np.flatnonzero(table.group_N == number) for number in range(len(counts))]

    @functools.lru_cache(maxsize=1)
    def order(epoch: int) -> Rows:
        random = np.random.default_rng([seed, epoch])
        if not shares:
            return random.permutation(len(table))[: steps * batch_size]
        drawn = [drawn_rows(rows, count, random) for rows, count in zip(members, counts, strict=True)]
        return random.permutation(np.concatenate(drawn))[: steps * batch_size]

    def batches(step: int) -> ContextBatch:
        pairs = order(step // steps)[step % steps * batch_size :][:batch_size]
        # drawn for the whole step, so that several processes have what one would have
        whole_W = _joined(table.shared, pairs)
        kept_W, other_W = table.negatives(whole_W, negatives, np.random.default_rng([seed, step, 1]))
        mine_W = np.repeat(np.arange(len(pairs)) % world == rank, table.shared.lengths(pairs))
        return table.batch(whole_W[mine_W], kept_W[mine_W], other_W[mine_W])

    return batches, steps


def _joined(rows: Ragged, chosen: Rows) -> Rows:
    """The values of those rows, end to end."""
    lengths = rows.lengths(chosen)
    starts = np.repeat(rows.offsets[chosen] - (np.cumsum(lengths) - lengths), lengths)
    joined: Rows = rows.values[starts + np.arange(len(starts))].astype(np.int64)
    return joined


def _chunks(sentences: Rows, lengths: Rows) -> list[Rows]:
    """Sentences in order of length, as many together as `PADDED` pieces hold."""
    parts, start = [], 0
    for end in range(1, len(sentences) + 1):
        if end == len(sentences) or (end + 1 - start) * int(lengths[end]) > PADDED:
            parts.append(sentences[start:end])
            start = end
    return parts

"""PAR's training table, words that two sentences share, each with a context to be told from; and batches of it.

A word's vector is the mean over its pieces. `table.py` makes the table of pairs.

Shape key: S sentences, R words in their contexts (a word in a sentence), W shared words of pairs, B sentences of a
chunk, T word pieces, O words in their contexts of a batch, P their pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Unpack, final

import numpy as np
import torch
from torch import Tensor

from paraform.batching import Ragged
from paraform.batching.epochs import Batching, Rows, drawn_by_shares, epoch_batches

PADDED = 1024  # pieces of a chunk, padding counted: enough for products to be fast, few enough to be of one length


@final
@dataclass(frozen=True)
class Unread:
    """Words in their contexts that an encoder is to read: their sentences, each once, and where their pieces stand.

    Args:
        chunks: sentences of about one length: pieces [B, T] with zeros behind, lengths [B].
        piece_P: where each piece stands if all chunks' [B, T] lie end to end.
        word_P, counts_O: the word in its context that each piece belongs to, and the pieces of each of these.
    """

    chunks: tuple[tuple[Tensor, Tensor], ...]
    piece_P: Tensor
    word_P: Tensor
    counts_O: Tensor

    def to(self, device: torch.device) -> Unread:
        """On that device."""
        chunks = tuple((pieces_BT.to(device), lengths_B.to(device)) for pieces_BT, lengths_B in self.chunks)
        return Unread(chunks, *(part.to(device) for part in (self.piece_P, self.word_P, self.counts_O)))


@final
@dataclass(frozen=True)
class ContextBatch:
    """Words in their contexts of a step, each once, and which of them are compared.

    Args:
        words: to be read, with M before the encoder; None where it stands behind.
        states_OD: their states without M, where M stands behind the encoder, or for d̂₀; else None.
        source_W, target_W: the two contexts of each shared word.
        kept_W, other_W: one of these, and one that is no paraphrase.
    """

    words: Unread | None
    states_OD: Tensor | None
    source_W: Tensor
    target_W: Tensor
    kept_W: Tensor
    other_W: Tensor

    def to(self, device: torch.device) -> ContextBatch:
        """On that device."""
        compared = (part.to(device) for part in (self.source_W, self.target_W, self.kept_W, self.other_W))
        words = self.words.to(device) if self.words is not None else None
        return ContextBatch(words, self.states_OD.to(device) if self.states_OD is not None else None, *compared)


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
        states_RD: of each word in its context its state without M, each sentence read once, where steps need it.
        behind: whether M stands behind the encoder, so that no step reads a sentence.
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
    states_RD: Tensor | None = None
    behind: bool = False

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
            near = Pool.of(self.words.joined(sentences).astype(np.int64), self.word_R, self.cluster_R, self.clusters)
            near_W = near.draw(words_W, clusters_W, self.clusters, random)
            other_W = np.where(near_W >= 0, near_W, other_W)
        if kind == "labelled":
            counts_W = self.labelled.lengths(chosen_W)
            taken_W = (counts_W > 0) & (random.random(len(chosen_W)) < 0.5)
            at_W = self.labelled.offsets[chosen_W] + (random.random(len(chosen_W)) * counts_W).astype(np.int64)
            kept_W[taken_W], other_W[taken_W] = self.labelled.values[at_W[taken_W]].T
        return kept_W, other_W

    def batch(self, chosen_W: Rows, kept_W: Rows, other_W: Rows) -> ContextBatch:
        """These shared words with these negatives; every word in its context stands there once."""
        contexts_4W = np.concatenate([self.source_W[chosen_W], self.target_W[chosen_W], kept_W, other_W])
        rows_O, place_4W = np.unique(contexts_4W, return_inverse=True)
        compared = (torch.from_numpy(place_W) for place_W in place_4W.reshape(4, -1))
        states_OD = self.states_RD[torch.from_numpy(rows_O)] if self.states_RD is not None else None
        return ContextBatch(None if self.behind else self.unread(rows_O), states_OD, *compared)

    def unread(self, rows_O: Rows) -> Unread:
        """Words in their contexts to be read."""
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
        numbers = (first_O[word_P] + within_P, word_P, counts_O)
        return Unread(tuple(chunks), *(torch.from_numpy(part) for part in numbers))


def context_batches(
    table: ContextTable, *, negatives: str, shares: Sequence[float] = (), **how: Unpack[Batching]
) -> tuple[Callable[[int], ContextBatch], int]:
    """Batches of pairs, in another order each epoch; negatives are drawn anew each time.

    Args:
        negatives: as `RetrofitConfig` has it.
        shares: of the groups, as `share_counts` has them.
        how: as `Batching` has them.
    Returns: `batches(step)`, and the steps of an epoch.
    Raises: InputError as `epoch_batches` and `share_counts`.
    """
    shuffle = drawn_by_shares(table.group_N, shares) if shares else None
    rows_of, steps, own = epoch_batches(len(table), what="pairs with a shared word", shuffle=shuffle, **how)

    def batches(step: int) -> ContextBatch:
        pairs = rows_of(step)
        # drawn for the whole step, so that several processes have what one would have
        whole_W = table.shared.joined(pairs)
        kept_W, other_W = table.negatives(whole_W, negatives, np.random.default_rng([how["seed"], step, 1]))
        own_B = np.zeros(len(pairs), bool)
        own_B[own] = True
        mine_W = np.repeat(own_B, table.shared.lengths(pairs))
        return table.batch(whole_W[mine_W], kept_W[mine_W], other_W[mine_W])

    return batches, steps


def _chunks(sentences: Rows, lengths: Rows) -> list[Rows]:
    """Sentences in order of length, as many together as `PADDED` pieces hold."""
    parts, start = [], 0
    for end in range(1, len(sentences) + 1):
        if end == len(sentences) or (end + 1 - start) * int(lengths[end]) > PADDED:
            parts.append(sentences[start:end])
            start = end
    return parts

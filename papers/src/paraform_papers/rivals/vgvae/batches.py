"""VGVAE's training table, and the batches, or mega-batches, of it.

Shape key: M pairs of a mega-batch, R sentences picked, T words of the longest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
import torch
from torch import Tensor

from paraform.batching import Ragged, SentenceBatch
from paraform.batching.epochs import Rows, epoch_batches
from paraform_papers.rivals.vgvae.config import VgvaeConfig

MEGABATCH = 20  # batches among whose sentences the hardest negatives are sought


class MegaBatch(NamedTuple):
    """M pairs, `batch_size` of which make a step: all sources and then all targets.

    Args:
        sentences: their words.
        read: the same as the syntactic encoder reads them: some words are others of their tag.
        clusters_M: of the pairs; those of one number say the same.
        seed: of what is drawn on the way.
        contrasted: whether the hardest negatives are sought, and learnt from.
    """

    sentences: SentenceBatch
    read: SentenceBatch
    clusters_M: Tensor
    batch_size: int
    seed: int
    contrasted: bool

    def to(self, device: torch.device) -> MegaBatch:
        """On that device."""
        return self._replace(
            sentences=self.sentences.to(device), read=self.read.to(device), clusters_M=self.clusters_M.to(device)
        )


@final
@dataclass(frozen=True)
class PairTable:
    """Pairs of numbered sentences, each of which stands here once.

    Args:
        words: numbers of each sentence's words.
        tags: a tag's number for each of these words, end to end as `words.values`.
        of_tag: the numbers of the words that each tag has; without any, none is replaced.
        source, target: sentences of the pairs.
        clusters: of the pairs.
    """

    words: Ragged
    tags: Rows
    of_tag: Ragged
    source: Rows
    target: Rows
    clusters: Rows

    def sentences(self, rows: Rows) -> SentenceBatch:
        """Those sentences."""
        return SentenceBatch(*self.words.padded(rows))

    def noised(self, rows: Rows, share: float, random: np.random.Generator) -> SentenceBatch:
        """Those sentences, a share of their words replaced by others of the same tag, drawn evenly."""
        words_RT, lengths_R = self.words.padded(rows)
        if not share or not len(self.of_tag.values):
            return SentenceBatch(words_RT, lengths_R)
        tags_RT, _ = Ragged(self.tags, self.words.offsets).padded(rows)
        tags = tags_RT.numpy()
        counts = self.of_tag.lengths(np.arange(len(self.of_tag.offsets) - 1))[tags]
        drawn = self.of_tag.offsets[tags] + (random.random(tags.shape) * counts).astype(np.int64)
        replaced = (random.random(tags.shape) < share) & (counts > 0)
        replaced &= np.arange(tags.shape[1]) < lengths_R.numpy()[:, None]
        others = self.of_tag.values[np.where(replaced, drawn, 0)].astype(np.int64)
        return SentenceBatch(torch.where(torch.from_numpy(replaced), torch.from_numpy(others), words_RT), lengths_R)


def megabatch_sizes(steps_per_epoch: int, config: VgvaeConfig) -> list[int]:
    """How many batches each mega-batch has: one, or `MEGABATCH` of an epoch in which negatives are learnt from.

    >>> megabatch_sizes(25, VgvaeConfig.paper("averages", epochs=4))[-5:]
    [1, 20, 5, 20, 5]
    """
    sizes: list[int] = []
    for epoch in range(1, config.epochs + 1):
        most = MEGABATCH if contrasts(epoch, config) else 1
        whole, rest = divmod(steps_per_epoch, most)
        sizes += [most] * whole + [rest] * bool(rest)
    return sizes


def contrasts(epoch: int, config: VgvaeConfig) -> bool:
    """Whether negatives are learnt from in that epoch, counted from 1."""
    return config.discriminative_weight > 0 and epoch >= config.discriminative_start


def megabatches(
    table: PairTable, config: VgvaeConfig, *, seed: int, world: int = 1
) -> tuple[Callable[[int], MegaBatch], int]:
    """Mega-batches, each whole in every process: they follow each other through the epochs.

    Args:
        seed, world: as `Batching` has them.
    Returns: `batches(step)`, and how many there are. An epoch leaves out what does not fill its last batch, other pairs
        each time.
    Raises: InputError as `epoch_batches`.
    """
    size = config.batch_size
    lengths = (table.words.lengths(table.source), table.words.lengths(table.target))
    rows_of, steps, _ = epoch_batches(
        len(table.source), batch_size=size, seed=seed, world=world, what="pairs", lengths=lengths
    )
    sizes = megabatch_sizes(steps, config)
    starts = np.cumsum([0, *sizes]).tolist()

    def batches(step: int) -> MegaBatch:
        rows = np.concatenate([rows_of(number) for number in range(starts[step], starts[step + 1])])
        both = np.concatenate([table.source[rows], table.target[rows]])
        random = np.random.default_rng([seed, step, 1])
        return MegaBatch(
            table.sentences(both),
            table.noised(both, config.word_noise, random),
            torch.from_numpy(table.clusters[rows]),
            size,
            int(random.integers(2**62)),
            contrasts(1 + starts[step] // steps, config),
        )

    return batches, len(sizes)


def picked(batch: SentenceBatch, rows_R: Tensor) -> SentenceBatch:
    """Those sentences, no wider than the longest of them."""
    lengths_R = batch.lengths_B[rows_R]
    return SentenceBatch(batch.words_BT[rows_R][:, : int(lengths_R.max())], lengths_R)

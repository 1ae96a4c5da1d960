"""Training of the syntax head: its batches and its optimisation step (the module is `syntax/head.py`).

Shape key: B sentences of one length, T words, P spans, L layers of the encoder, D features, N words of all sentences.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple, final

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from paraform.encoders import Encoder
from paraform.models.update import Accelerator, State, Stepper, Update
from paraform.schedules import warmup_linear
from paraform.syntax.chart import span_place
from paraform.syntax.head import SyntaxHead, SyntaxHeadConfig, word_shape
from paraform.syntax.spans import JOIN, Span, constituents, joined
from paraform.syntax.trees import Tree
from paraform.syntax.windows import same_length
from paraform_papers.shipped.span_labels import span_label_nll

LONGEST = 110  # words; of GUM, QuestionBank and the Penn Treebank sample three sentences have more
RARE = 5  # a joined label that fewer constituents have is taken apart


class TreeBatch(NamedTuple):
    """Sentences of one length: states [B, T, L, D] of the encoder, shapes and tags [B, T], labels of spans [B, P]."""

    states_BTLD: Tensor
    shapes_BT: Tensor
    tags_BT: Tensor
    labels_BP: Tensor


def label_set(trees: Iterable[Tree]) -> list[str]:
    """The labels of a head: what constituents of these trees have, the most frequent first, without the rare ones."""
    counts = Counter(span.label for tree in trees for span in joined(constituents(tree)))
    return [label for label, count in counts.most_common() if count >= RARE]


@final
class ParsedWords:
    """Trees and the frozen encoder's states of their words, computed once.

    Args:
        trees: without traces and function tags; those of more than `LONGEST` words are left out.
        tags: the tag set; another tag is not learnt from.
        labels: the head's; a joined label that is none of them counts as its lower part that is.
    """

    def __init__(
        self,
        trees: Sequence[Tree],
        tags: Sequence[str],
        labels: Sequence[str],
        encoder: Encoder,
        layers: Sequence[int],
    ) -> None:
        self.trees = [tree for tree in trees if len(tree.words()) <= LONGEST]
        self.words = [tree.words() for tree in self.trees]
        self.lengths = np.array([len(words) for words in self.words])
        self.starts = np.concatenate([[0], np.cumsum(self.lengths)])
        tag_number = {tag: number for number, tag in enumerate(tags)}
        label_number = {label: number for number, label in enumerate(labels, start=1)}
        self.tags_N = torch.tensor([tag_number.get(tag, -1) for tree in self.trees for tag in tree.tags()])
        self._labels = [
            _numbered(joined(constituents(tree)), len(words), label_number)
            for tree, words in zip(self.trees, self.words, strict=True)
        ]
        self.states_NLD = torch.zeros(0)
        for start in range(0, len(self.words), 1024):
            found = encoder.word_states(self.words[start : start + 1024], layers=layers).states_NLD
            if not start:
                self.states_NLD = found.new_empty(int(self.starts[-1]), *found.shape[1:])
            self.states_NLD[self.starts[start] : self.starts[start] + len(found)] = found

    def batch(self, rows: Sequence[int], lowered: Sequence[bool]) -> TreeBatch:
        """The given sentences, of one length; `lowered` hides the capitals of some."""
        length = int(self.lengths[rows[0]])
        at_BT = torch.from_numpy(self.starts[list(rows)][:, None] + np.arange(length))
        shapes = [
            [word_shape(word.lower() if low else word) for word in self.words[row]]
            for row, low in zip(rows, lowered, strict=True)
        ]
        labels_BP = torch.zeros(len(rows), length * (length + 1) // 2, dtype=torch.long)
        for place, row in enumerate(rows):
            spans, numbers = self._labels[row]
            labels_BP[place, spans] = numbers
        return TreeBatch(self.states_NLD[at_BT].float(), torch.tensor(shapes), self.tags_N[at_BT], labels_BP)

    def batches(
        self, *, words: int, seed: int, lower_case: float, rank: int = 0, world: int = 1
    ) -> tuple[Callable[[int], TreeBatch], int]:
        """`batches(step)`, a pure function of seed and step, of about `words` words each; and the steps of an epoch."""
        steps = len(self._order(words, seed, 0)) // world
        order = lru_cache(maxsize=1)(lambda epoch: self._order(words, seed, epoch))

        def batches(step: int) -> TreeBatch:
            rows = order(step // steps)[(step % steps) * world + rank]
            lowered = np.random.default_rng([seed, step, rank]).random(len(rows)) < lower_case
            return self.batch(rows, lowered.tolist())

        return batches, steps

    def _order(self, words: int, seed: int, epoch: int) -> list[list[int]]:
        random = np.random.default_rng([seed, epoch])
        shuffled = random.permutation(len(self.trees))
        groups = [shuffled[rows].tolist() for rows in same_length(self.lengths[shuffled], words=words)]
        return [groups[i] for i in random.permutation(len(groups))]


def _numbered(spans: Sequence[Span], length: int, numbers: dict[str, int]) -> tuple[Tensor, Tensor]:
    """Places among the spans of a sentence of so many words, and the numbers of their labels."""
    found: dict[int, int] = {}
    for start, end, label in spans:
        while label and label not in numbers:
            label = label.partition(JOIN)[2]
        if label:
            found[span_place(start, end, length)] = numbers[label]
    return torch.tensor([*found], dtype=torch.long), torch.tensor([*found.values()], dtype=torch.long)


def make_update(
    head: SyntaxHead, config: SyntaxHeadConfig, accelerator: Accelerator, *, total_steps: int
) -> tuple[Update, State]:
    """One AdamW step on the cross-entropy of the tags, smoothed, and of the spans' labels: both in nats a word."""
    optimizer = torch.optim.AdamW(
        head.parameters(), lr=config.learning_rate, betas=(0.9, 0.98), weight_decay=config.weight_decay
    )
    rate = warmup_linear(total=total_steps, warmup=total_steps // 20)
    stepper = Stepper(head, optimizer, accelerator, rate=rate, clip_norm=1.0)

    def update(batch: TreeBatch, step: int) -> dict[str, float]:
        batch = TreeBatch(*(part.to(accelerator.device) for part in batch))
        scores = stepper.network(batch.states_BTLD, batch.shapes_BT)
        tags = F.cross_entropy(
            scores.tags_BTK.flatten(0, 1),
            batch.tags_BT.flatten(),
            ignore_index=-1,
            label_smoothing=config.label_smoothing,
        )
        spans = span_label_nll(scores.spans_BPC, batch.labels_BP, batch.tags_BT.numel())
        stepper(tags + spans, step)
        return {"loss": tags.item() + spans.item(), "tags": tags.item(), "spans": spans.item()}

    return update, State({"adamw": optimizer})

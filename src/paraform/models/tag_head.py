"""Training of the tagging head: its batches and its optimisation step (the module is `syntax/head.py`).

Shape key: B sentences of one length, T words, L layers of the encoder, D features, K tags, N words of all sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from paraform.encoders import Encoder
from paraform.models.update import State, Update
from paraform.records import Sentence
from paraform.schedules import warmup_linear
from paraform.syntax.head import TagHead, TagHeadConfig, word_shape
from paraform.syntax.tagging import same_length

if TYPE_CHECKING:  # its import takes longer than a short answer
    from accelerate import Accelerator


class TagBatch(NamedTuple):
    """Sentences of one length: states [L, B, T, D] of the encoder, shapes [B, T] of the words, tags [B, T]."""

    states_LBTD: Tensor
    shapes_BT: Tensor
    tags_BT: Tensor


@final
class TaggedWords:
    """Tagged sentences and the frozen encoder's states of their words, computed once, in float16.

    Args:
        sentences: tokenised and tagged; those longer than the encoder takes are left out.
        tags: the tag set; another tag counts as an error of the head.
    """

    def __init__(self, sentences: Sequence[Sentence], tags: Sequence[str], encoder: Encoder, layers: Sequence[int]):
        self.sentences = [s for s in sentences if len(s.tokens) <= 110]
        numbers = {tag: number for number, tag in enumerate(tags)}
        parts: list[list[Tensor]] = [[] for _ in layers]
        for start in range(0, len(self.sentences), 2048):  # bounds the memory of the float32 states
            chunk = [sentence.tokens for sentence in self.sentences[start : start + 2048]]
            for part, found in zip(parts, encoder.word_states(chunk, layers=layers), strict=True):
                part.append(found.states_ND.half())
        self.states_LND = torch.stack([torch.cat(part) for part in parts])
        self.lengths = np.array([len(sentence.tokens) for sentence in self.sentences])
        self.starts = np.concatenate([[0], np.cumsum(self.lengths)])
        self.tags_N = torch.tensor([numbers.get(tag, -1) for s in self.sentences for tag in s.tags])

    def batch(self, rows: Sequence[int], lowered: Sequence[bool]) -> TagBatch:
        """The given sentences, of one length; `lowered` hides the capitals of some."""
        at_BT = torch.from_numpy(self.starts[list(rows)][:, None] + np.arange(self.lengths[rows[0]]))
        shapes = [
            [word_shape(word.lower() if low else word) for word in self.sentences[row].tokens]
            for row, low in zip(rows, lowered, strict=True)
        ]
        return TagBatch(self.states_LND[:, at_BT].float(), torch.tensor(shapes), self.tags_N[at_BT])

    def batches(
        self, *, words: int, seed: int, lower_case: float, rank: int = 0, world: int = 1
    ) -> tuple[Callable[[int], TagBatch], int]:
        """`batches(step)`, a pure function of seed and step, of about `words` words each; and the steps of an epoch."""
        steps = len(self._order(words, seed, 0)) // world
        orders: dict[int, list[list[int]]] = {}

        def batches(step: int) -> TagBatch:
            epoch = step // steps
            if epoch not in orders:
                orders.clear()
                orders[epoch] = self._order(words, seed, epoch)
            rows = orders[epoch][(step % steps) * world + rank]
            lowered = np.random.default_rng([seed, step, rank]).random(len(rows)) < lower_case
            return self.batch(rows, lowered.tolist())

        return batches, steps

    def _order(self, words: int, seed: int, epoch: int) -> list[list[int]]:
        random = np.random.default_rng([seed, epoch])
        shuffled = random.permutation(len(self.sentences))
        groups = [shuffled[rows].tolist() for rows in same_length(self.lengths[shuffled], words=words)]
        return [groups[i] for i in random.permutation(len(groups))]


def make_update(
    head: TagHead,
    config: TagHeadConfig,
    accelerator: Accelerator,
    *,
    draw: Callable[[int], list[TagBatch]] | None = None,
    total_steps: int,
) -> tuple[Update, State]:
    """One AdamW step on the cross-entropy of the tags, smoothed by `config.label_smoothing`, in nats a word."""
    optimizer = torch.optim.AdamW(head.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay)
    wrapped, prepared = accelerator.prepare(head, optimizer)
    rate = warmup_linear(total=total_steps, warmup=total_steps // 20)

    def update(batch: TagBatch, step: int) -> dict[str, float]:
        for group in optimizer.param_groups:
            group["lr"] = config.learning_rate * rate(step)
        scores_BTK = wrapped(batch.states_LBTD.to(accelerator.device), batch.shapes_BT.to(accelerator.device))
        gold_N = batch.tags_BT.to(accelerator.device).flatten()
        loss = F.cross_entropy(
            scores_BTK.flatten(0, 1), gold_N, ignore_index=-1, label_smoothing=config.label_smoothing
        )
        prepared.zero_grad()
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(head.parameters(), 1.0)
        prepared.step()
        return {"loss": loss.item()}

    return update, State({"adamw": optimizer})


@torch.inference_mode()
def accuracy(head: TagHead, words: TaggedWords, *, lowered: bool = False) -> Mapping[Any, float]:
    """Share of words with the right tag, for each `key` of a sentence's file and for "all".

    Returns: by the stem of the file that a sentence came from (GUM: its genre), and "all".
    """
    head.eval()
    right: dict[str, int] = {}
    count: dict[str, int] = {}
    for rows in same_length(words.lengths, words=4096):
        batch = words.batch(rows, [lowered] * len(rows))
        hits_BT = head(batch.states_LBTD, batch.shapes_BT).argmax(-1) == batch.tags_BT
        for row, hits in zip(rows, hits_BT.sum(1).tolist(), strict=True):
            origin = words.sentences[row].origin
            for key in ("all", origin.path.rsplit("/", 1)[-1].removesuffix(".mrg") if origin else "unknown"):
                right[key] = right.get(key, 0) + hits
                count[key] = count.get(key, 0) + len(words.sentences[row].tokens)
    return {key: right[key] / count[key] for key in sorted(count)}

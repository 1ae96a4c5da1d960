"""Bidirectional attention flow with self-attention over frozen vectors (Clark and Gardner 2018, section 3).

Shape key: B questions, T words of a context, S of a question, D features of a vector that is read, H = 2 · width of a
GRU's states, F features behind an attention; Q queries and K keys of an attention.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from paraform.fields import require_restorable
from paraform_papers.par.reader.batches import ReaderBatch
from paraform_papers.par.reader.config import ReaderConfig

LONGEST_ANSWER = 17  # words (Clark and Gardner 2018, section 4.2)


class Spans(NamedTuple):
    """Log-probabilities of an answer's first and of its last word, [B, T]; −inf where padded."""

    start_BT: Tensor
    end_BT: Tensor


class Attended(NamedTuple):
    """What is read of the keys by each query, [B, Q, H], and the scores before their softmax, [B, Q, K]."""

    read_BQH: Tensor
    scores_BQK: Tensor


@final
class TwoWayGRU(nn.Module):
    """A GRU from the first word to the last and one from the last to the first, over padded rows: [B, T, H].

    Rows are turned around where they end, so that neither meets padding before it has read all words: the states of
    `layers.BiGRU`, whose packing takes nearly three times as long on a CPU (16 rows of 130 words: 0.14 s, not 0.05).
    Where a row is padded, states mean nothing.
    """

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.onward, self.back = (nn.GRU(inputs, width, batch_first=True) for _ in range(2))

    def forward(self, inputs_BTD: Tensor, lengths_B: Tensor) -> Tensor:
        places_T = torch.arange(inputs_BTD.shape[1], device=lengths_B.device)
        turned_BT = torch.where(places_T < lengths_B[:, None], lengths_B[:, None] - 1 - places_T, places_T)
        onward_BTW = self.onward(inputs_BTD)[0]
        back_BTW = _picked(self.back(_picked(inputs_BTD, turned_BT))[0], turned_BT)
        return torch.cat([onward_BTW, back_BTW], -1)


def _picked(states_BTD: Tensor, places_BT: Tensor) -> Tensor:
    """Each row's states at those places."""
    return states_BTD.gather(1, places_BT[..., None].expand_as(states_BTD))


@final
class TrilinearAttention(nn.Module):
    """a_qk = w₁·h_q + w₂·h_k + w₃·(h_q ∘ h_k); p_q = softmax_k a_qk; what is read is Σ_k p_qk h_k.

    Args:
        width: H.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.of_query = nn.Linear(width, 1, bias=False)
        self.of_key = nn.Linear(width, 1, bias=False)
        self.of_both = nn.Parameter(torch.empty(width))
        nn.init.normal_(self.of_both, std=width**-0.5)

    def forward(self, query_BQH: Tensor, keys_BKH: Tensor, seen: Tensor) -> Attended:
        """Attend.

        Args:
            seen: bool, [B, 1 or Q, K]: which keys a query may read; one that may read none reads 0.
        """
        both_BQK = (query_BQH * self.of_both) @ keys_BKH.transpose(1, 2)
        scores_BQK = both_BQK + self.of_query(query_BQH) + self.of_key(keys_BKH).transpose(1, 2)
        weights_BQK = masked_softmax(scores_BQK, seen)
        return Attended(weights_BQK @ keys_BKH, scores_BQK)


def masked_softmax(scores: Tensor, seen: Tensor) -> Tensor:
    """Softmax over the last dimension of what is seen; 0 elsewhere, and everywhere if nothing is seen."""
    lowest = torch.finfo(scores.dtype).min
    return scores.masked_fill(~seen, lowest).softmax(-1).masked_fill(~seen, 0.0)


@final
class ReaderNetwork(nn.Module):
    """What is trained."""

    def __init__(self, config: ReaderConfig) -> None:
        super().__init__()
        self.dropout = config.dropout
        inner, wide = 2 * config.width, config.linear
        self.words = TwoWayGRU(config.inputs, config.width)  # of contexts and of questions
        self.attention = TrilinearAttention(inner)
        self.merge = nn.Linear(4 * inner, wide)
        self.again = TwoWayGRU(wide, config.width)
        self.self_attention = TrilinearAttention(inner)
        self.merge_self = nn.Linear(3 * inner, wide)
        self.starts, self.ends = TwoWayGRU(wide, config.width), TwoWayGRU(wide + inner, config.width)
        self.start, self.end = nn.Linear(inner, 1), nn.Linear(inner, 1)
        self.scale: Tensor
        self.register_buffer("scale", torch.ones(()))  # makes the vectors' root mean square 1

    def forward(self, batch: ReaderBatch) -> Spans:
        """Where the answers of a batch begin and end."""
        there_BT, asked_BS = (
            torch.arange(vectors.shape[1], device=lengths.device) < lengths[:, None]
            for vectors, lengths in (
                (batch.context_BTD, batch.context_lengths_B),
                (batch.question_BSD, batch.question_lengths_B),
            )
        )
        lengths_B = batch.context_lengths_B
        context_BTH = self.words(self.dropped(batch.context_BTD * self.scale), lengths_B)
        question_BSH = self.words(self.dropped(batch.question_BSD * self.scale), batch.question_lengths_B)
        context_BTH, question_BSH = self.dropped(context_BTH), self.dropped(question_BSH)
        read_BTH, scores_BTS = self.attention(context_BTH, question_BSH, asked_BS[:, None])
        lowest = torch.finfo(scores_BTS.dtype).min
        most_BT = scores_BTS.masked_fill(~asked_BS[:, None], lowest).amax(-1)
        whole_B1H = masked_softmax(most_BT, there_BT)[:, None] @ context_BTH  # what of the context the question is on
        merged = torch.cat([context_BTH, read_BTH, context_BTH * read_BTH, whole_B1H * read_BTH], -1)
        merged_BTF = F.relu(self.merge(merged))

        again_BTH = self.dropped(self.again(self.dropped(merged_BTF), lengths_B))
        others_1TT = ~torch.eye(again_BTH.shape[1], dtype=torch.bool, device=again_BTH.device)
        read_BTH = self.self_attention(again_BTH, again_BTH, there_BT[:, None] & others_1TT).read_BQH
        own_BTF = F.relu(self.merge_self(torch.cat([again_BTH, read_BTH, again_BTH * read_BTH], -1)))
        merged_BTF = merged_BTF + own_BTF

        starts_BTH = self.starts(self.dropped(merged_BTF), lengths_B)
        ends_BTH = self.ends(self.dropped(torch.cat([merged_BTF, starts_BTH], -1)), lengths_B)
        start_BT, end_BT = self.start(starts_BTH).squeeze(-1), self.end(ends_BTH).squeeze(-1)
        return Spans(*(scores.masked_fill(~there_BT, -torch.inf).log_softmax(-1) for scores in (start_BT, end_BT)))

    def dropped(self, states_BTD: Tensor) -> Tensor:
        """Variational dropout: of a text the same features at every word (Gal and Ghahramani 2016)."""
        if not self.training or not self.dropout:
            return states_BTD
        kept_B1D = F.dropout(states_BTD.new_ones(len(states_BTD), 1, states_BTD.shape[2]), self.dropout)
        return states_BTD * kept_B1D


def best_spans(spans: Spans, *, longest: int) -> tuple[Tensor, Tensor]:
    """The first and last words, [B], of the most likely span of at most so many words: max p(i) p(j), i ≤ j."""
    length = spans.start_BT.shape[1]
    both_BTT = spans.start_BT[:, :, None] + spans.end_BT[:, None]
    allowed_TT = torch.ones(length, length, dtype=torch.bool, device=both_BTT.device).triu()
    allowed_TT &= ~torch.ones_like(allowed_TT).triu(longest)
    best_B = both_BTT.masked_fill(~allowed_TT, -torch.inf).flatten(1).argmax(-1)
    return best_B // length, best_B % length


@final
class Reader(nn.Module):
    """The reader, as it is saved: its own weights, without the encoder whose vectors it reads.

    Args:
        config: with `inputs`.
    Raises: ValueError without.
    """

    system: ClassVar[str] = "reader"
    config_class: ClassVar[type] = ReaderConfig
    kind: ClassVar[str] = "a reader"

    def __init__(self, config: ReaderConfig) -> None:
        super().__init__()
        if not config.inputs:
            raise ValueError("inputs 0; expected the features of a word's vector")
        self.config = config
        self.network = ReaderNetwork(config)

    @property
    def device(self) -> torch.device:
        """Where it is."""
        return next(self.network.parameters()).device

    @torch.no_grad()
    def spans(self, batch: ReaderBatch) -> tuple[Tensor, Tensor]:
        """The first and last word of each answer, [B] each, on the CPU."""
        first_B, last_B = best_spans(self.network(batch.to(self.device)), longest=LONGEST_ANSWER)
        return first_B.cpu(), last_B.cpu()

    def assets(self) -> dict[str, str]:
        """None."""
        return {}

    @classmethod
    def restore(cls, config: dict[str, Any], assets: dict[str, str]) -> Reader:
        """A reader with weights as drawn. Raises: InputError for what is no config of one."""
        require_restorable(ReaderConfig, config, assets, ())
        return cls(ReaderConfig(**config))

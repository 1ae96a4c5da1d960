"""InferSent's network: a BiLSTM, the maximum over time, and the head that it is trained by (sections 3.1 and 3.2.2).

Shape key: B sentences, T words of the longest, D features of a word, H of a sentence, C classes.
"""

from __future__ import annotations

import itertools
from typing import final

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from paraform_papers.rivals.infersent.batches import JudgedBatch, Words
from paraform_papers.rivals.infersent.config import InferSentConfig

CLASSES = 3  # contradiction, neutral, entailment


@final
class InferSentNetwork(nn.Module):
    """Sentences to vectors [B, H], H twice `hidden_width`, and pairs of them to logits [B, C].

    Args:
        width: D.
    """

    def __init__(self, config: InferSentConfig, width: int) -> None:
        super().__init__()
        self.pool_padding = config.pool_padding
        self.enc_lstm = nn.LSTM(width, config.hidden_width, batch_first=True, bidirectional=True)
        self.classifier: nn.Sequential | None = None
        if hidden := config.classifier_width:
            widths = (8 * config.hidden_width, hidden, hidden, CLASSES)
            self.classifier = nn.Sequential(*(nn.Linear(*both) for both in itertools.pairwise(widths)))

    def encode(self, words: Words) -> Tensor:
        """[B, H], 0 of a sentence without words."""
        if not words.vectors_BTD.shape[1]:
            return words.vectors_BTD.new_zeros(len(words.lengths_B), 2 * self.enc_lstm.hidden_size)
        lengths_B = words.lengths_B.clamp_min(1).cpu()
        packed = pack_padded_sequence(words.vectors_BTD, lengths_B, batch_first=True, enforce_sorted=False)
        states_BTH, _ = pad_packed_sequence(
            self.enc_lstm(packed)[0], batch_first=True, total_length=words.vectors_BTD.shape[1]
        )
        if not self.pool_padding:
            beyond_BT = torch.arange(states_BTH.shape[1]) >= lengths_B[:, None]
            states_BTH = states_BTH.masked_fill(beyond_BT.to(states_BTH.device)[..., None], float("-inf"))
        return torch.where(words.lengths_B[:, None] > 0, states_BTH.amax(1), 0.0)

    def forward(self, batch: JudgedBatch) -> Tensor:
        """Logits [B, C] of [u; v; |u − v|; u ∗ v]."""
        if self.classifier is None:
            raise ValueError("classifier_width 0; expected a network with a head")
        u_BH, v_BH = self.encode(batch.source), self.encode(batch.target)
        logits_BC: Tensor = self.classifier(torch.cat([u_BH, v_BH, (u_BH - v_BH).abs(), u_BH * v_BH], -1))
        return logits_BC

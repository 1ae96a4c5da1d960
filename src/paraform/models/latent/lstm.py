"""The paper's encoder and decoder: one LSTM each (Hochreiter & Schmidhuber 1997; sizes of He et al. 2019).

Shape key: B sentences, T words, D features of a word, H of a state, Z latent.
"""

from __future__ import annotations

from typing import NamedTuple, final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from paraform.encoders import product_autocast
from paraform.models.latent.config import LatentConfig


@final
class LSTMEncoder(nn.Module):
    """The state after a sentence's last word."""

    def __init__(self, config: LatentConfig, vocabulary: int) -> None:
        super().__init__()
        self.dropout, self.state_dropout = config.dropout_of_encoder, config.dropout_of_state
        self.embedding = nn.Embedding(vocabulary, config.word_width)
        self.lstm = nn.LSTM(config.word_width, config.hidden_width, batch_first=True)

    def forward(self, words_BT: Tensor, lengths_B: Tensor) -> Tensor:
        """Words, zeros behind a sentence's last, and lengths ≥ 1 → states [B, H], float32."""
        inputs = F.dropout(self.embedding(words_BT), self.dropout, self.training)
        states_BTH, _ = _run(self.lstm, inputs, None)
        # What stands behind the last word comes after it in time, so it changes nothing here.
        last_BH = states_BTH[torch.arange(len(words_BT), device=words_BT.device), lengths_B.to(words_BT.device) - 1]
        return F.dropout(last_BH.to(self.embedding.weight.dtype), self.state_dropout, self.training)


@final
class LSTMMemory(NamedTuple):
    """What decoding remembers of each sentence; picks rows of itself (`decoding.DecoderState`)."""

    z_BZ: Tensor
    hidden_BH: Tensor
    cell_BH: Tensor

    def select(self, rows_N: Tensor) -> LSTMMemory:
        """The memory of the given rows."""
        return LSTMMemory(*(part[rows_N] for part in self))


@final
class LSTMDecoder(nn.Module):
    """Reads z with every word, and begins from it."""

    rows = 256  # sentences that are decoded together

    def __init__(self, config: LatentConfig, vocabulary: int) -> None:
        super().__init__()
        self.dropout = config.decoder_dropout
        self.embedding = nn.Embedding(vocabulary, config.word_width)
        self.cell_first = config.decoder_start == "cell"
        self.begin = nn.Linear(config.latent_width, config.hidden_width, bias=not self.cell_first)
        self.lstm = nn.LSTM(config.word_width + config.latent_width, config.hidden_width, batch_first=True)

    def forward(self, words_BT: Tensor, z_BZ: Tensor) -> Tensor:
        """The words so far, `<s>` first, and z → states [B, T, H] that the next words are scored with."""
        words_BTD = F.dropout(self.embedding(words_BT), self.dropout, self.training)
        states_BTH, _ = self._step(words_BTD, self.start(z_BZ))
        return F.dropout(states_BTH, self.dropout, self.training)

    def start(self, z_BZ: Tensor) -> LSTMMemory:
        """The memory before the first word."""
        begun_BH = self.begin(z_BZ)
        states = (begun_BH.tanh(), begun_BH) if self.cell_first else (begun_BH, torch.zeros_like(begun_BH))
        return LSTMMemory(z_BZ, *states)

    def step(self, memory: LSTMMemory, tokens_B: Tensor) -> tuple[Tensor, LSTMMemory]:
        """The state [B, H] after one more word, and the memory."""
        states_B1H, memory = self._step(self.embedding(tokens_B)[:, None], memory)
        return states_B1H[:, 0], memory

    def _step(self, words_BTD: Tensor, memory: LSTMMemory) -> tuple[Tensor, LSTMMemory]:
        z_BTZ = memory.z_BZ[:, None].expand(-1, words_BTD.shape[1], -1)
        before = (memory.hidden_BH[None], memory.cell_BH[None])
        states_BTH, last = _run(self.lstm, torch.cat([words_BTD, z_BTZ], -1), before)
        return states_BTH, LSTMMemory(memory.z_BZ, *(part[0].to(memory.z_BZ.dtype) for part in last))


def _run(lstm: nn.LSTM, inputs: Tensor, before: tuple[Tensor, Tensor] | None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """In the precision of the products around; under autocast oneDNN has one kernel for all steps of time."""
    with product_autocast(inputs.device):
        states, last = lstm(inputs, before)
    return states, last

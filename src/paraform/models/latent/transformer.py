"""A Transformer encoder and decoder in the LSTMs' place, behind the same interface (Vaswani et al. 2017).

Shape key: B sentences, T words, D features of a word, H of a state, Z latent.
"""

from __future__ import annotations

from typing import NamedTuple, final

import torch
from torch import Tensor, nn

from paraform.models.latent.config import LatentConfig
from paraform.models.latent.dropout import dropout


@final
class TransformerEncoder(nn.Module):
    """The mean of a sentence's states."""

    def __init__(self, config: LatentConfig, vocabulary: int) -> None:
        super().__init__()
        self.dropout = config.encoder_dropout
        self.embedding = nn.Embedding(vocabulary, config.word_width)
        self.body = _Body(config, config.word_width, config.encoder_dropout)

    def forward(self, words_BT: Tensor, lengths_B: Tensor) -> Tensor:
        """Words, zeros behind a sentence's last, and lengths ≥ 1 → states [B, H], float32."""
        beyond_BT = torch.arange(words_BT.shape[1], device=words_BT.device) >= lengths_B.to(words_BT.device)[:, None]
        states_BTH = self.body(self.embedding(words_BT), beyond=beyond_BT).to(self.embedding.weight.dtype)
        mean_BH = states_BTH.masked_fill(beyond_BT[:, :, None], 0).sum(1) / (~beyond_BT).sum(1, keepdim=True)
        return dropout(mean_BH, self.dropout, self.training)


@final
class TransformerMemory(NamedTuple):
    """The words so far, which each step reads again, and z."""

    z_BZ: Tensor
    said_BT: Tensor

    def select(self, rows_N: Tensor) -> TransformerMemory:
        """The memory of the given rows."""
        return TransformerMemory(self.z_BZ[rows_N], self.said_BT[rows_N])


@final
class TransformerDecoder(nn.Module):
    """Reads z with every word."""

    def __init__(self, config: LatentConfig, vocabulary: int) -> None:
        super().__init__()
        self.dropout = config.decoder_dropout
        self.embedding = nn.Embedding(vocabulary, config.word_width)
        self.body = _Body(config, config.word_width + config.latent_width, config.decoder_dropout)

    def forward(self, words_BT: Tensor, z_BZ: Tensor) -> Tensor:
        """The words so far, `<s>` first, and z → states [B, T, H] that the next words are scored with."""
        z_BTZ = z_BZ[:, None].expand(-1, words_BT.shape[1], -1)
        states_BTH: Tensor = self.body(torch.cat([self.embedding(words_BT), z_BTZ], -1), causal=True)
        return dropout(states_BTH, self.dropout, self.training)

    def start(self, z_BZ: Tensor) -> TransformerMemory:
        """The memory before the first word."""
        return TransformerMemory(z_BZ, torch.empty(len(z_BZ), 0, dtype=torch.long, device=z_BZ.device))

    def step(self, memory: TransformerMemory, tokens_B: Tensor) -> tuple[Tensor, TransformerMemory]:
        """The state [B, H] after one more word, and the memory."""
        said_BT = torch.cat([memory.said_BT, tokens_B[:, None]], 1)
        return self(said_BT, memory.z_BZ)[:, -1], TransformerMemory(memory.z_BZ, said_BT)


class _Body(nn.Module):
    """Sinusoid positions and `layers` layers, normalised before each part (as trains without a warm-up)."""

    def __init__(self, config: LatentConfig, inputs: int, dropout: float) -> None:
        super().__init__()
        width = config.hidden_width
        self.project = nn.Linear(inputs, width)
        self.layers = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(width, config.heads, 4 * width, dropout, batch_first=True, norm_first=True),
            config.layers,
            nn.LayerNorm(width),
            enable_nested_tensor=False,
        )

    def forward(self, inputs_BTD: Tensor, *, beyond: Tensor | None = None, causal: bool = False) -> Tensor:
        hidden_BTH = self.project(inputs_BTD)
        time, width = hidden_BTH.shape[1:]
        hidden_BTH = hidden_BTH + _positions(time, width, hidden_BTH.device)
        mask = nn.Transformer.generate_square_subsequent_mask(time, device=hidden_BTH.device) if causal else None
        out: Tensor = self.layers(hidden_BTH, mask=mask, src_key_padding_mask=beyond, is_causal=causal)
        return out


def _positions(time: int, width: int, device: torch.device) -> Tensor:
    """[T, H], Vaswani et al. 2017, section 3.5."""
    rates = torch.exp(torch.arange(0, width, 2, device=device) * (-torch.log(torch.tensor(10_000.0)) / width))
    angles = torch.arange(time, device=device)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :width]

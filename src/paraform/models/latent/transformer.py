"""A Transformer encoder and decoder in the LSTMs' place, behind the same interface (Vaswani et al. 2017).

Shape key: B sentences, T words, D features of a word, H of a state, Z latent; A heads, C = H / A features of each.
"""

from __future__ import annotations

from typing import NamedTuple, final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from paraform.models.latent.config import LatentConfig
from paraform.models.latent.views import dropout


@final
class TransformerEncoder(nn.Module):
    """The mean of a sentence's states."""

    def __init__(self, config: LatentConfig, vocabulary: int) -> None:
        super().__init__()
        self.state_dropout = config.dropout_of_state
        self.dropout = config.dropout_of_encoder if config.encoder_dropout_on == "embedding" else 0.0
        self.embedding = nn.Embedding(vocabulary, config.word_width)
        self.body = _Body(config, config.word_width, self.state_dropout)

    def forward(self, words_BT: Tensor, lengths_B: Tensor) -> Tensor:
        """Words, zeros behind a sentence's last, and lengths ≥ 1 → states [B, H], float32."""
        beyond_BT = torch.arange(words_BT.shape[1], device=words_BT.device) >= lengths_B.to(words_BT.device)[:, None]
        inputs_BTD = dropout(self.embedding(words_BT), self.dropout, self.training)
        states_BTH = self.body(inputs_BTD, beyond=beyond_BT).to(self.embedding.weight.dtype)
        mean_BH = states_BTH.masked_fill(beyond_BT[:, :, None], 0).sum(1) / (~beyond_BT).sum(1, keepdim=True)
        return dropout(mean_BH, self.state_dropout, self.training)


@final
class TransformerMemory(NamedTuple):
    """z, and what each layer's attention reads of the words so far: [B, 2, T, H], their keys and values."""

    z_BZ: Tensor
    layers: tuple[Tensor, ...]

    def select(self, rows_N: Tensor) -> TransformerMemory:
        """The memory of the given rows."""
        return TransformerMemory(self.z_BZ[rows_N], tuple(read_B2TH[rows_N] for read_B2TH in self.layers))


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
        width, layers = self.body.project.out_features, len(self.body.layers.layers)
        return TransformerMemory(z_BZ, layers * (z_BZ.new_empty(len(z_BZ), 2, 0, width),))

    def step(self, memory: TransformerMemory, tokens_B: Tensor) -> tuple[Tensor, TransformerMemory]:
        """The state [B, H] after one more word, and the memory; without dropout."""
        state_BH, layers = self.body.step(torch.cat([self.embedding(tokens_B), memory.z_BZ], -1), memory.layers)
        return state_BH, TransformerMemory(memory.z_BZ, layers)


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

    def step(self, inputs_BD: Tensor, before: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        """The last state of `forward`, causal, from what each layer has read; and that with this word's.

        nn.TransformerEncoderLayer remembers nothing between words, so that its parts are called here one by one.
        """
        time = before[0].shape[2]
        hidden_B1H = self.project(inputs_BD)[:, None]
        hidden_B1H = hidden_B1H + _positions(time + 1, hidden_B1H.shape[2], hidden_B1H.device)[time:]
        after: list[Tensor] = []
        for layer, read_B2TH in zip(self.layers.layers, before, strict=True):
            attention: nn.MultiheadAttention = layer.self_attn
            projected = F.linear(layer.norm1(hidden_B1H), attention.in_proj_weight, attention.in_proj_bias)
            query_B1H, key_B1H, value_B1H = projected.chunk(3, -1)
            after.append(torch.cat([read_B2TH, torch.stack([key_B1H, value_B1H], 1)], 2))
            query_BA1C, keys_BATC, values_BATC = (
                part.view(*part.shape[:2], attention.num_heads, -1).transpose(1, 2)
                for part in (query_B1H, *after[-1].unbind(1))
            )
            found_BA1C = F.scaled_dot_product_attention(query_BA1C, keys_BATC, values_BATC)
            hidden_B1H = hidden_B1H + attention.out_proj(found_BA1C.transpose(1, 2).flatten(2))
            hidden_B1H = hidden_B1H + layer.linear2(F.relu(layer.linear1(layer.norm2(hidden_B1H))))
        assert self.layers.norm is not None
        return self.layers.norm(hidden_B1H)[:, 0], tuple(after)


def _positions(time: int, width: int, device: torch.device) -> Tensor:
    """[T, H], Vaswani et al. 2017, section 3.5."""
    rates = torch.exp(torch.arange(0, width, 2, device=device) * (-torch.log(torch.tensor(10_000.0)) / width))
    angles = torch.arange(time, device=device)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :width]

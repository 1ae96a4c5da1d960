"""A Transformer in the GRU's place as CRL-EGPG's decoder, behind the same interface.

    h_t = Transformer(e(y_<t), [W [c; s]; content states; style states])

Its start is a pretrained encoder's (`decoder_start.py`); what it copies, it points at by its last states.

Shape key: B sentences, S words of the source, E tokens of the exemplar, M = 1 + S + E states that are read, T words of
the target, D features.
"""

from __future__ import annotations

from typing import NamedTuple, final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from paraform.batching import PAD
from paraform.models.decoder_layer import LayerMemory, begin_layer, run_layer
from paraform.models.exemplar.config import ExemplarConfig
from paraform.models.exemplar.encoded import Encoded
from paraform.models.layers import Pointer


@final
class TransformerMemory(NamedTuple):
    """What decoding remembers of each sentence; picks rows of itself (`decoding.DecoderState`)."""

    sentence_B: Tensor  # numbers of the sentences: rows of one number read the same
    there_BM: Tensor  # which states that are read are some
    content: Tensor  # [B, S, ·]
    content_mask: Tensor
    layers: tuple[LayerMemory, ...]
    source_BS: Tensor  # word numbers, those beyond the vocabulary too; in decoding columns of `StepDecoder.step`

    def select(self, rows_N: Tensor) -> TransformerMemory:
        """The memory of the given rows.

        A beam goes on from hypotheses of the same sentences at every step: then nothing that is read is copied.
        """
        sentence_N = self.sentence_B[rows_N]
        same = sentence_N.shape == self.sentence_B.shape and torch.equal(sentence_N, self.sentence_B)
        layers = tuple(layer.select(rows_N, same=same) for layer in self.layers)
        if same:
            return self._replace(layers=layers)
        return TransformerMemory(
            sentence_N,
            self.there_BM[rows_N],
            self.content[rows_N],
            self.content_mask[rows_N],
            layers,
            self.source_BS[rows_N],
        )


@final
class TransformerDecoder(nn.Module):
    """Layers that attend to what has been written and to both encoders, and the pointer and gate if words are copied.

    Args:
        config: sizes and choices.
        content, style: features of a content state and of a style state.
        vectors: features of [c; s].
    """

    def __init__(self, config: ExemplarConfig, content: int, style: int, vectors: int) -> None:
        super().__init__()
        width = config.decoder_width
        self.positions = nn.Embedding(config.most_units + 1, width)
        nn.init.normal_(self.positions.weight, std=width**-0.5)
        self.norm = nn.LayerNorm(width)
        self.read_vectors = nn.Linear(vectors, width)
        self.read_content = nn.Linear(content, width)
        self.read_style = nn.Linear(style, width)
        self.layers = nn.ModuleList(
            nn.TransformerDecoderLayer(
                width, config.decoder_heads, 4 * width, config.dropout, activation="gelu", batch_first=True
            )
            for _ in range(config.decoder_layers)
        )
        self.point = Pointer(width, content) if config.copy else None
        self.gate = nn.Linear(width, 1) if config.copy else None
        # What a source word's state adds to its own score and to the gate, where it follows the word just written.
        self.onward = nn.Linear(content, 2) if config.copy_onward else None
        if self.onward is not None:
            nn.init.zeros_(self.onward.weight)
            nn.init.zeros_(self.onward.bias)

    def start(self, content: Encoded, style: Encoded, source_BS: Tensor) -> TransformerMemory:
        """The memory before the first word."""
        vectors_B1D = self.read_vectors(torch.cat([content.vector, style.vector], -1))[:, None]
        read_BMD = torch.cat([vectors_B1D, self.read_content(content.states), self.read_style(style.states)], 1)
        first_B1 = torch.ones_like(content.mask[:, :1])
        layers = tuple(begin_layer(layer, read_BMD) for layer in self._layers())
        return TransformerMemory(
            torch.arange(len(source_BS), device=source_BS.device),
            torch.cat([first_B1, content.mask, style.mask], 1),
            content.states,
            content.mask,
            layers,
            source_BS,
        )

    def decode(
        self, memory: TransformerMemory, words_BTD: Tensor, previous_BT: Tensor
    ) -> tuple[Tensor, Tensor | None, Tensor | None, TransformerMemory]:
        """Any number of steps at once, given the words before each, as vectors and as numbers.

        Returns: as `ExemplarNetwork.decode`.
        """
        before = memory.layers[0].keys.shape[2]
        places_T = torch.arange(before, before + words_BTD.shape[1], device=words_BTD.device)
        # Of a training target of more pieces than are ever written, those behind stand at the last place.
        hidden_BTD = self.norm(words_BTD + self.positions(places_T.clamp_max(self.positions.num_embeddings - 1)))
        after: list[LayerMemory] = []
        for layer, of_layer in zip(self._layers(), memory.layers, strict=True):
            hidden_BTD, of_layer = run_layer(layer, hidden_BTD, of_layer, memory.there_BM)
            after.append(of_layer)
        gate_BT = copy_BTS = None
        if self.gate is not None and self.point is not None:
            gate_BT = self.gate(hidden_BTD).squeeze(-1)
            bias_BTS = None
            if self.onward is not None:
                before_BS = F.pad(memory.source_BS[:, :-1], (1, 0), value=PAD)
                follows_BTS = (previous_BT[:, :, None] == before_BS[:, None]) & memory.content_mask[:, None]
                to_score_BS, to_gate_BS = self.onward(memory.content).unbind(-1)
                bias_BTS = follows_BTS * to_score_BS[:, None]
                gate_BT = gate_BT + (follows_BTS * to_gate_BS[:, None]).sum(-1)
            copy_BTS = self.point(hidden_BTD, memory.content, memory.content_mask, bias_BTS)
        return hidden_BTD, gate_BT, copy_BTS, memory._replace(layers=tuple(after))

    def _layers(self) -> list[nn.TransformerDecoderLayer]:
        return [layer for layer in self.layers if isinstance(layer, nn.TransformerDecoderLayer)]

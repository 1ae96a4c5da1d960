"""CRL-EGPG: say a source sentence in the form of an exemplar (Yang et al. 2021), as tensors.

    c = E_c(X), s = E_s(Z) (eqs. 1, 2);  h_0 = [c; s]
    h_t = GRU(h_{t−1}, e(y_{t−1})), p_t = softmax(W h_t) (eqs. 3, 4)
    L = Σ_i L_nll + λ1 L_ccl + λ2 L_scl (eq. 12)

Text goes in and comes out in `paraphraser.py`.

Shape key: B sentences, S words of the source, E tokens of the exemplar, T words of the target, N target words end to
end, V words of the vocabulary, D features of a word, C content, F style, H decoder.
"""

from __future__ import annotations

import copy
from typing import NamedTuple, final

import torch
from torch import Tensor, nn

from paraform.batching import BOS, EOS, PAD, UNK
from paraform.models.copying import forced, gold_log_probs
from paraform.models.exemplar.batches import StyleInput, TripleBatch
from paraform.models.exemplar.config import ExemplarConfig
from paraform.models.layers import Attention, BiGRU, Pointer, run_gru
from paraform.weights import shapes_only

MOST_COVERED = 3  # from here on coverage does not count


class Encoded(NamedTuple):
    """A sentence as states [B, T, ·], which of them are words [B, T], and one vector [B, ·]."""

    states: Tensor
    mask: Tensor
    vector: Tensor


class Outputs(NamedTuple):
    """What the losses need of a batch: log-probabilities [N] of gold words, lengths [B], the four vectors [B, ·]."""

    log_probs_N: Tensor
    lengths_B: Tensor
    source_content: Tensor
    target_content: Tensor | None
    exemplar_style: Tensor
    target_style: Tensor | None


@final
class Memory(NamedTuple):
    """What decoding remembers of each sentence; picks rows of itself (`decoding.DecoderState`)."""

    hidden: Tensor  # [layers, B, H]
    content: Tensor  # [B, S, ·]
    content_mask: Tensor
    style: Tensor  # [B, E, ·]
    style_mask: Tensor
    source_BS: Tensor  # word numbers, those beyond the vocabulary too; in decoding columns of `StepDecoder.step`
    coverage_BS: Tensor  # how often each of them has been generated

    def select(self, rows_N: Tensor) -> Memory:
        """The memory of the given rows."""
        return Memory(self.hidden[:, rows_N], *(part[rows_N] for part in self[1:]))


class ExemplarNetwork(nn.Module):
    """The two encoders and the decoder.

    Args:
        config: sizes and choices.
        vocabulary: V, its number of words.
        style_features: the width of one state of the style encoder.
        style_module: the style encoder to fine-tune; None: it is frozen and its states come in batches.
    """

    def __init__(
        self, config: ExemplarConfig, vocabulary: int, style_features: int, style_module: nn.Module | None = None
    ) -> None:
        super().__init__()
        self.config = config
        self.vocabulary = vocabulary
        self.style_features = style_features
        width = config.word_width
        content, style = 2 * config.content_width, style_features
        if config.style_pooling != "cls":
            style = 2 * config.style_width
        content_state = style_features if config.content_input == "states" else content
        style_state = style if config.style_pooling == "gru" else style_features
        self.embedding = nn.Embedding(vocabulary, width, padding_idx=PAD)
        self.dropout = nn.Dropout(config.dropout)
        self.content_encoder: BiGRU | None = None
        self.content_map: nn.Linear | None = None
        if config.content_input == "states":
            self.content_map = nn.Linear(style_features, content)
        else:
            read = width + (style_features if config.content_input == "both" else 0)
            self.content_encoder = BiGRU(read, config.content_width)
        self.style_module = style_module
        self.style_encoder: BiGRU | None = None
        if config.style_pooling == "gru":
            self.style_encoder = BiGRU(style_features, config.style_width)
        self.style_map = nn.Linear(style_features, style) if config.style_pooling == "mean" else None
        features = self._make_decoder(content + style, content_state, style_state)
        self.output = nn.Linear(features, vocabulary)
        if config.tie_embeddings:
            nn.init.normal_(self.embedding.weight, std=width**-0.5)
            self.output.weight = self.embedding.weight

    def _make_decoder(self, vectors: int, content: int, style: int) -> int:
        """The paper's decoder, and what is beyond it; returns the features that the output layer reads.

        Args:
            vectors: features of [c; s].
            content, style: features of a content state and of a style state.
        """
        config, width = self.config, self.config.word_width
        hidden = config.decoder_width if config.initial_state == "linear" else vectors
        self.initial = nn.Linear(vectors, hidden) if config.initial_state == "linear" else None
        self.decoder = nn.GRU(width, hidden, batch_first=True)
        contexts = (content if config.attention else 0) + (style if config.style_attention else 0)
        contexts += content if config.coverage else 0
        self.attend_content = Attention(hidden, content) if config.attention else None
        self.attend_style = Attention(hidden, style) if config.style_attention else None
        self.second = nn.GRU(hidden + contexts, hidden, batch_first=True) if config.decoder_layers == 2 else None
        self.point = Pointer(hidden, content) if config.copy else None
        self.gate = nn.Linear(hidden + contexts + width, 1) if config.copy else None
        # What a word generated 0, 1, 2, 3 or more times adds to the scores of attention and of the pointer.
        self.repeated = nn.Parameter(torch.zeros(2, MOST_COVERED + 1)) if config.coverage else None
        self.combine = nn.Linear(hidden + contexts, width if config.tie_embeddings else hidden)
        return self.combine.out_features

    def embed(self, words_BT: Tensor) -> Tensor:
        """Word vectors [B, T, D]; a word beyond the vocabulary is `UNK`."""
        out: Tensor = self.dropout(self.embedding(words_BT.where(words_BT < self.vocabulary, UNK)))
        return out

    def encode_content(self, words_BS: Tensor, lengths_B: Tensor, states_BSF: Tensor | None = None) -> Encoded:
        """E_c: the vector is [B, C].

        Args:
            states_BSF: the frozen encoder's of each word, if `config.content_input` reads them.
        """
        if (states_BSF is None) != (self.config.content_input == "words"):
            came = "no states_BSF" if states_BSF is None else "states_BSF"
            raise ValueError(f"{came} with content_input={self.config.content_input!r}; expected what that reads")
        mask_BS = self._mask(words_BS, lengths_B)
        if self.content_map is not None and states_BSF is not None:
            return Encoded(states_BSF, mask_BS, self.content_map(_mean(states_BSF, mask_BS)))
        read_BSD = self.embed(words_BS)
        if states_BSF is not None:
            read_BSD = torch.cat([read_BSD, self.dropout(states_BSF)], -1)
        assert self.content_encoder is not None  # without it there is the map
        states, vector = self.content_encoder(read_BSD, lengths_B)
        return Encoded(states, mask_BS, vector)

    def encode_style(self, style: StyleInput) -> Encoded:
        """E_s: the vector is [B, F]."""
        mask_BE = self._mask(style.values[:, :, 0] if style.values.ndim == 3 else style.values, style.lengths_B)
        states_BEF = style.values
        if self.style_module is not None:
            layer = self.config.style_layer
            out = self.style_module(
                input_ids=style.values, attention_mask=mask_BE.long(), output_hidden_states=layer != -1
            )
            states_BEF = out.last_hidden_state if layer == -1 else out.hidden_states[layer]
        if self.style_map is not None:
            return Encoded(states_BEF, mask_BE, self.style_map(_mean(states_BEF, mask_BE)))
        if self.style_encoder is None:
            return Encoded(states_BEF, mask_BE, states_BEF[:, 0])
        states_BEF, vector_BF = self.style_encoder(self.dropout(states_BEF), style.lengths_B)
        return Encoded(states_BEF, mask_BE, vector_BF)

    def _mask(self, padded_BT: Tensor, lengths_B: Tensor) -> Tensor:
        if not self.config.mask_padding:
            return torch.ones(padded_BT.shape, dtype=torch.bool, device=padded_BT.device)
        return torch.arange(padded_BT.shape[1], device=padded_BT.device) < lengths_B.to(padded_BT.device)[:, None]

    def start(self, content: Encoded, style: Encoded, source_BS: Tensor) -> Memory:
        """The decoder's memory before the first word."""
        first_BH = torch.cat([content.vector, style.vector], -1)
        if self.initial is not None:
            first_BH = torch.tanh(self.initial(first_BH))
        hidden = first_BH.expand(self.config.decoder_layers, -1, -1).contiguous()
        coverage_BS = torch.zeros_like(source_BS)
        return Memory(hidden, content.states, content.mask, style.states, style.mask, source_BS, coverage_BS)

    def decode(self, memory: Memory, previous_BT: Tensor) -> tuple[Tensor, Tensor | None, Tensor | None, Memory]:
        """Any number of steps at once, given the words before each.

        Returns: features [B, T, ·] before the output layer; if words can be copied, the gate's logits [B, T] and the
            log-weights [B, T, S] over the source's words; and the memory after the last step.
        """
        words_BTD = self.embed(previous_BT)
        hidden_BTH, last = run_gru(self.decoder, words_BTD, memory.hidden[:1])
        contexts: list[Tensor] = []
        attend_bias_BTS = point_bias_BTS = None
        if self.repeated is not None:
            coverage_BTS = memory.coverage_BS[:, None] + (
                previous_BT[:, :, None] == memory.source_BS[:, None, :]
            ).cumsum(1)
            memory = memory._replace(coverage_BS=coverage_BTS[:, -1])
            attend_bias_BTS, point_bias_BTS = self.repeated[:, coverage_BTS.clamp_max(MOST_COVERED)]
            # The mean of what has not been generated yet; zero once all has.
            uncovered_BTS = ((coverage_BTS == 0) & memory.content_mask[:, None]).to(memory.content.dtype)
            contexts.append((uncovered_BTS / uncovered_BTS.sum(-1, keepdim=True).clamp_min(1)) @ memory.content)
        if self.attend_content is not None:
            contexts.append(self.attend_content(hidden_BTH, memory.content, memory.content_mask, attend_bias_BTS))
        if self.attend_style is not None:
            contexts.append(self.attend_style(hidden_BTH, memory.style, memory.style_mask))
        if self.second is not None:
            read = torch.cat([hidden_BTH, *contexts], -1)
            second_BTH, last_second = run_gru(self.second, read, memory.hidden[1:])
            last = torch.cat([last, last_second])
            hidden_BTH = hidden_BTH + second_BTH
        read = torch.cat([hidden_BTH, *contexts], -1)
        gate_BT = copy_BTS = None
        if self.gate is not None and self.point is not None:
            gate_BT = self.gate(torch.cat([read, words_BTD], -1)).squeeze(-1)
            copy_BTS = self.point(hidden_BTH, memory.content, memory.content_mask, point_bias_BTS)
        features = self.dropout(torch.tanh(self.combine(read)))
        return features, gate_BT, copy_BTS, memory._replace(hidden=last)

    def forward(self, batch: TripleBatch) -> Outputs:
        """The gold words' log-probabilities under teacher forcing, and the vectors that the contrasts need."""
        content = self.encode_content(batch.source_BT, batch.source_lengths_B, batch.source_states)
        style = self.encode_style(batch.exemplar)
        target = forced(batch.target_BT, batch.target_lengths_B, start=BOS, stop=EOS)
        memory = self.start(content, style, batch.source_BT)
        features, gate_BT, copy_BTS, _ = self.decode(memory, target.previous_BT)
        logits_NV = self.output(features[target.there_BT])
        log_probs_N = gold_log_probs(logits_NV, gate_BT, copy_BTS, batch.source_BT, target)
        contrast_content, contrast_style = self.config.content_weight > 0, self.config.style_weight > 0
        return Outputs(
            log_probs_N,
            target.lengths_B,
            content.vector,
            self.encode_content(batch.target_BT, batch.target_lengths_B, batch.target_states).vector
            if contrast_content
            else None,
            style.vector,
            self.encode_style(batch.target_style).vector if contrast_style else None,
        )

    def cast(self, dtype: torch.dtype) -> ExemplarNetwork:
        """A copy in another dtype, for decoding."""
        with shapes_only():  # no memory, and no random numbers, for weights that are overwritten
            out = ExemplarNetwork(self.config, self.vocabulary, self.style_features)
        if self.style_module is not None:
            shared = {id(parameter): parameter for parameter in self.style_module.parameters()}
            out.style_module = copy.deepcopy(self.style_module, shared)
        kept = {
            name: value.to(dtype) if value.is_floating_point() else value for name, value in self.state_dict().items()
        }
        out.load_state_dict(kept, assign=True)
        if self.config.tie_embeddings:
            out.output.weight = out.embedding.weight
        return out.eval()


def _mean(states_BTD: Tensor, mask_BT: Tensor) -> Tensor:
    """The mean of each row's states that are some: [B, D]."""
    weight_BT = mask_BT.to(states_BTD.dtype) / mask_BT.sum(1, keepdim=True)
    return torch.einsum("bt,btd->bd", weight_BT, states_BTD)

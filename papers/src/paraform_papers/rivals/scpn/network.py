"""SCPN as tensors: a paraphraser guided by a parse, and a parse generator guided by a template (Iyyer et al. 2018).

Both are one network, `Guided`, that writes a sequence from a source and a form:

    F = W_f LSTM(form);  U = W_u LSTM(source)
    h_t = LSTM([e(y_{t−1}); a_t]), a_t = F read by h_{t−1};  h_0 = the last state of U, in every layer, c_0 = 0
    u_t = U read by h_t;  p_write = softmax(W (V [h_t; u_t])), p_copy = what U was read by
    p_t = (1 − g) p_write + g p_copy, g = σ(v · [e(y_{t−1}); a_t; u_t; h_t])

Text goes in and comes out in `paraphraser.py`.

Shape key: B sentences, S units of the source, F symbols of the form, T units that are written, N of all sentences end
to end, D features, L layers.
"""

from __future__ import annotations

from typing import NamedTuple, final

import torch
from torch import Tensor, nn

from paraform.batching import BOS, EOS, PAD, UNK, SentenceBatch
from paraform.models.copying import forced, gold_log_probs
from paraform.models.layers import Attention, Pointer, run_lstm
from paraform_papers.rivals.scpn.batches import PairBatch
from paraform_papers.rivals.scpn.config import ScpnConfig

PARSE_WIDTH = 128  # features of the paraphraser's LSTM over a parse


class Sizes(NamedTuple):
    """Of a `Guided`: how many units are written, and symbols read; features; the numbers that writing starts and ends
    with."""

    units: int
    symbols: int
    unit_width: int
    symbol_width: int
    form_width: int
    encoder_width: int
    decoder_width: int
    layers: int
    both_ways: bool
    reads_source_form: bool
    start: int
    stop: int


class Written(NamedTuple):
    """Log-probabilities [N] of gold units, nats, and how many each target has [B]."""

    log_probs_N: Tensor
    lengths_B: Tensor


@final
class Memory(NamedTuple):
    """What decoding remembers of each sentence; picks rows of itself (`decoding.DecoderState`)."""

    hidden_LBD: Tensor
    cell_LBD: Tensor
    source_BSD: Tensor
    source_there_BS: Tensor
    form_BFD: Tensor
    form_there_BF: Tensor
    source_BS: Tensor  # numbers of units; in decoding columns of a step's scores

    def select(self, rows_N: Tensor) -> Memory:
        """The memory of the given rows."""
        return Memory(self.hidden_LBD[:, rows_N], self.cell_LBD[:, rows_N], *(part[rows_N] for part in self[2:]))


class Guided(nn.Module):
    """Writes units from a source of such units, guided by a form."""

    def __init__(self, sizes: Sizes, *, dropout: float) -> None:
        super().__init__()
        self.sizes = sizes
        width = sizes.decoder_width
        self.dropout = nn.Dropout(dropout)
        self.embedding = nn.Embedding(sizes.units, sizes.unit_width, padding_idx=PAD)
        self.symbol_embedding = nn.Embedding(sizes.symbols, sizes.symbol_width, padding_idx=PAD)
        self.form_encoder = nn.LSTM(sizes.symbol_width, sizes.form_width, batch_first=True)
        self.form_map = nn.Linear(sizes.form_width, width)
        read = sizes.unit_width + (sizes.form_width if sizes.reads_source_form else 0)
        self.encoder = nn.LSTM(read, sizes.encoder_width, batch_first=True, bidirectional=sizes.both_ways)
        self.source_map = nn.Linear(sizes.encoder_width * (2 if sizes.both_ways else 1), width)
        self.attend_form = Attention(width, width)
        inputs = [sizes.unit_width + width, *[width] * (sizes.layers - 1)]
        self.cells = nn.ModuleList([nn.LSTMCell(features, width) for features in inputs])
        self.point = Pointer(width, width)
        self.gate = nn.Linear(sizes.unit_width + 3 * width, 1)
        self.combine = nn.Linear(2 * width, width)
        self.output = nn.Linear(width, sizes.units)

    def embed(self, units_BT: Tensor) -> Tensor:
        """Vectors [B, T, D]; a unit beyond those known is `UNK`."""
        out: Tensor = self.dropout(self.embedding(units_BT.where(units_BT < self.sizes.units, UNK)))
        return out

    def start(self, source: SentenceBatch, form: SentenceBatch, source_form: SentenceBatch | None = None) -> Memory:
        """The memory before the first unit.

        Args:
            source_form: the source's own parse, if the network reads one.
        """
        if (source_form is None) == self.sizes.reads_source_form:
            raise ValueError(f"reads_source_form={self.sizes.reads_source_form}; expected what that reads")
        read_BSD = self.embed(source.words_BT)
        if source_form is not None:
            _, last_BD = self._read_form(source_form)
            read_BSD = torch.cat([read_BSD, last_BD[:, None].expand(-1, read_BSD.shape[1], -1)], -1)
        states_BSD, last_BD = run_lstm(self.encoder, read_BSD, source.lengths_B)
        first_LBD = self.source_map(last_BD).expand(self.sizes.layers, -1, -1).contiguous()
        form_BFD, _ = self._read_form(form)
        return Memory(
            first_LBD,
            torch.zeros_like(first_LBD),
            self.source_map(states_BSD),
            source.there(),
            self.form_map(form_BFD),
            form.there(),
            source.words_BT,
        )

    def _read_form(self, form: SentenceBatch) -> tuple[Tensor, Tensor]:
        return run_lstm(self.form_encoder, self.dropout(self.symbol_embedding(form.words_BT)), form.lengths_B)

    def decode(self, memory: Memory, previous_BT: Tensor) -> tuple[Tensor, Tensor, Tensor, Memory]:
        """Any number of steps, given the units before each.

        Returns: features [B, T, D] before the output layer; logits [B, T] of copying; log-weights [B, T, S] over the
            source's units; and the memory after the last step.
        """
        units_BTD = self.embed(previous_BT)
        hidden, cell = list(memory.hidden_LBD.unbind()), list(memory.cell_LBD.unbind())
        read, written = [], []
        for unit_BD in units_BTD.unbind(1):
            form_B1D = self.attend_form(hidden[-1].unsqueeze(1), memory.form_BFD, memory.form_there_BF)
            state_BD = torch.cat([unit_BD, form_B1D.squeeze(1)], -1)
            read.append(state_BD)
            for layer, step in enumerate(self.cells):
                hidden[layer], cell[layer] = step(state_BD, (hidden[layer], cell[layer]))
                state_BD = hidden[layer]
            written.append(state_BD)
        hidden_BTD, read_BTD = torch.stack(written, 1), torch.stack(read, 1)
        copy_BTS = self.point(hidden_BTD, memory.source_BSD, memory.source_there_BS)
        context_BTD = copy_BTS.exp() @ memory.source_BSD
        gate_BT = self.gate(torch.cat([read_BTD, context_BTD, hidden_BTD], -1)).squeeze(-1)
        features_BTD = self.dropout(self.combine(torch.cat([hidden_BTD, context_BTD], -1)))
        last = memory._replace(hidden_LBD=torch.stack(hidden), cell_LBD=torch.stack(cell))
        return features_BTD, gate_BT, copy_BTS, last

    def forward(
        self,
        source: SentenceBatch,
        form: SentenceBatch,
        target: SentenceBatch,
        source_form: SentenceBatch | None = None,
    ) -> Written:
        """The gold units' log-probabilities under teacher forcing."""
        wanted = forced(target.words_BT, target.lengths_B, start=self.sizes.start, stop=self.sizes.stop)
        memory = self.start(source, form, source_form)
        features_BTD, gate_BT, copy_BTS, _ = self.decode(memory, wanted.previous_BT)
        logits_NV = self.output(features_BTD[wanted.there_BT])
        log_probs_N = gold_log_probs(logits_NV, gate_BT, copy_BTS, source.words_BT, wanted)
        return Written(log_probs_N, wanted.lengths_B)


@final
class ScpnNetwork(nn.Module):
    """The paraphraser and the parse generator; they share no weight.

    Args:
        config: sizes and choices.
        vocabulary: units that are known.
        symbols: of parses, without the end's, which is the next number.
    """

    def __init__(self, config: ScpnConfig, vocabulary: int, symbols: int) -> None:
        super().__init__()
        width, labels = config.generator_width, symbols + 1
        paraphraser = Sizes(
            units=vocabulary,
            symbols=labels,
            unit_width=config.word_width,
            symbol_width=config.label_width,
            form_width=PARSE_WIDTH,
            encoder_width=config.encoder_width,
            decoder_width=config.decoder_width,
            layers=config.decoder_layers,
            both_ways=True,
            reads_source_form=True,
            start=BOS,
            stop=EOS,
        )
        generator = Sizes(
            units=labels,
            symbols=labels,
            unit_width=config.generator_label_width,
            symbol_width=config.generator_label_width,
            form_width=width,
            encoder_width=width,
            decoder_width=width,
            layers=1,
            both_ways=False,
            reads_source_form=False,
            start=symbols,
            stop=symbols,
        )
        self.paraphraser = Guided(paraphraser, dropout=config.dropout)
        self.generator = Guided(generator, dropout=config.dropout)

    def forward(self, batch: PairBatch) -> tuple[Written, Written]:
        """What the paraphraser says of the targets, and the generator of their parses."""
        return (
            self.paraphraser(batch.source, batch.target_parse, batch.target, batch.source_parse),
            self.generator(batch.source_parse, batch.template, batch.target_parse),
        )

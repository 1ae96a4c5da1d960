"""SGCP as tensors: a pointer-generator that is guided by a queue of leaves (Kumar et al. 2020).

    x = GRU(e(source)), all layers;  h_v = GELU(W [h_parent; e(v)] + b), the leaves of the cut tree l_1 … l_n in a queue
    d_t = GRU([l_i; e(y_{t−1})]), every layer's first state = max over time of x
    c_t = x read by d_t, by additive attention;  p_copy = what x was read by
    p_write = softmax(W (V [d_t; c_t]));  p_t = g p_write + (1 − g) p_copy, g = σ(v · [d_t; c_t; e(y_{t−1})])
    i becomes i + 1 behind y_t if u · [d_t; c_t; e(y_t)] > 0, until i = n, which is the end's leaf

Text goes in and comes out in `paraphraser.py`.

Shape key: B sentences, S units of the source, T units that are written, Q leaves of the longest queue, M nodes of all
trees, N of all sentences end to end, E features of an embedding, D of a state, L layers.
"""

from __future__ import annotations

from typing import NamedTuple, final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from paraform.batching import BOS, EOS, PAD, UNK, SentenceBatch
from paraform.models.copying import Scorer, forced, gold_log_probs, source_columns
from paraform.models.layers import run_gru
from paraform_papers.rivals.sgcp.batches import PairBatch
from paraform_papers.rivals.sgcp.config import SgcpConfig
from paraform_papers.rivals.sgcp.forms import Forms
from paraform_papers.rivals.sgcp.tree_encoder import TreeEncoder

NEVER = (PAD, UNK, BOS)


class Written(NamedTuple):
    """Log-probabilities, nats, of the units [N], and of popping or not behind each but the last of a sentence."""

    log_probs_N: Tensor
    pop_log_probs: Tensor


@final
class Memory(NamedTuple):
    """What decoding remembers of each sentence; picks rows of itself (`decoding.DecoderState`).

    Args:
        read_BD: [d_t; c_t] of the last unit.
        at_B: the leaf that was read at it.
        last_B: the end's leaf.
        source_BS: numbers of units; in decoding columns of a step's scores.
    """

    hidden_LBD: Tensor
    read_BD: Tensor
    source_BSD: Tensor
    keys_BSD: Tensor
    there_BS: Tensor
    queue_BQD: Tensor
    at_B: Tensor
    last_B: Tensor
    source_BS: Tensor

    def select(self, rows_N: Tensor) -> Memory:
        """The memory of the given rows."""
        return Memory(self.hidden_LBD[:, rows_N], *(part[rows_N] for part in self[1:]))


class Read(NamedTuple):
    """Of each step [d_t; c_t], the logit of copying, log-weights over the source's units; the layers' last states."""

    read_BTD: Tensor
    gate_BT: Tensor
    copy_BTS: Tensor
    hidden_LBD: Tensor


@final
class AdditivePointer(nn.Module):
    """Additive attention (Bahdanau et al. 2015) as log-weights [B, T, S]; −inf where masked: v · tanh(K + W q)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.of_key = nn.Linear(width, width)
        self.of_query = nn.Linear(width, width, bias=False)
        self.score = nn.Linear(width, 1, bias=False)

    def forward(self, query_BTD: Tensor, keys_BSD: Tensor, there_BS: Tensor) -> Tensor:
        both_BTSD = torch.tanh(keys_BSD[:, None] + self.of_query(query_BTD)[:, :, None])
        scores_BTS = self.score(both_BTSD).squeeze(-1)
        return torch.log_softmax(scores_BTS.masked_fill(~there_BS[:, None], float("-inf")), -1)


@final
class SgcpNetwork(nn.Module):
    """Writes units from a source of such units, guided by the leaves of a cut tree.

    Args:
        config: sizes and choices.
        vocabulary: units that are known.
        symbols: labels that are known; label s of a form has the number vocabulary + s.
    """

    def __init__(self, config: SgcpConfig, vocabulary: int, symbols: int) -> None:
        super().__init__()
        inputs, width = config.word_width, config.width
        self.config, self.vocabulary = config, vocabulary
        self.dropout = nn.Dropout(config.dropout)
        self.embedding = nn.Embedding(vocabulary + symbols, inputs, padding_idx=PAD)
        below = [width] * (config.layers - 1)
        self.encoder = nn.ModuleList([nn.GRU(size, width, batch_first=True) for size in (inputs, *below)])
        self.tree = TreeEncoder(inputs, width)
        self.decoder = nn.ModuleList([nn.GRU(size, width, batch_first=True) for size in (width + inputs, *below)])
        self.point = AdditivePointer(width)
        self.gate = nn.Linear(2 * width + inputs, 1)
        self.pop = nn.Linear(2 * width + inputs, 1)
        self.combine = nn.Linear(2 * width, width)
        self.output = nn.Linear(width, vocabulary)

    def parts(self) -> tuple[list[nn.Parameter], list[nn.Parameter], list[nn.Parameter]]:
        """The weights of encoder, tree and decoder; the embedding is the encoder's."""
        encoder, tree = [*self.embedding.parameters(), *self.encoder.parameters()], list(self.tree.parameters())
        known = {id(weight) for weight in (*encoder, *tree)}
        return encoder, tree, [weight for weight in self.parameters() if id(weight) not in known]

    def embed(self, units: Tensor) -> Tensor:
        """Vectors of units; one beyond those known is `UNK`."""
        out: Tensor = self.dropout(self.embedding(units.where(units < self.vocabulary, UNK)))
        return out

    def start(self, source: SentenceBatch, forms: Forms) -> Memory:
        """The memory before the first unit."""
        states_BSD, _ = self._run(self.encoder, self.embed(source.words_BT), None)
        there_BS = source.there()
        most_BD = states_BSD.masked_fill(~there_BS[:, :, None], float("-inf")).amax(1)
        queue_BQD = self.tree(self.dropout(self.embedding(forms.labels_M)), forms)
        return Memory(
            most_BD.expand(self.config.layers, -1, -1).contiguous(),
            most_BD.new_zeros(len(most_BD), 2 * most_BD.shape[1]),
            states_BSD,
            self.point.of_key(states_BSD),
            there_BS,
            queue_BQD,
            torch.zeros_like(forms.lengths_B),
            forms.lengths_B - 1,
            source.words_BT,
        )

    def decode(self, memory: Memory, leaves_BTD: Tensor, units_BTE: Tensor) -> Read:
        """Any number of steps, given the leaf at each and the unit before it."""
        state_BTD, hidden_LBD = self._run(self.decoder, torch.cat([leaves_BTD, units_BTE], -1), memory.hidden_LBD)
        copy_BTS = self.point(state_BTD, memory.keys_BSD, memory.there_BS)
        read_BTD = torch.cat([state_BTD, copy_BTS.exp() @ memory.source_BSD], -1)
        writing_BT = self.gate(torch.cat([read_BTD, units_BTE], -1)).squeeze(-1)
        return Read(read_BTD, -writing_BT, copy_BTS, hidden_LBD)

    def pops(self, read_BTD: Tensor, units_BTE: Tensor) -> Tensor:
        """Logits [B, T] of popping a leaf behind each unit, given those units."""
        logits_BT: Tensor = self.pop(torch.cat([read_BTD, units_BTE], -1)).squeeze(-1)
        return logits_BT

    def features(self, read: Tensor) -> Tensor:
        """What the output layer takes."""
        out: Tensor = self.dropout(self.combine(read))
        return out

    def forward(self, batch: PairBatch) -> Written:
        """What it says of the targets, each in the form of its own tree, cut."""
        target, leaf_BT = batch.target, batch.leaf_BT
        wanted = forced(target.words_BT, target.lengths_B, start=BOS, stop=EOS)
        memory = self.start(batch.source, batch.forms)
        leaves_BTD = memory.queue_BQD.take_along_dim(leaf_BT[:, :, None], 1)
        previous_BT = wanted.previous_BT if batch.forced else self._own(memory, leaves_BTD)
        units_BTE = self.embed(previous_BT)
        read = self.decode(memory, leaves_BTD, units_BTE)
        logits_NV = self.output(self.features(read.read_BTD[wanted.there_BT]))
        log_probs_N = gold_log_probs(logits_NV, read.gate_BT, read.copy_BTS, batch.source.words_BT, wanted)
        # The unit that is read at a step is the one behind which it was decided which leaf the step reads.
        logits_BT = self.pops(read.read_BTD[:, :-1], units_BTE[:, 1:])
        popped_BT = leaf_BT[:, 1:] > leaf_BT[:, :-1]
        pop_log_probs_BT = F.logsigmoid(logits_BT.where(popped_BT, -logits_BT))
        return Written(log_probs_N, pop_log_probs_BT[wanted.there_BT[:, 1:]])

    @torch.no_grad()
    def _own(self, memory: Memory, leaves_BTD: Tensor) -> Tensor:
        """The units before each step that the network itself thinks likeliest, the targets' leaves given."""
        columns_BS = source_columns(memory.source_BS, self.vocabulary)
        score = Scorer(self.output, columns_BS.shape[1], NEVER)
        tokens_B = columns_BS.new_full((len(columns_BS),), BOS)
        before = []
        for leaf_BD in leaves_BTD.unbind(1):
            before.append(tokens_B)
            read = self.decode(memory, leaf_BD[:, None], self.embed(tokens_B[:, None]))
            memory = memory._replace(hidden_LBD=read.hidden_LBD)
            features_BD = self.features(read.read_BTD[:, 0])
            tokens_B = score(features_BD, read.gate_BT[:, 0], read.copy_BTS[:, 0], columns_BS).argmax(-1)
        return torch.stack(before, 1)

    def _run(self, layers: nn.ModuleList, inputs_BTD: Tensor, first_LBD: Tensor | None) -> tuple[Tensor, Tensor]:
        """States of the last layer, and the last state of each."""
        last = []
        for number, layer in enumerate(layers):
            inputs_BTD = self.dropout(inputs_BTD) if number else inputs_BTD
            first = None if first_LBD is None else first_LBD[number : number + 1].contiguous()
            assert isinstance(layer, nn.GRU)
            inputs_BTD, last_1BD = run_gru(layer, inputs_BTD, first)
            last.append(last_1BD)
        return inputs_BTD, torch.cat(last)

"""ParaBART's parts: semantic encoder, syntactic encoder and one decoder layer; and its adversary.

Shape key: B sentences, T word pieces, S symbols of a tree, M = 1 + S states that the decoder reads, D features, V
pieces that can be written, C parts of a bag; N pieces of all targets end to end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from paraform.encoders import width_of
from paraform.losses.vocabulary import vocabulary_nll
from paraform.models.adapters import Adapters, Holder, maps_of
from paraform.models.disentangled.config import DisentangledConfig
from paraform.models.disentangled.pairs import PairBatch, Sentences, Trees
from paraform.models.unpadded_bert import can_run, unpadded_states

INITIAL = 0.02  # deviation of embeddings at the start, as BERT and BART have it
SYNTAX_LAYERS = 1  # of the syntactic encoder (paper)
DROPOUT = 0.1  # of what is not the encoder's own, as in BART
ALIKE = 64  # pieces to write are filled up to a multiple of it


class Written(NamedTuple):
    """−ln p of all pieces of a batch's targets, summed, in nats, and how many there are."""

    nll: Tensor
    pieces: Tensor


class Outputs(NamedTuple):
    """Of a batch: each direction's targets (none without generation), and the vectors that some loss reads."""

    written: tuple[Written, ...]
    source_BD: Tensor
    target_BD: Tensor | None
    negatives_ND: Tensor | None


@final
class DisentangledNetwork(Holder):
    """All parts but the adversary.

    Args:
        config: sizes and choices.
        module: the semantic encoder, a transformers module; with adapters it is changed, and none of its own weights is
            among the network's.
        written: [V] numbers of the pieces that can be written, ascending; the first stands for all others.
        symbols: labels and brackets of trees.
    """

    def __init__(self, config: DisentangledConfig, module: nn.Module, written: Tensor, symbols: int) -> None:
        super().__init__()
        self.config = config
        self.adapters = Adapters(maps_of(module, 0), config.adapters) if config.adapters else None
        self.semantic: nn.Module
        if self.adapters is None:
            self.semantic = module
        else:
            self.adapters.inject(module)
            self.hold("semantic", module)
        width = width_of(module)
        layer: dict[str, Any] = {
            "d_model": width,
            "nhead": _first(module, "num_attention_heads", "encoder_attention_heads", default=1),
            "dim_feedforward": _first(module, "intermediate_size", "encoder_ffn_dim", default=4 * width),
            "dropout": DROPOUT,
            "activation": "gelu",
            "batch_first": True,
        }
        if config.generation_weight:
            if config.syntax:
                self.symbol_embedding = nn.Embedding(symbols, width, padding_idx=0)
                self.symbol_positions = nn.Embedding(config.max_symbols, width)
                nn.init.normal_(self.symbol_embedding.weight[1:], std=INITIAL)  # row 0 is the padding's, and 0
                nn.init.normal_(self.symbol_positions.weight, std=INITIAL)
                self.symbol_norm = nn.LayerNorm(width)
                self.syntactic = nn.TransformerEncoder(
                    nn.TransformerEncoderLayer(**layer), SYNTAX_LAYERS, enable_nested_tensor=False
                )
            pieces = len(written)
            self.written_V: Tensor
            self.register_buffer("written_V", written, persistent=False)
            self.target_embedding = nn.Embedding(pieces, width)
            self.target_positions = nn.Embedding(config.max_tokens + 2, width)
            self.target_norm = nn.LayerNorm(width)
            self.decoder = nn.TransformerDecoderLayer(**layer)
            self.output = nn.Linear(width, pieces, bias=False)
            for weight in (self.target_embedding.weight, self.target_positions.weight, self.output.weight):
                nn.init.normal_(weight, std=INITIAL)
            if config.tie_output:
                self.output.weight = self.target_embedding.weight

    def forward(self, batch: PairBatch) -> Outputs:
        """Both sides' vectors and, of one or both directions, what the paraphrase loss L_para is made of."""
        both = self.config.directions == "both" or self.config.contrast_weight or self.config.distance_weight
        sides = (batch.source, batch.target if both else None, batch.negatives)
        vectors = iter(self.encode_together([side for side in sides if side is not None]))
        source_BD = next(vectors)
        target_BD, negatives_ND = (None if side is None else next(vectors) for side in sides[1:])
        written: tuple[Written, ...] = ()
        if self.config.generation_weight:
            written = (self.written(source_BD, batch.target_tree, batch.target),)
            if self.config.directions == "both" and target_BD is not None:
                written += (self.written(target_BD, batch.source_tree, batch.source),)
        return Outputs(written, source_BD, target_BD, negatives_ND)

    def encode_together(self, sides: Sequence[Sentences]) -> Sequence[Tensor]:
        """Each side's vectors; a BERT on a CPU reads all of them at once, without padding."""
        if sides[0].lengths_B.device.type != "cpu" or not can_run(self.semantic):
            return [self.encode(side.pieces_BT, side.lengths_B) for side in sides]
        width = max(side.pieces_BT.shape[1] for side in sides)
        pieces_RT = torch.cat([F.pad(side.pieces_BT, (0, width - side.pieces_BT.shape[1])) for side in sides])
        lengths_R = torch.cat([side.lengths_B for side in sides])
        seen_RT, weight_RT = self._seen(lengths_R, width)
        order_R = lengths_R.argsort(stable=True)
        there_RT = torch.arange(width) < lengths_R[order_R, None]
        pieces_N, seen_N, weight_N = (part_RT[order_R][there_RT] for part_RT in (pieces_RT, seen_RT, weight_RT))
        states_ND = unpadded_states(self.semantic, pieces_N, seen_N, lengths_R[order_R].tolist()).float()
        rows_N = order_R.repeat_interleave(lengths_R[order_R])
        vectors_RD = states_ND.new_zeros(len(lengths_R), states_ND.shape[1])
        vectors_RD = vectors_RD.index_add(0, rows_N, states_ND * weight_N[:, None])
        return torch.split(vectors_RD, [len(side.lengths_B) for side in sides])

    def encode(self, pieces_BT: Tensor, lengths_B: Tensor) -> Tensor:
        """ū, the mean of the semantic encoder's states: [B, D], float32. In training some pieces are not seen."""
        seen_BT, weight_BT = self._seen(lengths_B, pieces_BT.shape[1])
        states_BTD = self.semantic(input_ids=pieces_BT, attention_mask=seen_BT.long()).last_hidden_state
        return torch.einsum("bt,btd->bd", weight_BT, states_BTD.float())

    def _seen(self, lengths_B: Tensor, width: int) -> tuple[Tensor, Tensor]:
        """Which pieces attention sees, bool, and how much each counts in the mean: [B, T] both."""
        places_T = torch.arange(width, device=lengths_B.device)
        there_BT = places_T < lengths_B[:, None]
        words_BT = (places_T > 0) & (places_T < lengths_B[:, None] - 1)
        seen_BT = there_BT
        if self.training and self.config.word_dropout:
            dropped_BT = torch.rand(there_BT.shape, device=there_BT.device) < self.config.word_dropout
            seen_BT = there_BT & ~(dropped_BT if self.config.drop_special else dropped_BT & words_BT)
        pooled_BT = seen_BT if self.config.pool_special else seen_BT & words_BT
        none_B1 = ~pooled_BT.any(1, keepdim=True)  # all was dropped, or there is no word
        rest_BT = none_B1 & torch.where(
            words_BT.any(1, keepdim=True) & (not self.config.pool_special), words_BT, there_BT
        )
        seen_BT, pooled_BT = seen_BT | rest_BT, pooled_BT | rest_BT
        return seen_BT, pooled_BT.float() / pooled_BT.sum(1, keepdim=True)

    def memory(self, vectors_BD: Tensor, trees: Trees | None) -> tuple[Tensor, Tensor]:
        """[ū; V], what the decoder reads: states [B, M, D], and which of them are none [B, M]."""
        read_BD = F.layer_norm(vectors_BD, vectors_BD.shape[1:]) if self.config.memory_norm else vectors_BD
        first_B1D = read_BD[:, None]
        none_B1 = torch.zeros(len(vectors_BD), 1, dtype=torch.bool, device=vectors_BD.device)
        if not self.config.syntax or trees is None:
            return first_B1D, none_B1
        places_S = torch.arange(trees.symbols_BS.shape[1], device=vectors_BD.device)
        beyond_BS = places_S >= trees.lengths_B[:, None]
        embedded_BSD = self.symbol_norm(self.symbol_embedding(trees.symbols_BS) + self.symbol_positions(places_S))
        states_BSD = self.syntactic(embedded_BSD, src_key_padding_mask=beyond_BS)
        return torch.cat([first_B1D.to(states_BSD.dtype), states_BSD], 1), torch.cat([none_B1, beyond_BS], 1)

    def written(self, vectors_BD: Tensor, trees: Trees, target: Sentences) -> Written:
        """−ln p(target | ū, tree) over all pieces and ends of the batch."""
        read_BMD, none_BM = self.memory(vectors_BD, trees)
        pieces_BT = self.columns(target.pieces_BT)
        states_BTD = self.states(pieces_BT[:, :-1], read_BMD, none_BM)
        there_BT = torch.arange(pieces_BT.shape[1] - 1, device=pieces_BT.device) < target.lengths_B[:, None] - 1
        (rows_N,) = there_BT.flatten().nonzero(as_tuple=True)
        # Some stand there twice, to no effect, so that the products of all batches have few shapes: oneDNN makes, and
        # keeps, code for each.
        filled_P = torch.cat([rows_N, rows_N[:1].expand(-len(rows_N) % ALIKE)])
        gold_P = pieces_BT[:, 1:].flatten()[filled_P]
        nll_P = vocabulary_nll(states_BTD.flatten(0, 1)[filled_P], self.output.weight, gold_P)
        return Written(nll_P[: len(rows_N)].sum(), there_BT.sum())

    def states(self, pieces_BT: Tensor, read_BMD: Tensor, none_BM: Tensor) -> Tensor:
        """The decoder's states [B, T, D] from all pieces before each, by their columns."""
        places_T = torch.arange(pieces_BT.shape[1], device=pieces_BT.device)
        embedded_BTD = self.target_norm(self.target_embedding(pieces_BT) + self.target_positions(places_T))
        later_TT = torch.ones(len(places_T), len(places_T), dtype=torch.bool, device=pieces_BT.device).triu(1)
        out_BTD: Tensor = self.decoder(
            F.dropout(embedded_BTD, DROPOUT, self.training),
            read_BMD,
            tgt_mask=later_TT,
            memory_key_padding_mask=none_BM,
            tgt_is_causal=True,
        )
        return out_BTD

    def columns(self, pieces: Tensor) -> Tensor:
        """The encoder's numbers of pieces → columns of the output layer; 0 of one that cannot be written."""
        place = torch.searchsorted(self.written_V, pieces).clamp_max_(len(self.written_V) - 1)
        return place.where(self.written_V[place] == pieces, 0)


@final
class Adversary(nn.Module):
    """D_dis: a linear layer that tells from a vector what its sentence's tree is made of.

    `prior_C` is the mean bag, what it can say without reading; whoever trains it sets that.

    Args:
        width: D.
        bag: C.
        norm: it reads vectors of mean 0 and variance 1.
    """

    def __init__(self, width: int, bag: int, *, norm: bool) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width, elementwise_affine=False) if norm else nn.Identity()
        self.linear = nn.Linear(width, bag)
        self.prior_C: Tensor
        self.register_buffer("prior_C", torch.full((bag,), 1 / max(1, bag)))

    def forward(self, vectors_BD: Tensor) -> Tensor:
        """Logits [B, C]."""
        logits_BC: Tensor = self.linear(self.norm(vectors_BD))
        return logits_BC

    def frozen(self, vectors_BD: Tensor) -> Tensor:
        """The same, without a gradient to the adversary's own weights: what the encoder fools."""
        return F.linear(self.norm(vectors_BD), self.linear.weight.detach(), self.linear.bias.detach())


def _first(module: nn.Module, *names: str, default: int) -> int:
    """The first of these numbers that the encoder's config has."""
    config: Any = module.config
    return next((int(value) for name in names if (value := getattr(config, name, None)) is not None), default)

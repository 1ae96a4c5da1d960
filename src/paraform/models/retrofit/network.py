"""M, and the vectors of words in their contexts that a frozen encoder makes with it.

Shape key: B sentences, T word pieces, L layers with the embeddings, D features of a state, K of what M maps; R words in
their contexts of a table, O of a batch, P their word pieces, W shared words.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple, final

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from paraform.models.retrofit.config import RetrofitConfig
from paraform.models.retrofit.contexts import ContextBatch, ContextTable, Unread
from paraform.models.retrofit.frozen import Frozen
from paraform.progress import track

AT_ONCE = 64  # sentences of about one length that are read together


class Distances(NamedTuple):
    """L2 distances of a batch's shared words: in paraphrases, and between one of these contexts and another, [W]."""

    paraphrased_W: Tensor
    other_W: Tensor


@final
class Transform(nn.Module):
    """M, at first the identity.

    Args:
        width: K.
        exact: M = exp(A − Aᵀ), which is orthogonal whatever A is. It is what
            `torch.nn.utils.parametrizations.orthogonal` computes by its `matrix_exp`; that one cannot be built without
            memory, as checkpoints are before they are read.
    """

    def __init__(self, width: int, *, exact: bool = False) -> None:
        super().__init__()
        self.width, self.exact = width, exact
        if exact:
            self.skew = nn.Parameter(torch.zeros(width, width))
        else:
            self.weight = nn.Parameter(torch.eye(width))

    def forward(self) -> Tensor:
        """M, [K, K]."""
        if self.exact:
            rotation: Tensor = torch.linalg.matrix_exp(self.skew - self.skew.mT)
            return rotation
        return self.weight

    def start(self) -> Tensor:
        """What it was at first, [K, K]."""
        return torch.eye(self.width, device=next(self.parameters()).device)


@final
class RetrofitNetwork(nn.Module):
    """What is trained: M and, if the config says so, how the layers are weighted; not the encoder.

    Args:
        config: choices.
        width: K, of the word embeddings if M stands before the encoder, else of the states.
        layers: of the encoder.
        frozen: the encoder; None: only the shapes of weights are wanted.
    """

    def __init__(self, config: RetrofitConfig, width: int, layers: int, frozen: Frozen | None) -> None:
        super().__init__()
        self.config = config
        self.frozen = frozen  # no nn.Module, so that torch neither saves nor trains it
        self.transform = Transform(width, exact=config.orthogonality == "exact")
        if config.train_mix:
            self.mix_L = nn.Parameter(torch.zeros(layers + 1))
            self.mix_scale = nn.Parameter(torch.ones(()))
        self.margin: Tensor
        self.register_buffer("margin", torch.tensor(config.margin))  # γ in the states' own unit, once it is measured

    def forward(self, batch: ContextBatch) -> Distances:
        """How far apart the batch's shared words are."""
        vectors_OD = self.vectors(batch, self.transform())
        return Distances(
            apart(vectors_OD, batch.source_W, batch.target_W), apart(vectors_OD, batch.kept_W, batch.other_W)
        )

    @torch.no_grad()
    def other_at_start(self, batch: ContextBatch) -> Tensor:
        """The second of these distances as they were before training, [W]."""
        vectors_OD = self.vectors(batch, self.transform.start())
        return apart(vectors_OD, batch.kept_W, batch.other_W)

    def vectors(self, batch: ContextBatch, matrix: Tensor) -> Tensor:
        """E(M w, S), or M E(w, S), of each word in its context by that M, the mean over its pieces: [O, D] float32."""
        if isinstance(batch.words, Unread):
            return self.read(batch.words, matrix)
        return F.linear(batch.words, matrix)  # of the pieces' mean it is what the mean of M's would be

    def read(self, words: Unread, before: Tensor | None = None) -> Tensor:
        """The states of words in their contexts, the mean over their pieces, with M before the encoder if there is one:
        [O, D] float32."""
        states_ND = torch.cat([self.states(*chunk, before).flatten(0, 1) for chunk in words.chunks])
        sums_OD = states_ND.new_zeros(len(words.counts_O), states_ND.shape[1])
        return sums_OD.index_add(0, words.word_P, states_ND[words.piece_P]) / words.counts_O[:, None]

    def states(self, pieces_BT: Tensor, lengths_B: Tensor, before: Tensor | None) -> Tensor:
        """States of all pieces: [B, T, D] float32."""
        if self.frozen is None:
            raise ValueError("a network without its encoder; expected RetrofittedEncoder(…, frozen)")
        embedded_BTK = self.frozen.embedded(pieces_BT)
        if before is not None:
            embedded_BTK = F.linear(embedded_BTK, before)
        every = self.config.states == "all"
        states_LBTD = self.frozen.states(embedded_BTK, lengths_B, every=every)
        return self.mixed(states_LBTD) if every else states_LBTD[0]

    @torch.no_grad()
    def known(self, table: ContextTable) -> ContextTable:
        """The table with its words' states, where M stands behind the encoder, which so reads each sentence once.

        They are kept for what this process trains next: runs that differ in M alone read nothing twice.
        """
        if self.config.place == "before" or self.frozen is None:
            return table
        frozen, device = self.frozen, next(self.parameters()).device
        kept = states_read(frozen.digest, frozen.tokenizer_digest, frozen.layer, self.config.states)
        every = np.arange(len(table.texts))
        rows = [table.words.joined(every[at : at + 1]) for at in every]
        keys = [
            b"".join(part.tobytes() for part in (table.pieces.joined(every[at : at + 1]), *spans))
            for at, own in enumerate(rows)
            for spans in [(table.start_R[own], table.count_R[own])]
        ]
        new = [at for at in np.argsort(table.pieces.lengths(every), kind="stable").tolist() if keys[at] not in kept]
        parts = [new[at : at + AT_ONCE] for at in range(0, len(new), AT_ONCE)]
        for part in track(parts, "reading", show=True):
            states_OD = self.read(table.unread(np.concatenate([rows[at] for at in part])).to(device)).cpu()
            ends = np.cumsum([len(rows[at]) for at in part]).tolist()
            for at, begin, end in zip(part, [0, *ends], ends, strict=False):
                kept[keys[at]] = states_OD[begin:end].clone()
        return replace(table, states_RD=torch.cat([kept[key] for key in keys]))

    def mixed(self, states_LBTD: Tensor) -> Tensor:
        """γ Σ_l s_l h_l, s = softmax(w) (Peters et al. 2018, eq. 1); s equal and γ = 1 if they are not trained."""
        if not self.config.train_mix:
            return states_LBTD.mean(0)
        return self.mix_scale * torch.einsum("l,lbtd->btd", self.mix_L.softmax(0), states_LBTD)


@lru_cache(maxsize=1)
def states_read(digest: str, tokenizer: str, layer: int, states: str) -> dict[bytes, Tensor]:
    """What was read of one encoder: of a sentence's pieces and where its words stand the words' states."""
    return {}


def apart(vectors_OD: Tensor, first_W: Tensor, second_W: Tensor) -> Tensor:
    """L2 distances between some of the vectors and others, [W]."""
    distances_W: Tensor = torch.linalg.vector_norm(vectors_OD[first_W] - vectors_OD[second_W], dim=-1)
    return distances_W

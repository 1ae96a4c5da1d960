"""M, and the vectors of words in their contexts that a frozen encoder makes with it.

Shape key: B sentences, T word pieces, L layers with the embeddings, D features of a state, K of what M maps; O words in
their contexts, P their word pieces, W shared words.
"""

from __future__ import annotations

from typing import NamedTuple, final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from paraform.models.retrofit.config import RetrofitConfig
from paraform.models.retrofit.contexts import ContextBatch
from paraform.models.retrofit.frozen import Frozen


class Distances(NamedTuple):
    """L2 distances of a batch's shared words: in paraphrases, and between one of these contexts and another, [W]."""

    paraphrased_W: Tensor
    other_W: Tensor


@final
class Transform(nn.Module):
    """M, at first the identity, or one for each of several layers.

    Args:
        width: K.
        layers: L, of one M a layer; 0: one M.
        exact: M = exp(A − Aᵀ), which is orthogonal whatever A is. It is what
            `torch.nn.utils.parametrizations.orthogonal` computes by its `matrix_exp`; that one cannot be built without
            memory, as checkpoints are before they are read.
    """

    def __init__(self, width: int, *, layers: int = 0, exact: bool = False) -> None:
        super().__init__()
        self.width, self.exact = width, exact
        self.several = (layers,) if layers else ()
        if exact:
            self.skew = nn.Parameter(torch.zeros(*self.several, width, width))
        else:
            self.weight = nn.Parameter(torch.eye(width).repeat(*self.several, 1, 1))

    def forward(self) -> Tensor:
        """M, [K, K], or [L, K, K]."""
        if self.exact:
            rotation: Tensor = torch.linalg.matrix_exp(self.skew - self.skew.mT)
            return rotation
        return self.weight

    def start(self) -> Tensor:
        """What it was at first, [K, K] or [L, K, K]."""
        device = next(self.parameters()).device
        return torch.eye(self.width, device=device).expand(*self.several, -1, -1)


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
        several = layers + 1 if (config.place, config.states) == ("after", "all") else 0  # the embeddings are one
        self.transform = Transform(width, layers=several, exact=config.orthogonality == "exact")
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
        """E(M w, S) of each word in its context by that M, the mean over its pieces: [O, D] float32."""
        states_ND = torch.cat([self.states(*chunk, matrix).flatten(0, 1) for chunk in batch.sentences])
        sums_OD = states_ND.new_zeros(len(batch.counts_O), states_ND.shape[1])
        sums_OD = sums_OD.index_add(0, batch.word_P, states_ND[batch.piece_P])
        return sums_OD / batch.counts_O[:, None]

    def states(self, pieces_BT: Tensor, lengths_B: Tensor, matrix: Tensor) -> Tensor:
        """States of all pieces: [B, T, D] float32."""
        if self.frozen is None:
            raise ValueError("a network without its encoder; expected RetrofittedEncoder(…, frozen)")
        embedded_BTK = self.frozen.embedded(pieces_BT)
        if self.config.place == "before":
            embedded_BTK = F.linear(embedded_BTK, matrix)
        every = self.config.states == "all"
        states_LBTD = self.frozen.states(embedded_BTK, lengths_B, every=every)
        if self.config.place == "after":
            maps_LKK = matrix if every else matrix[None]
            states_LBTD = states_LBTD @ maps_LKK.mT[:, None]
        return self.mixed(states_LBTD) if every else states_LBTD[0]

    def mixed(self, states_LBTD: Tensor) -> Tensor:
        """γ Σ_l s_l h_l, s = softmax(w) (Peters et al. 2018, eq. 1); s equal and γ = 1 if they are not trained."""
        if not self.config.train_mix:
            return states_LBTD.mean(0)
        return self.mix_scale * torch.einsum("l,lbtd->btd", self.mix_L.softmax(0), states_LBTD)


def apart(vectors_OD: Tensor, first_W: Tensor, second_W: Tensor) -> Tensor:
    """L2 distances between some of the vectors and others, [W]."""
    distances_W: Tensor = torch.linalg.vector_norm(vectors_OD[first_W] - vectors_OD[second_W], dim=-1)
    return distances_W

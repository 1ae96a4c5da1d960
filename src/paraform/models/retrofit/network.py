"""M, and the vectors of words in their contexts that a frozen encoder makes with it.

Shape key: B sentences, T word pieces, L layers with the embeddings, D features of a state, K of what M maps; R words in
their contexts of a table, O of a batch, P their word pieces, W shared words.
"""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from typing import NamedTuple, final

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from paraform.batching.pairs import parts_of_rows
from paraform.models.retrofit.config import RetrofitConfig
from paraform.models.retrofit.contexts import ContextBatch, ContextTable, Unread
from paraform.models.retrofit.frozen import Frozen
from paraform.progress import track

AT_ONCE = 64  # sentences of about one length that are read together
MOST_KNOWN = 2  # tables: those that a run trains and validates on
KNOWN: dict[str, Tensor] = {}
"""Of the tables of this process's last run the words' states without M, by all that changes them."""


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
        return apart(_states_of(batch), batch.kept_W, batch.other_W)

    def vectors(self, batch: ContextBatch, matrix: Tensor) -> Tensor:
        """E(M w, S), or M E(w, S), of each word in its context by that M, the mean over its pieces: [O, D] float32."""
        if batch.words is not None:
            return self.read(batch.words, matrix)
        return F.linear(_states_of(batch), matrix)

    def read(self, words: Unread, before: Tensor) -> Tensor:
        """The states of words in their contexts by M before the encoder, the mean over their pieces: [O, D] float32."""
        states = [self.states(*chunk, before).flatten(0, 1) for chunk in words.chunks]
        if not states:
            return words.counts_O.new_zeros(0, self._own.width, dtype=torch.float32)
        return mean_pieces(torch.cat(states), words.piece_P, words.word_P, words.counts_O)

    def states(self, pieces_BT: Tensor, lengths_B: Tensor, before: Tensor) -> Tensor:
        """States of all pieces: [B, T, D] float32."""
        embedded_BTK = F.linear(self._own.embedded(pieces_BT), before)
        every = self.config.states == "all"
        states_LBTD = self._own.states(embedded_BTK, lengths_B, every=every)
        return self.mixed(states_LBTD) if every else states_LBTD[0]

    @property
    def _own(self) -> Frozen:
        if self.frozen is None:
            raise ValueError("a network without its encoder; expected RetrofittedEncoder(…, frozen)")
        return self.frozen

    def known(self, table: ContextTable, *, training: bool = True) -> ContextTable:
        """The table with its words' states without M, if steps need them: each sentence is read once for them.

        It is so where M stands behind the encoder, and in training, for d̂₀, with `push` "start".

        Those of two tables are kept for what this process trains next: runs that differ in M alone read nothing twice.
        """
        behind = self.config.place == "after"
        if self.frozen is None or not (behind or (training and self.config.push == "start")):
            return table
        about = json.dumps([self.frozen.signature, self.config.states, table.texts])
        spans = (part.tobytes() for part in (table.sentence_R, table.start_R, table.count_R))
        key = sha256(b"".join([about.encode(), *spans])).hexdigest()
        if key not in KNOWN:
            while len(KNOWN) >= MOST_KNOWN:
                del KNOWN[next(iter(KNOWN))]
            KNOWN[key] = self.read_all(table)
        return replace(table, states_RD=KNOWN[key], behind=behind)

    @torch.no_grad()
    def read_all(self, table: ContextTable) -> Tensor:
        """The states of all words of a table, without M, on the CPU: [R, D] float32."""
        every, device = self.config.states == "all", next(self.parameters()).device
        out_RD = torch.zeros(len(table.word_R), self._own.width)
        order = np.argsort(table.pieces.lengths(np.arange(len(table.texts))), kind="stable")
        parts = [order[rows] for rows in parts_of_rows(len(order), AT_ONCE)]
        for part in track(parts, "reading", show=True):
            pieces = [table.pieces.joined(part[at : at + 1]).tolist() for at in range(len(part))]
            states_ND = self._own.read(pieces, device, every=every)
            starts = np.zeros(len(table.texts), np.int64)
            starts[part] = np.cumsum([0, *map(len, pieces[:-1])])
            rows = table.words.joined(part).astype(np.int64)
            counts_O = table.count_R[rows]
            word_P = np.repeat(np.arange(len(rows)), counts_O)
            within_P = np.arange(len(word_P)) - np.repeat(np.cumsum(counts_O) - counts_O, counts_O)
            piece_P = (starts[table.sentence_R[rows]] + table.start_R[rows])[word_P] + within_P
            numbers = (torch.from_numpy(each).to(device) for each in (piece_P, word_P, counts_O))
            out_RD[torch.from_numpy(rows)] = mean_pieces(states_ND, *numbers).cpu()
        return out_RD

    def mixed(self, states_LBTD: Tensor) -> Tensor:
        """γ Σ_l s_l h_l, s = softmax(w) (Peters et al. 2018, eq. 1); s equal and γ = 1 if they are not trained."""
        if not self.config.train_mix:
            return states_LBTD.mean(0)
        return self.mix_scale * torch.einsum("l,lbtd->btd", self.mix_L.softmax(0), states_LBTD)


def _states_of(batch: ContextBatch) -> Tensor:
    if batch.states_OD is None:
        raise ValueError("a batch without the states before M; expected one of a table that `known` gave")
    return batch.states_OD


def mean_pieces(states_ND: Tensor, piece_P: Tensor, word_P: Tensor, counts_O: Tensor) -> Tensor:
    """Of each word the mean over its pieces' states: [O, D]."""
    sums_OD = states_ND.new_zeros(len(counts_O), states_ND.shape[1])
    return sums_OD.index_add(0, word_P, states_ND[piece_P]) / counts_O[:, None]


def apart(vectors_OD: Tensor, first_W: Tensor, second_W: Tensor) -> Tensor:
    """L2 distances between some of the vectors and others, [W]."""
    distances_W: Tensor = torch.linalg.vector_norm(vectors_OD[first_W] - vectors_OD[second_W], dim=-1)
    return distances_W

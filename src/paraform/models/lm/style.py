"""CRL-EGPG's style vector as a guide: an exemplar → a vector → soft pieces of a prompt (Yang et al. 2021).

Shape key: R exemplars, T tokens of the longest, W features of the frozen encoder, S of a style vector, K soft pieces,
D features of the language model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, final

import numpy as np
import torch
from torch import Tensor, nn

from paraform.batching import Ragged
from paraform.encoders import Encoder
from paraform.models.layers import run_gru
from paraform.words import tokenize


class Soft(NamedTuple):
    """Soft pieces of some rows of a batch, in the places of other pieces.

    Args:
        pieces_RKD: what is read there.
        rows_R: which row each stands in.
        starts_R: from which place of it on.
    """

    pieces_RKD: Tensor
    rows_R: Tensor
    starts_R: Tensor

    def put_into(self, embedded_BTD: Tensor) -> Tensor:
        """What a model reads, with these in their places."""
        places_RK = self.starts_R[:, None] + torch.arange(self.pieces_RKD.shape[1], device=self.starts_R.device)
        where = (self.rows_R[:, None].expand_as(places_RK), places_RK)
        return embedded_BTD.index_put(where, self.pieces_RKD.to(embedded_BTD))


@final
class StyleNetwork(nn.Module):
    """A BiGRU over the frozen encoder's states, whose last ones are the style vector; and a linear map to soft pieces.

    Args:
        inputs: W.
        width: of one direction, S / 2.
        pieces: K.
        model_width: D.
    """

    def __init__(self, inputs: int, width: int, pieces: int, model_width: int) -> None:
        super().__init__()
        self.pieces, self.model_width = pieces, model_width
        self.gru = nn.GRU(inputs, width, batch_first=True, bidirectional=True)
        self.map = nn.Linear(2 * width, pieces * model_width)

    def forward(self, states_RTW: Tensor, lengths_R: Tensor) -> Tensor:
        """Style vectors [R, S]."""
        _, final_2RH = run_gru(self.gru, states_RTW, lengths_B=lengths_R)
        return final_2RH.transpose(0, 1).flatten(1)

    def soft(self, style_RS: Tensor) -> Tensor:
        """What a prompt says of them: [R, K, D]."""
        pieces_RKD: Tensor = self.map(style_RS).unflatten(1, (self.pieces, self.model_width))
        return pieces_RKD


def style_states(encoder: Encoder, exemplars: Sequence[str]) -> Ragged:
    """The encoder's states of each exemplar's lower-cased words, float16, a row a token; of "" no row."""
    read = [style_text(text) for text in exemplars]
    different = [text for text in dict.fromkeys(read) if text]
    if not different:
        return Ragged(np.zeros((0, encoder.dimension), np.float16), np.zeros(len(read) + 1, np.int64))
    (found,) = encoder.states(different, layers=[-1])
    states = Ragged(found.states_ND.cpu().half().numpy(), np.asarray(found.offsets, np.int64))
    place = {text: at for at, text in enumerate(different)}
    chosen = np.array([place[text] for text in read if text], np.int64)
    counts = np.zeros(len(read), np.int64)
    counts[[bool(text) for text in read]] = states.lengths(chosen)
    return Ragged(states.joined(chosen), np.concatenate([[0], np.cumsum(counts)]))


def style_text(exemplar: str) -> str:
    """What the encoder reads of it."""
    return " ".join(tokenize(exemplar)).lower()

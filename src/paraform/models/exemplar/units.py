"""What CRL-EGPG's two encoders read of a sentence's words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from paraform.batching import Ragged
from paraform.encoders import Encoder
from paraform.models.exemplar.batches import StyleInput


def split_units(sentences: list[list[str]], units: str, encoder: Encoder | None) -> list[list[str]]:
    """Lower-cased words as the network counts them: themselves, or their pieces."""
    return sentences if units == "words" or encoder is None else encoder.word_pieces(sentences)


def style_text(words: Sequence[str]) -> str:
    """What the style encoder reads of a sentence: its words, lower-cased, with spaces between."""
    return " ".join(words).lower()


def style_inputs(
    read: Sequence[str], encoder: Encoder, layer: int | None, known: dict[str, npt.NDArray[np.float32]]
) -> tuple[StyleInput, Tensor]:
    """What the style encoder takes of each different text of `read`, and the row in it of each of them.

    Args:
        layer: of a frozen encoder; None: the encoder is fine-tuned and takes the numbers of pieces.
        known: states of texts; those that it lacks are put in.
    """
    unique = list(dict.fromkeys(read))
    if layer is None:
        table = Ragged.of(encoder.pieces(unique))
    else:
        missing = [text for text in unique if text not in known]
        (states,) = encoder.states(missing, layers=[layer])
        known.update(zip(missing, np.split(states.states_ND.cpu().numpy(), states.offsets[1:-1]), strict=False))
        offsets = np.cumsum([0, *(len(known[text]) for text in unique)])
        table = Ragged(np.concatenate([known[text] for text in unique]), offsets)
    order = np.argsort(-np.diff(table.offsets), kind="stable")  # as a packed GRU wants them
    values, lengths_B = table.padded(order)
    row_of = {unique[i]: row for row, i in enumerate(order)}
    return StyleInput(values, lengths_B), torch.tensor([row_of[text] for text in read])

"""What CRL-EGPG's two encoders read of sentences.

Shape key: B sentences, T words of the longest, D features of a state.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from paraform.batching import Ragged, Vocabulary, prepare_all
from paraform.encoders import Encoder
from paraform.models.exemplar.batches import PickedStates, StyleInput
from paraform.records import InputError

CONTENT_LAYER = -1  # whose states the content encoder reads of the style encoder: the last


def word_numbers(
    sentences: Sequence[Sequence[str]], vocabulary: Vocabulary, beyond: dict[str, int] | None = None
) -> tuple[Tensor, Tensor]:
    """Numbers of lower-cased words [B, T], those beyond the vocabulary counted on, and how many there are [B].

    Args:
        beyond: words that the vocabulary lacks have these numbers; new ones are put in.
    """
    beyond = {} if beyond is None else beyond
    return Ragged.of([vocabulary.encode(words, beyond) for words in sentences]).padded(np.arange(len(sentences)))


def style_text(words: Sequence[str]) -> str:
    """What the style encoder reads of a sentence: its words, lower-cased, with spaces between."""
    return " ".join(words).lower()


def exemplar_texts(exemplars: Sequence[str], max_tokens: int, *, tell: str = "") -> list[str]:
    """What the style encoder reads of each exemplar.

    Args:
        tell: as in `prepare_all`.
    Raises: InputError for an empty one.
    """
    rows = prepare_all(exemplars, max_tokens, tell=tell)
    forms = {words: style_text(words) for words in dict.fromkeys(rows)}
    read = [forms[words] for words in rows]
    if "" in read:
        raise InputError(f"exemplar {read.index('') + 1} is empty; expected a sentence whose form to take")
    return read


def content_states(sentences: Sequence[Sequence[str]], encoder: Encoder) -> Tensor:
    """States of each lower-cased word's first token, zeros behind a sentence's last: [B, T, D] float32."""
    (states,) = encoder.states([style_text(words) for words in sentences], layers=[CONTENT_LAYER])
    rows = first_tokens(sentences, encoder, states.offsets)
    return PickedStates(states.states_ND.cpu().numpy(), rows).padded(np.arange(len(sentences)))


def first_tokens(sentences: Sequence[Sequence[str]], encoder: Encoder, offsets: npt.NDArray[np.int64]) -> Ragged:
    """The row of each lower-cased word's first token, if the tokens of sentence i begin at row offsets[i]."""
    placed = encoder.placed_pieces(sentences)
    return Ragged.of(
        [[int(start) + pieces[0][1] for pieces in row] for row, start in zip(placed, offsets, strict=False)]
    )


def style_inputs(
    read: Sequence[str],
    encoder: Encoder,
    layer: int | None,
    known: dict[str, npt.NDArray[np.float32]],
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

"""What CRL-EGPG's two encoders read of a sentence's words.

Shape key: B sentences, T units of the longest, D features of a state.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from paraform import encoders
from paraform.batching import Ragged, Vocabulary, prepare_all
from paraform.encoders import Encoder
from paraform.models.exemplar.batches import PickedStates, StyleInput
from paraform.models.exemplar.config import ExemplarConfig
from paraform.models.exemplar.style_tags import tag_numbers
from paraform.records import InputError
from paraform.syntax import Tagger


class Units(NamedTuple):
    """A sentence as the network counts it: words or pieces, and the place of each one's token among the encoder's.

    A word's is that of its first token. Without a use for them there are no places.
    """

    units: list[str]
    places: list[int]


def split_units(sentences: Sequence[Sequence[str]], config: ExemplarConfig, encoder: Encoder | None) -> list[Units]:
    """Lower-cased words as the network counts them.

    Args:
        encoder: the style encoder; None: words are counted, and no states read.
    """
    if encoder is None or not needs_encoder(config):
        return [Units(list(words), []) for words in sentences]
    out = []
    for words, placed in zip(sentences, encoder.placed_pieces(sentences), strict=True):
        if config.units == "words":
            out.append(Units(list(words), [pieces[0][1] for pieces in placed]))
        else:
            flat = [piece for pieces in placed for piece in pieces]
            out.append(Units([piece for piece, _ in flat], [place for _, place in flat]))
    return out


def needs_encoder(config: ExemplarConfig) -> bool:
    """Whether units are split, or found, by the style encoder's tokenizer."""
    return config.units == "pieces" or config.content_input != "words"


def single_pieces(config: ExemplarConfig) -> list[str]:
    """The style encoder's pieces of one character, alone and inside words. Raises: InputError as `encoders.locate`."""
    pieces = encoders.ModelFolder(encoders.locate(config.style_encoder)).tokenizer().get_vocab()
    return [piece for piece in pieces if len(piece.removeprefix("##") or piece) == 1]


def unit_numbers(sentences: Sequence[Units], vocabulary: Vocabulary) -> tuple[Tensor, Tensor]:
    """Numbers of the units [B, T], those beyond the vocabulary counted on, and how many there are [B]."""
    beyond: dict[str, int] = {}
    return Ragged.of([vocabulary.encode(one.units, beyond) for one in sentences]).padded(np.arange(len(sentences)))


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


def content_states(sentences: Sequence[Units], read: Sequence[str], encoder: Encoder, layer: int) -> Tensor:
    """States of each unit's token, zeros behind a sentence's last: [B, T, D] float32.

    Args:
        read: what the encoder reads of each sentence.
    """
    (states,) = encoder.states(list(read), layers=[layer])
    return PickedStates(states.states_ND.cpu().numpy(), token_rows(sentences, states.offsets)).padded(
        np.arange(len(sentences))
    )


def token_rows(sentences: Sequence[Units], offsets: npt.NDArray[np.int64]) -> Ragged:
    """The row of each unit's token, if the tokens of sentence i begin at row offsets[i]."""
    return Ragged.of([[int(start) + p for p in one.places] for one, start in zip(sentences, offsets, strict=False)])


def style_inputs(
    read: Sequence[str],
    encoder: Encoder,
    layer: int | None,
    known: dict[str, npt.NDArray[np.float32]],
    tag: Tagger | None = None,
) -> tuple[StyleInput, Tensor]:
    """What the style encoder takes of each different text of `read`, and the row in it of each of them.

    Args:
        layer: of a frozen encoder; None: the encoder is fine-tuned and takes the numbers of pieces.
        known: states of texts; those that it lacks are put in.
        tag: gives the tags beside the tokens; None: none are read.
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
    tags_BT = tag_numbers(unique, encoder, tag).padded(order)[0] if tag else None
    return StyleInput(values, lengths_B, tags_BT), torch.tensor([row_of[text] for text in read])

"""What the word embeddings start from: random numbers, the offline encoder, or a GloVe file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from paraform import encoders
from paraform.batching import SPECIAL
from paraform.encoders.word_vectors import load_word_vectors
from paraform.models.exemplar.paraphraser import ExemplarParaphraser
from paraform.records import InputError


def initialize_words(model: ExemplarParaphraser) -> None:
    """Start the word embeddings as `config.word_vectors` says; see `start_words`.

    Vectors are scaled to the spread of the random ones where the output layer shares them, or its first logits would be
    far from even.
    """
    config = model.config
    start_words(
        [model.network.embedding.weight], model.vocabulary.words, config.word_vectors, scaled=config.tie_embeddings
    )


@torch.no_grad()
def start_words(weights: Sequence[Tensor], words: Sequence[str], kind: str, *, scaled: bool = False) -> None:
    """Put vectors of words into tables of embeddings, in place; nothing changes for "random".

    Args:
        weights: [V, D] each.
        words: V, `SPECIAL` first, whose vectors stay.
        kind: "random"; "encoder": the offline encoder's vector of each word alone, at the spread of the table's own, so
            that words that mean the same start close; it stands in for GloVe. Else a GloVe text file; a word that it
            lacks keeps its numbers.
        scaled: give GloVe's vectors the spread of the table's own, too.
    Raises: InputError for a file that is none, or has vectors of another width.
    """
    if kind == "random":
        return
    special, width = len(SPECIAL), weights[0].shape[1]
    scales = [weight_VD[special:].std() for weight_VD in weights]
    if kind == "encoder":
        found = torch.arange(special, len(words))
        vectors_VD, scaled = principal(torch.from_numpy(encoders.load().encode(words[special:])), width), True
    else:
        found, vectors_VD = _of_file(Path(kind), words, width)
    for weight_VD, scale in zip(weights, scales, strict=True):
        weight_VD[found] = (vectors_VD / vectors_VD.std() * scale if scaled else vectors_VD).to(weight_VD.device)


def _of_file(path: Path, words: Sequence[str], width: int) -> tuple[Tensor, Tensor]:
    """Which of the words a file has, [n], and their vectors, [n, width]."""
    if not path.is_file():
        raise InputError(f"{path}: no such file; expected a GloVe text file, or 'random' or 'encoder'")
    known = load_word_vectors(path)
    if known.dimension != width:
        raise InputError(f"{path}: {known.dimension} numbers for a word; expected {width}")
    found = {row: vector for row, vector in enumerate(known.words(words)) if vector is not None}
    if not found:
        raise InputError(f"{path}: none of the vocabulary's {len(words)} words; expected a GloVe text file")
    return torch.tensor(list(found)), torch.from_numpy(np.stack(list(found.values())))


def principal(vectors_VD: Tensor, width: int) -> Tensor:
    """Turned to their principal axes and cut (or zero-padded) to `width`: close words stay close."""
    centred_VD = vectors_VD - vectors_VD.mean(0)
    _, _, axes = torch.linalg.svd(centred_VD, full_matrices=False)
    turned = centred_VD @ axes[:width].T
    return F.pad(turned, (0, width - turned.shape[1]))

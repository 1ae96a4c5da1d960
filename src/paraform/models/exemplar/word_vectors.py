"""What the word embeddings start from: random numbers, the offline encoder, or a GloVe file."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from paraform import encoders
from paraform.batching import SPECIAL
from paraform.models.exemplar.paraphraser import ExemplarParaphraser
from paraform.weights import read_word_vectors


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
        found, vectors_VD = read_word_vectors(kind, words, width)
    for weight_VD, scale in zip(weights, scales, strict=True):
        weight_VD[found] = (vectors_VD / vectors_VD.std() * scale if scaled else vectors_VD).to(weight_VD.device)


def principal(vectors_VD: Tensor, width: int) -> Tensor:
    """Turned to their principal axes and cut (or zero-padded) to `width`: close words stay close."""
    centred_VD = vectors_VD - vectors_VD.mean(0)
    _, _, axes = torch.linalg.svd(centred_VD, full_matrices=False)
    turned = centred_VD @ axes[:width].T
    return F.pad(turned, (0, width - turned.shape[1]))

"""What the word embeddings start from: random numbers, the offline encoder, or a GloVe file."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from paraform import encoders
from paraform.batching import SPECIAL
from paraform.models.exemplar.paraphraser import ExemplarParaphraser
from paraform.weights import read_word_vectors


@torch.no_grad()
def initialize_words(model: ExemplarParaphraser) -> None:
    """Start the word embeddings as `config.word_vectors` says; nothing changes for "random".

    "encoder": the offline encoder's vector of each word alone, so that words that mean the same start close; it stands
    in for GloVe. Else: a GloVe text file; a word that it lacks keeps its random numbers. Vectors are scaled to the
    spread of the random ones where the output layer shares them, or its first logits would be far from even.
    """
    kind, width = model.config.word_vectors, model.config.word_width
    if kind == "random":
        return
    weight_VD = model.network.embedding.weight
    words = model.vocabulary.words
    special = len(SPECIAL)
    scale = weight_VD[special:].std()
    if kind == "encoder":
        vectors_VD = principal(torch.from_numpy(encoders.load().encode(words[special:])), width)
        weight_VD[special:] = vectors_VD / vectors_VD.std() * scale
    else:
        found, vectors_VD = read_word_vectors(kind, words, width)
        weight_VD[found] = vectors_VD / vectors_VD.std() * scale if model.config.tie_embeddings else vectors_VD


def principal(vectors_VD: Tensor, width: int) -> Tensor:
    """Turned to their principal axes and cut (or zero-padded) to `width`: close words stay close."""
    centred_VD = vectors_VD - vectors_VD.mean(0)
    _, _, axes = torch.linalg.svd(centred_VD, full_matrices=False)
    turned = centred_VD @ axes[:width].T
    return F.pad(turned, (0, width - turned.shape[1]))

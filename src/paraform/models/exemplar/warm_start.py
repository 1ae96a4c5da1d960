"""A model that carries on another's training, on other pairs: its weights, and a vocabulary that may have grown."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from paraform import encoders
from paraform.batching import SPECIAL, Vocabulary
from paraform.models.exemplar.config import ExemplarConfig
from paraform.models.exemplar.paraphraser import ExemplarParaphraser
from paraform.records import InputError

FREE = {  # fields that say how a model is trained, and not what it is built of
    *("exemplar_choice", "contrastive_scale", "contrastive_reduction", "nll_reduction", "similarity", "pool"),
    *("length_gap", "ties", "drop_perplexity", "min_count", "word_vectors", "temperature", "content_weight"),
    *("style_weight", "learning_rate", "batch_size", "epochs", "pool_size", "both_directions"),
    *("exemplar_deals", "dropout", "mask_clusters", "schedule", "clip_norm"),
}
RIDGE = 1.0


def require_same_build(config: ExemplarConfig, start: ExemplarConfig) -> None:
    """Raises: InputError if a model of the one config cannot take the weights of the other; it names the field."""
    for field in dataclasses.fields(ExemplarConfig):
        here, there = getattr(config, field.name), getattr(start, field.name)
        if field.name not in FREE and here != there:
            raise InputError(
                f"config.{field.name} is {here!r}, and {there!r} in the model to start from; expected the same, since"
                " its weights are of that build"
            )


def grown(vocabulary: Vocabulary, sentences: Sequence[Sequence[str]], config: ExemplarConfig) -> Vocabulary:
    """The vocabulary, and behind its words those that `config.min_count` of the sentences' words are."""
    counted = Vocabulary.build(sentences, min_count=config.min_count)
    known = set(vocabulary.words)
    new = [word for word in counted.words if word not in known]
    cased = {word: form for word, form in counted.cased.items() if word in known or word in new}
    return Vocabulary((*vocabulary.words, *new), {**cased, **vocabulary.cased})


@torch.no_grad()
def carry_over(model: ExemplarParaphraser, start: ExemplarParaphraser) -> None:
    """Copy the weights of `start` into `model`, whose vocabulary begins with the words of that of `start`.

    A word that `start` lacks gets what a linear map makes of the offline encoder's vector of the word alone; the map is
    learned from the words that it has, so that the new one begins among those that mean like it.
    """
    own, theirs = model.network.state_dict(), start.network.state_dict()
    known, words = len(start.vocabulary), model.vocabulary.words
    for name, tensor in own.items():
        tensor[: len(theirs[name])] = theirs[name]
    if known == len(words):
        return
    vectors_VD = torch.from_numpy(np.asarray(encoders.load().encode(list(words[len(SPECIAL) :]))))
    old_VD, new_VD = vectors_VD[: known - len(SPECIAL)], vectors_VD[known - len(SPECIAL) :]
    tables = {"embedding.weight"} if model.config.tie_embeddings else {"embedding.weight", "output.weight"}
    for name in tables:
        own[name][known:] = new_VD @ ridge(old_VD, theirs[name][len(SPECIAL) :])
    own["output.bias"][known:] = theirs["output.bias"][len(SPECIAL) :].mean()


def ridge(inputs_ND: Tensor, targets_NE: Tensor) -> Tensor:
    """The map W [D, E] that minimises ‖inputs W − targets‖² + `RIDGE` ‖W‖²."""
    gram_DD = inputs_ND.T @ inputs_ND + RIDGE * torch.eye(inputs_ND.shape[1])
    map_DE: Tensor = torch.linalg.solve(gram_DD, inputs_ND.T @ targets_NE)
    return map_DE

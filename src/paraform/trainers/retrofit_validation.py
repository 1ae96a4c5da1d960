"""What chooses PAR's weights: the paper's paraphrase classifier, and distances of held-out words."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from paraform.batching.pairs import parts_of_rows
from paraform.evaluation.embedding.probe_rows import ProbeConfig, pair_features
from paraform.evaluation.embedding.probes import Folds, fit_probes
from paraform.losses.orthogonality import orthogonality_penalty
from paraform.models.retrofit import RetrofittedEncoder
from paraform.models.retrofit.contexts import ContextTable
from paraform.records import InputError, Pair, counted
from paraform.trainers.retrofit_tables import AT_ONCE, table_of_pairs

CLASSIFIER = replace(ProbeConfig.mlp(), l2=(1e-3,))
KNOWN: dict[str, Tensor] = {}  # the means of the last run behind an encoder, by all that changes them
DEV = 10  # every tenth training pair chooses the classifier's epoch


class Example(NamedTuple):
    """Two texts of the paraphrase classifier's."""

    first: str
    second: str
    paraphrases: bool


def validator(
    model: RetrofittedEncoder,
    table: ContextTable,
    pairs: Sequence[Pair],
    held: Sequence[Pair],
    *,
    seed: int,
) -> Callable[[], dict[str, float]]:
    """What gives the scores by which a run ends and its weights are chosen.

    `accuracy`, 0 to 1, of the paraphrase classifier (section 4.1): a network of 50 hidden units on |u − v| and u ∗ v of
    the sentences' vectors, trained anew on training pairs, on the held-out ones; and of these `paraphrased` and
    `other`, the mean distances of their shared words, `ratio`, the first by the second; `orthogonality`, ‖I − MᵀM‖_F.
    """
    config = model.config
    own = table_of_pairs(held, model)
    training = examples(pairs, table, seed=seed)
    if config.classifier_pairs and len(training) > config.classifier_pairs:
        training = random.Random(seed).sample(training, config.classifier_pairs)
    testing = examples(held, own, seed=seed)
    if any(len({one.paraphrases for one in some}) < 2 for some in (training, testing)):
        raise InputError(
            f"{counted(len(training), 'training pair')} and {counted(len(testing), 'validation pair')} for the"
            " classifier; expected paraphrases and others in each: more pairs, or others (validation=, --validation)"
        )
    both = [*training, *testing]
    parts = ["dev" if row % DEV == 0 else "train" for row in range(len(training))] + ["test"] * len(testing)
    folds, labels = Folds.split(parts), np.array([one.paraphrases for one in both])
    texts = list(dict.fromkeys(text for one in both for text in (one.first, one.second)))
    place = {text: row for row, text in enumerate(texts)}
    first, second = ([place[getattr(one, side)] for one in both] for side in ("first", "second"))
    means_ND: Tensor | None = None
    if config.place == "after":  # then the encoder reads them once
        means_ND = known_means(model, texts)

    @torch.inference_mode()
    def evaluate() -> dict[str, float]:
        model.eval()
        vectors_ND = model.embed(texts) if means_ND is None else model.vectors_of(means_ND).cpu().numpy()
        features = pair_features(vectors_ND[first], vectors_ND[second])
        with torch.inference_mode(False), torch.enable_grad():
            accuracy = fit_probes(features, labels, folds, replace(CLASSIFIER, seed=seed)).test_accuracy_F[0]
        scores = {"accuracy": float(accuracy)}
        if len(own):
            near, far = distances(model, own, seed=seed)
            scores |= {"paraphrased": near, "other": far, "ratio": near / far}
        scores["orthogonality"] = float(orthogonality_penalty(model.matrix))
        return scores

    return evaluate


def known_means(model: RetrofittedEncoder, texts: Sequence[str]) -> Tensor:
    """Its `means` of texts, kept for what this process trains next, as the words' states are: [N, D]."""
    signature = model.frozen.signature if model.frozen is not None else ""
    key = sha256(json.dumps([signature, model.config.states, list(texts)]).encode()).hexdigest()
    if key not in KNOWN:
        KNOWN.clear()
        KNOWN[key] = torch.from_numpy(model.means(texts, progress=True))
    return KNOWN[key]


@torch.no_grad()
def distances(model: RetrofittedEncoder, table: ContextTable, *, seed: int) -> tuple[float, float]:
    """Mean distances of all shared words: in paraphrases, and to a substitute that is the same at each validation."""
    every_W = np.arange(len(table.source_W))
    kept_W, other_W = table.negatives(every_W, "substitute", np.random.default_rng([seed, 4]))
    found = [
        model.network(table.batch(part_W, kept_W[part_W], other_W[part_W]).to(model.device))
        for part_W in parts_of_rows(len(every_W), AT_ONCE)
    ]
    near, far = (torch.cat(each).mean().item() for each in zip(*found, strict=True))
    return near, far


def examples(pairs: Sequence[Pair], table: ContextTable, *, seed: int) -> list[Example]:
    """What the classifier tells: paraphrases, and pairs labelled 0; without any of these as many mined ones."""
    found = [Example(pair.source.text, pair.target.text, pair.label != 0) for pair in pairs]
    if all(one.paraphrases for one in found) and len(table):
        draw = np.random.default_rng([seed, 3])
        sizes = table.shared.lengths(np.arange(len(table)))
        one_W = table.shared.offsets[:-1] + (draw.random(len(table)) * sizes).astype(np.int64)
        kept_W, other_W = table.negatives(one_W, "substitute", draw)
        for kept, other in zip(table.sentence_R[kept_W].tolist(), table.sentence_R[other_W].tolist(), strict=True):
            found.append(Example(table.texts[kept], table.texts[other], False))
    return found

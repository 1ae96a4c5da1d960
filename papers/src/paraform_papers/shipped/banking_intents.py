"""Banking77's intents in two parts: those that models learn from, and a third that none is trained, mined or tuned on.

from paraform_papers.shipped.banking_intents import two_parts
two_parts("../shared/data/banking77/train.csv").untouched  # rated inputs and few-shot tests come from these alone
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from paraform.capabilities import Embed
from paraform.corpora.tables import read_table
from paraform.records import Pair, Sentence
from paraform.rewording.asking import kind
from paraform.rewording.content import NEGATIONS
from paraform.rewording.tagged import Tagged
from paraform.weights import PathLike
from paraform.words import tokenize

SEED = 35
LEAST, NEIGHBOURS = 0.9, 3
"""Of 50 pairs drawn by seed 36 from those that are left, 44 mean the same; of those under the cosine of 0.9 it was 4 of
10 that do not ("Do you support other currencies?", "What currencies do you support?")."""


class Parts(NamedTuple):
    """Utterances of each intent, by its name; the two have no intent in common."""

    used: dict[str, list[Sentence]]
    untouched: dict[str, list[Sentence]]


def two_parts(path: PathLike) -> Parts:
    """The table's different texts; a third of the intents, drawn by `SEED` from their sorted names, is untouched."""
    intents: dict[str, dict[str, Sentence]] = {}
    for row in read_table(path, "text").rows:
        text = " ".join(row.text.split())
        intents.setdefault(str(row.fields["category"]), {}).setdefault(text, Sentence(text, origin=row.origin))
    drawn = set(random.Random(SEED).sample(sorted(intents), round(len(intents) / 3)))
    parts = Parts({}, {})
    for name in sorted(intents):
        (parts.untouched if name in drawn else parts.used)[name] = list(intents[name].values())
    return parts


def near_duplicates(intents: Iterable[Sequence[Sentence]], embed: Embed) -> list[Pair]:
    """Pairs of utterances of one intent that mostly mean the same, labelled 1, each once.

    Their cosine is `LEAST` or more, the one is among the other's `NEIGHBOURS` nearest, and they ask and deny alike and
    are about as long.
    """
    found: list[Pair] = []
    for utterances in intents:
        vectors_ND = embed([one.text for one in utterances])
        cosines_NN = vectors_ND @ vectors_ND.T
        np.fill_diagonal(cosines_NN, -1)
        nearest_NK = np.argsort(-cosines_NN, 1, kind="stable")[:, :NEIGHBOURS]
        near = {
            (min(row, other), max(row, other))
            for row, others in enumerate(nearest_NK.tolist())
            for other in others
            if cosines_NN[row, other] >= LEAST
        }
        pairs = [Pair(utterances[a], utterances[b], label=1, origin=utterances[a].origin) for a, b in sorted(near)]
        found += [pair for pair in pairs if alike(pair.source.text, pair.target.text)]
    return found


def alike(one: str, other: str) -> bool:
    """Whether both are questions or neither is, deny as often, and the longer has at most half as many words more."""
    words = [tokenize(text) for text in (one, other)]
    asks = {kind(Tagged(some, [""] * len(some))) == "question" for some in words}  # which needs no tags
    denials = {sum(word.lower() in NEGATIONS for word in some) for some in words}
    short, long = sorted(map(len, words))
    return len(asks) == len(denials) == 1 and long <= 1.5 * short + 1

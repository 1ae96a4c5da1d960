"""The pairs that CRL-EGPG's tables are trained and measured on.

A part of a corpus is whole duplicate clusters, so that no sentence's paraphrase is in another part.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from paraform import corpora
from paraform.records import Pair

Corpus = Literal["quora", "paranmt"]


def part_of(pairs: Sequence[Pair], size: int, seed: int) -> list[Pair]:
    """Whole duplicate clusters, drawn by seed, until `size` pairs are reached; 0: all."""
    if not size:
        return list(pairs)
    numbers = sorted({pair.cluster or 0 for pair in pairs})
    random.Random(seed).shuffle(numbers)
    members: dict[int, list[Pair]] = {}
    for pair in pairs:
        members.setdefault(pair.cluster or 0, []).append(pair)
    out: list[Pair] = []
    for number in numbers:
        if len(out) + len(members[number]) <= size:
            out += members[number]
    return out


def load(data: Path, corpus: Corpus, split: str) -> list[Pair]:
    """A split's pairs with their clusters."""
    records = corpora.read(data / corpus / f"{split}.tsv", "paranmt" if corpus == "paranmt" else "pairs")
    return corpora.clusters(record for record in records if isinstance(record, Pair))

"""ParaBART's Table 3: three paraphrases of Quora-Easy and three of Quora-Hard, drawn by a seed, with their cosines.

    paraform reproduce parabart/table3 --scale small --data ../shared/data --out runs/parabart

Rows, seeds and running time: parabart/table1.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from paraform.evaluation.embedding.detection import PairSet
from paraform.evaluation.embedding.space import Space
from paraform.evaluation.embedding.task import Task
from paraform_papers.parabart.table4 import pair_sets
from paraform_papers.parabart.vectors_table import vectors_table

SETS = ("Quora-Easy", "Quora-Hard")
PAIRS = 3
SEED = 0


def tasks(data: Path, size: int) -> list[Task]:
    """Quora's halves."""
    return [one for one in pair_sets(data, size) if one.name in SETS]


def examples(sets: Sequence[Task], spaces: Sequence[Space]) -> str:
    """The pairs, and below each the systems with their cosines."""
    lines = []
    for one in sets:
        if not isinstance(one, PairSet):
            continue
        same = [pair for pair in one.pairs if pair.label == 1]
        for pair in random.Random(SEED).sample(same, min(PAIRS, len(same))):
            lines += [f"{one.name}: {pair.source.text}", f"{'':{len(one.name)}}  {pair.target.text}"]
            for space in spaces:
                cosine = space.similarity([pair.source.text], [pair.target.text])[0]
                lines.append(f"    {cosine:.3f}  {space.name}")
    return "\n".join(lines)


TABLE = vectors_table("table3", "Table 3: pairs to read", tasks, lambda score: False, text=examples)

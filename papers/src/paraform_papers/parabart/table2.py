"""ParaBART's Table 2: syntactic probing, accuracy on the test part.

    paraform reproduce parabart/table2 --scale small --data ../shared/data --out runs/parabart

The sets are re-created from treebanks unless SentEval's own files lie in the data. Two probes: ours, on standardised
coordinates, and SentEval's as its code behaves ("paper"). Rows, seeds and running time: parabart/table1.
"""

from __future__ import annotations

from pathlib import Path

from paraform.evaluation.embedding.probing import ProbingSet, probing_sets
from paraform.score import Score
from paraform_papers.parabart.vectors_table import vectors_table


def tasks(data: Path, size: int) -> list[ProbingSet]:
    """Every probing set, by both probes."""
    return probing_sets(data / "treebank", protocols=("default", "paper"))


def keep(score: Score) -> bool:
    """Accuracy on the test part."""
    return score.name == "accuracy"


TABLE = vectors_table("table2", "Table 2: syntactic probing", tasks, keep)

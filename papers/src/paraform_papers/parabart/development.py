"""What chose among ParaBART's rows: their figures on development sets; no table of the paper has these.

    paraform reproduce parabart/development --scale small --data ../shared/data --out runs/parabart

Pearson on the development parts of the STS Benchmark and of SICK, ROC AUC on the half of PAWS that chooses, MRR on
Quora's. How much form is left in validation sentences: parabart/table5. Rows, seeds and running time: parabart/table1.
"""

from __future__ import annotations

from pathlib import Path

from paraform.evaluation.embedding.correlation import MEAN
from paraform.evaluation.embedding.development import read_development
from paraform.evaluation.embedding.task import Task
from paraform.score import Score
from paraform_papers.parabart.vectors_table import vectors_table


def tasks(data: Path, size: int) -> list[Task]:
    """The sets that `--development` reads."""
    return [task for task, _ in read_development(data).sets]


def keep(score: Score) -> bool:
    """Of each set the figure that chooses."""
    return (score.name, score.protocol) == ("Pearson", MEAN) or score.name in ("AUC", "MRR")


TABLE = vectors_table("development", "development sets, which chose among rows", tasks, keep)

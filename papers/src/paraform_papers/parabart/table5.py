"""ParaBART's Table 5: syntactic probing, accuracy on the validation part, as Table 2.

    paraform reproduce parabart/table5 --scale small --data ../shared/data --out runs/parabart

Rows, seeds and running time: parabart/table1; sets and probes: parabart/table2.
"""

from __future__ import annotations

from paraform.score import Score
from paraform_papers.parabart.table2 import tasks
from paraform_papers.parabart.vectors_table import vectors_table


def keep(score: Score) -> bool:
    """Accuracy on the validation part."""
    return score.name == "validation"


TABLE = vectors_table("table5", "Table 5: syntactic probing, validation", tasks, keep)

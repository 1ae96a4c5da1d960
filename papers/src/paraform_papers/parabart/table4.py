"""ParaBART's Table 4: telling Quora's paraphrases of the same and of another form from other pairs.

    paraform reproduce parabart/table4 --scale small --data ../shared/data --out runs/parabart

Easy: the same top-level constituents, Hard: others. By the paper's protocol (a threshold tuned on the test pairs), by
an honest one (tuned on other pairs), and by average precision, which needs none. Beyond the paper: the halves of PAN,
MRPC and PAWS, and ROC AUC; of PAWS only the pairs that chose nothing. Rows, seeds and running time: parabart/table1.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from paraform.evaluation.embedding.detection import PairSet
from paraform.evaluation.embedding.development import PAWS, OrderSet, paws_halves
from paraform.evaluation.embedding.robustness import robustness_sets
from paraform.evaluation.embedding.task import Choices, Task
from paraform.score import Score
from paraform_papers.parabart.vectors_table import vectors_table


def pair_sets(data: Path, size: int) -> list[Task]:
    """The halves of PAN, MRPC and Quora; those of PAWS from the pairs that chose no checkpoint."""
    draw = Choices(size)
    found = [one for one in robustness_sets(data, draw) if isinstance(one, PairSet)]
    if not (data / PAWS).is_file():
        return list(found)
    with tempfile.TemporaryDirectory() as scratch:  # a file of these, which is read as any labelled one
        file = Path(scratch) / "PAWS.tsv"
        rows = [
            f"{pair.source.text}\t{pair.target.text}\t{pair.label}\n" for pair in paws_halves(data / PAWS).reporting
        ]
        file.write_text("sentence1\tsentence2\tlabel\n" + "".join(rows), encoding="utf-8")
        kept = [one for one in robustness_sets(file, draw) if isinstance(one, PairSet)]
    return [*(one for one in found if not one.name.startswith("PAWS")), *kept]


def tasks(data: Path, size: int) -> list[Task]:
    """Those, and all pairs of that half of PAWS."""
    found = pair_sets(data, size)
    if (data / PAWS).is_file():
        found.append(OrderSet("PAWS dev, reporting half", paws_halves(data / PAWS).reporting))
    return found


def keep(score: Score) -> bool:
    """All of them."""
    return True


TABLE = vectors_table("table4", "Table 4: paraphrases of the same form and of another", tasks, keep)

"""ParaBART's Table 1: semantic similarity, full, without the adversary, and without adversary and syntax.

    paraform reproduce parabart/table1 --scale small --data ../shared/data --out runs/parabart --seed 0

From two starts: the offline encoder (`minilm`) and its first three layers (`minilm3`); rows that go beyond the paper
are trained where they are asked for: --row "minilm default" "minilm contrast". Rows of all seeds in OUT are measured.
Every sentence of an evaluation set is left out of training, and development sets choose (`--development`).
Running time at scale small: 10 to 20 minutes a row on one core. Figures: docs/results/parabart.md.
"""

from __future__ import annotations

from pathlib import Path

from paraform.evaluation.embedding.correlation import MEAN
from paraform.evaluation.embedding.similarity import SimilaritySet, set_means, similarity_sets
from paraform.evaluation.embedding.task import Finding
from paraform.score import Score
from paraform_papers.parabart.vectors_table import vectors_table


def tasks(data: Path, size: int) -> list[SimilaritySet]:
    """STS12 to 16, STS-B and SICK-R."""
    return similarity_sets(data)


def means(findings: list[Finding]) -> list[Finding]:
    """The paper's mean of six, and SimCSE's of seven."""
    return set_means([one for one in findings if keep(one.score)])


def keep(score: Score) -> bool:
    """Pearson, mean over domains, as the paper has it."""
    return (score.name, score.protocol) == ("Pearson", MEAN)


TABLE = vectors_table("table1", "Table 1: semantic similarity", tasks, keep, more=means)

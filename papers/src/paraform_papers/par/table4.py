"""PAR's Table 4: mean distances of shared words in paraphrases and in non-paraphrases of test splits, before and after.

    paraform reproduce par/table4 --scale small --data ../shared/data --out runs/par

MRPC, PAN and Quora, whose non-paraphrases are mined; each twice, as Table 2's sets: whole, and ("unseen") without the
pairs that have a sentence of any training file. Beside the means their ratio, which no rescaling changes, and of
each row ‖I − MᵀM‖_F and M's singular values. Rows, seeds and running time: par/table1.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from paraform.evaluation.embedding.distance_report import SHAPE, distance_findings, matrix_findings
from paraform.evaluation.embedding.distances import WordSystem, fitting_all, measure_distances
from paraform.evaluation.embedding.shared_words import SharedDraw, shared_word_sets
from paraform.evaluation.embedding.task import Finding
from paraform.score import Score
from paraform_papers.par.configs import SIZES
from paraform_papers.par.models import Model
from paraform_papers.par.rows import models_table, training_texts
from paraform_papers.par.unseen import unseen_words
from paraform_papers.tables import Asked, printed

NAMES = ("L2", "cosine", "L2 ratio", "cosine ratio", *SHAPE)
SETS = ("MRPC", "Quora", "PAN")
PRINTED = {
    "ELMo (all layers), printed": ((3.35, 3.97), (3.17, 4.42), (4.03, 6.26)),
    "ELMo-PAR (union), printed": ((1.80, 4.73), (1.34, 5.49), (1.21, 6.54)),
}


def published() -> tuple[Score, ...]:
    """The paper's, of ELMo, whose unit is another one; its ratios made of them."""
    about, found = "the paper's own setting", []
    for system, sets in PRINTED.items():
        for name, (same, other) in zip(SETS, sets, strict=True):
            others = f"{name}, {'mined others' if name == 'Quora' else 'others'}"
            found.append(printed("L2", same, about, system, subset=f"{name}, paraphrases"))
            found.append(printed("L2", other, about, system, subset=others))
            found.append(printed("L2 ratio", same / other, about, system, subset=f"{name}, paraphrases"))
    return tuple(found)


def find(asked: Asked, models: list[Model]) -> tuple[list[Finding], str]:
    """Each set, whole and unseen, and what M is. Raises: as `shared_word_sets`."""
    systems = [model.words() for model in models]
    findings = distances(asked.data, systems, SIZES[asked.scale].measured, training_texts(asked.data))
    findings += [finding for system in systems for finding in matrix_findings(system)]
    return [one for one in findings if one.score.name in NAMES], ""


def distances(data: Path, systems: Sequence[WordSystem], size: int, known: Sequence[str] = ()) -> list[Finding]:
    """Of each set; and of those without sentences that are known.

    Args:
        size: pairs of each kind whose shared words are measured; 0: all.
    """
    drawn = shared_word_sets(data, SharedDraw(size=size), fitting=fitting_all(systems))
    sets = [one for one in drawn if one.name in SETS]
    found = [
        finding
        for one in (*sets, *unseen_words(sets, known))
        for system in systems
        for finding in distance_findings(one, system, measure_distances(one, system))
    ]
    return [one for one in found if "–" not in one.score.subset]


TABLE = models_table("table4", "Table 4: distances of shared words", find, published())

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
from paraform.evaluation.embedding.distances import fitting_all, measure_distances
from paraform.evaluation.embedding.shared_words import SharedDraw, shared_word_sets
from paraform.score import Score
from paraform_papers.par.configs import SIZES, Scale
from paraform_papers.par.measured import ParTable, finished, trained
from paraform_papers.par.rows import training_texts
from paraform_papers.par.unseen import unseen_words

NAMES = ("L2", "cosine", "L2 ratio", "cosine ratio", *SHAPE)
SETS = ("MRPC", "Quora", "PAN")
PRINTED = {
    "ELMo (all layers), printed": ((3.35, 3.97), (3.17, 4.42), (4.03, 6.26)),
    "ELMo-PAR (union), printed": ((1.80, 4.73), (1.34, 5.49), (1.21, 6.54)),
}


def published() -> list[Score]:
    """The paper's, of ELMo, whose unit is another one; its ratios made of them."""
    about, found = "as printed, of the paper's own setting", []
    for system, sets in PRINTED.items():
        for name, (same, other) in zip(SETS, sets, strict=True):
            others = f"{name}, {'mined others' if name == 'Quora' else 'others'}"
            found.append(Score("L2", same, about, system, subset=f"{name}, paraphrases"))
            found.append(Score("L2", other, about, system, subset=others))
            found.append(Score("L2 ratio", same / other, about, system, subset=f"{name}, paraphrases"))
    return found


def run(
    *,
    scale: Scale = "smoke",
    data: Path = Path("../shared/data"),
    out: Path = Path("runs/par"),
    rows: Sequence[str] = (),
    seed: int = 0,
    device: str | None = None,
) -> ParTable:
    """Train, measure, and write table4.md. Raises: as `trained`, and as `shared_word_sets`."""
    models = trained(rows, scale, data, out, seed, device)
    systems = [model.words() for model in models]
    draw = SharedDraw(size=SIZES[scale].measured)
    sets = [one for one in shared_word_sets(data, draw, fitting=fitting_all(systems)) if one.name in SETS]
    sets += unseen_words(sets, training_texts(data))
    findings = [
        finding
        for one in sets
        for system in systems
        for finding in distance_findings(one, system, measure_distances(one, system))
    ]
    findings += [finding for system in systems for finding in matrix_findings(system)]
    kept = [one for one in findings if one.score.name in NAMES and "–" not in one.score.subset]
    return finished(kept, models, scale, out, "table4", published=published())

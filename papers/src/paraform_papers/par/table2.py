"""PAR's Table 2: sentence classification, similarity and relatedness, and what probes find, before and after.

    paraform reproduce par/table2 --scale small --data ../shared/data --out runs/par

Each set twice: whole, and ("unseen") without the sentences that stand in the training file of any corpus, the same for
all rows. No figure on MRPC of a row that was trained on it. Rows, seeds and running time: par/table1; measuring takes
minutes more a row at scale small.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from paraform.evaluation.embedding.correlation import MEAN
from paraform.evaluation.embedding.families import read_families
from paraform.evaluation.embedding.measuring import measured, spaces_of
from paraform.evaluation.embedding.task import Choices
from paraform.score import Score
from paraform_papers.par.configs import SIZES, Scale, trained_on
from paraform_papers.par.measured import Model, ParTable, finished, trained
from paraform_papers.par.rows import training_texts
from paraform_papers.par.unseen import unseen_tasks

FAMILIES = ("transfer", "similarity", "probing")


def keep(score: Score, models: Sequence[Model]) -> bool:
    """Accuracy; Pearson, of cosines as the mean over domains; and nothing on what a row was trained on."""
    rows = {model.name: model.row for model in models}
    row = rows.get(score.system)
    if score.subset.partition(",")[0] == "MRPC" and row is not None and "mrpc" in trained_on(row):
        return False
    return score.name == "accuracy" or (score.name == "Pearson" and score.protocol in (MEAN, "default"))


def run(
    *,
    scale: Scale = "smoke",
    data: Path = Path("../shared/data"),
    out: Path = Path("runs/par"),
    rows: Sequence[str] = (),
    seed: int = 0,
    device: str | None = None,
) -> ParTable:
    """Train, measure, and write table2.md. Raises: as `trained`, and as `read_families`."""
    models = trained(rows, scale, data, out, seed, device)
    families = read_families(data, FAMILIES, Choices(trained=scale != "smoke"))
    most = SIZES[scale].most
    tasks = (families if most is None else families.limited(most)).tasks
    tasks += unseen_tasks(tasks, training_texts(data))
    spaces = spaces_of(tasks, [model.sentences(out / "vectors") for model in models], words=False)
    findings = [one for one in measured(tasks, spaces) if keep(one.score, models)]
    return finished(findings, models, scale, out, "table2")

"""PAR's Table 2: sentence classification, similarity and relatedness, and what probes find, before and after.

    paraform reproduce par/table2 --scale small --data ../shared/data --out runs/par

Each set twice: whole, and ("unseen") without the sentences that stand in the training file of any corpus, the same for
all rows. No figure on MRPC of a row that was trained on it. Rows, seeds and running time: par/table1; measuring takes
minutes more a row at scale small.
"""

from __future__ import annotations

from collections.abc import Sequence

from paraform.evaluation.embedding.correlation import MEAN
from paraform.evaluation.embedding.families import read_families
from paraform.evaluation.embedding.measuring import measured, spaces_of
from paraform.evaluation.embedding.task import Choices, Finding
from paraform.score import Score
from paraform_papers.par.configs import SIZES, trained_on
from paraform_papers.par.models import Model
from paraform_papers.par.rows import models_table, training_texts
from paraform_papers.par.unseen import unseen_tasks
from paraform_papers.tables import Asked

FAMILIES = ("transfer", "similarity", "probing")


def keep(score: Score, models: Sequence[Model]) -> bool:
    """Accuracy; Pearson, of cosines as the mean over domains; and nothing on what a row was trained on."""
    rows = {model.name: model.row for model in models}
    row = rows.get(score.system)
    if score.subset.partition(",")[0] == "MRPC" and row is not None and "mrpc" in trained_on(row):
        return False
    return score.name == "accuracy" or (score.name == "Pearson" and score.protocol in (MEAN, "default"))


def find(asked: Asked, models: list[Model]) -> tuple[list[Finding], str]:
    """Each set, whole and unseen. Raises: as `read_families`."""
    families = read_families(asked.data, FAMILIES, Choices(trained=asked.scale != "smoke"))
    most = SIZES[asked.scale].most
    tasks = (families if most is None else families.limited(most)).tasks
    tasks += unseen_tasks(tasks, training_texts(asked.data))
    spaces = spaces_of(tasks, [model.sentences(asked.out / "vectors") for model in models], words=False)
    return [one for one in measured(tasks, spaces) if keep(one.score, models)], ""


TABLE = models_table("table2", "Table 2: classification, similarity and probing", find)

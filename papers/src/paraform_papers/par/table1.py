"""PAR's Tables 1 and 5: shared words of the printed pairs, before and after.

    paraform reproduce par/table1 --scale small --data ../shared/data --out runs/par --seed 0

A row is a corpus (mrpc, pan, quora, union) and a variant (default, paper, reference, exact, free, free after,
whitening, contrast …): --row "mrpc default" "union contrast"; before it may stand a start (`configs`): --row "smollm2
mrpc further". Those of all seeds in OUT are measured, beside the encoder's top layer and the mean of all its layers;
rows whose `states` are all layers by that mean.
Running time at scale small: five to ten minutes a row on one core. Expected figures: docs/results/par.md.
"""

from __future__ import annotations

from paraform.evaluation.embedding.printed_pairs import example_distances, example_lines
from paraform.evaluation.embedding.task import Finding
from paraform.score import Score
from paraform_papers.par.models import Model
from paraform_papers.par.rows import models_table
from paraform_papers.tables import Asked


def find(asked: Asked, models: list[Model]) -> tuple[list[Finding], str]:
    """Distances of the words of each printed pair; and Table 5."""
    systems = [model.words() for model in models]
    found = {system.name: example_distances(system) for system in systems}
    findings = [
        Finding(Score(name, value, system.signature, system.name, subset=f"{at}: {'–'.join(dict.fromkeys(one.words))}"))
        for system in systems
        for at, one in enumerate(found[system.name], start=1)
        for name, value in (("L2", one.l2), ("cosine", one.cosine))
    ]
    header, *body = example_lines(found)
    return findings, "\n".join(f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *body))


TABLE = models_table("table1", "Tables 1 and 5: shared words of the printed pairs", find)

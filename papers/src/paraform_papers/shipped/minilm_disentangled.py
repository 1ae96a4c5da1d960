"""The embedded model `minilm-disentangled`: `minilm` trained to keep meaning, drop form, and not forget word order.

    python -m paraform_papers.shipped.minilm_disentangled ../shared/data --out runs/minilm-disentangled

It trains the row "minilm default" of ParaBART's tables, packs what was changed of `minilm` in four bits a weight,
measures what is made whole of that, and writes OUT/minilm-disentangled. Interrupted, it goes on. Running time: half an
hour on one core. Expected figures: docs/results/parabart.md.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch

from paraform import checkpoint, encoders, manifest
from paraform.encoders.folder import WEIGHTS, ModelFolder
from paraform.encoders.packed import pack, unpacked
from paraform.evaluation.embedding.measuring import measured, spaces_of, system_of
from paraform.evaluation.embedding.probing import probing_sets
from paraform.evaluation.embedding.task import Finding, Task
from paraform.score import Score
from paraform.weights import load_tensors
from paraform_papers.parabart import table1 as parabart_table1
from paraform_papers.parabart import table2 as parabart_table2
from paraform_papers.parabart import table4 as parabart_table4
from paraform_papers.parabart.configs import SIZES
from paraform_papers.parabart.rows import row_of
from paraform_papers.rows import train_row
from paraform_papers.tables import Asked, Scale
from paraform_papers.vectors_on_disk import kept as kept_vectors

NAME, ROW = "minilm-disentangled", "minilm default"
CARD = Path(__file__).parent / "cards" / f"{NAME}.md"


def finish(run: Path, data: Path, out: Path, scale: Scale, base: str = "minilm") -> str:
    """Pack the best checkpoint of a run, measure it beside what it started from, and write OUT/NAME with its card."""
    for folder in (out / "whole", out / NAME):
        shutil.rmtree(folder, ignore_errors=True)
    model = checkpoint.load(str(run), device="cpu")
    start = encoders.locate(base)
    pack(model.export(out / "whole"), start, out / NAME, name=base)
    made = unpacked(ModelFolder(out / NAME), start)
    four_bits, low_rank = shares_kept(start, out / "whole", made)
    scores = figures(data, scale, {"minilm": base, NAME: str(made)}, out / "vectors")
    card = CARD.read_text(encoding="utf-8").format(
        row=ROW,
        size=sum(file.stat().st_size for file in (out / NAME).rglob("*") if file.is_file()) / 1e6,
        commit=(manifest.read(run / "best").git or "unknown")[:7],
        four_bits=four_bits,
        low_rank=low_rank,
        table=side_by_side(scores),
    )
    (out / NAME / "README.md").write_text(card, encoding="utf-8")
    return card


def shares_kept(base: Path, whole: Path, made: Path) -> tuple[float, float]:
    """Of the squared change of all matrices: what four bits keep, and what half-precision factors of that size would.

    A matrix of R rows and C columns takes R C / 2 bytes; so do factors of rank R C / (4 (R + C)).
    """
    start, own, packed = (load_tensors(folder / WEIGHTS) for folder in (base, whole, made))
    total = lost = low = 0.0
    for name, tensor in own.items():
        change = tensor.float() - start[name].float()
        if change.ndim == 2 and change.any():
            rows, columns = change.shape
            squares = torch.linalg.svdvals(change).square()
            total += float(squares.sum())
            low += float(squares[: rows * columns // (4 * (rows + columns))].sum())
            lost += float((tensor - packed[name]).square().sum())
    return 1 - lost / total, low / total


def figures(data: Path, scale: Scale, models: dict[str, str], vectors: Path) -> list[Score]:
    """Of each model the means of similarity, what a probe reads, and how pairs are told apart; vectors are kept."""
    size = SIZES[scale]
    sets: list[Task] = [*parabart_table1.tasks(data, size.size), *parabart_table4.tasks(data, size.size)]
    sets += probing_sets(data / "treebank")
    if size.most is not None:
        sets = [task.limited(size.most) for task in sets]
    encoders_of = {name: replace(encoders.load(place, device="cpu"), name=name) for name, place in models.items()}
    systems = [system_of(name, model) for name, model in encoders_of.items()]
    systems = [one._replace(embed=kept_vectors(one.embed, one.signature, vectors)) for one in systems]
    findings = measured(sets, spaces_of(sets, systems, words=False))
    return [one.score for one in kept(findings)]


def side_by_side(scores: Sequence[Score]) -> str:
    """A row a figure and set, a column a model; below, what each figure's settings are."""
    systems = list(dict.fromkeys(score.system for score in scores))
    rows: dict[tuple[str, str], dict[str, Score]] = {}
    for score in scores:
        name = ", ".join(part for part in (score.name, score.protocol) if part)
        rows.setdefault((name, score.subset), {})[score.system] = score
    lines = [["figure", "set", *systems], ["---", "---", *("---:" for _ in systems)]]
    lines += [[*row, *(f"{by[system].value:.1f}" for system in systems)] for row, by in rows.items()]
    settings = {
        f"- {name}, {subset}: `{score.signature.partition('|similarity:')[0]}`"
        for (name, subset), by in rows.items()
        for score in by.values()
    }
    return "\n".join(["| " + " | ".join(line) + " |" for line in lines] + ["", *sorted(settings)])


def kept(findings: Sequence[Finding]) -> list[Finding]:
    """What the card says."""
    similar = [one for one in findings if parabart_table1.keep(one.score)]
    return [
        *parabart_table1.means(similar),
        *(one for one in findings if parabart_table2.keep(one.score) and one.score.protocol == "default"),
        *(one for one in findings if one.score.name in ("AP", "AUC")),
    ]


def main() -> None:
    """Train (or go on), then `finish`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--scale", choices=("smoke", "small", "long"), default="small")
    options = parser.parse_args()
    row = row_of(ROW, Asked(options.scale, data=options.data, out=options.out / "runs", device="cpu"))
    train_row(row)
    print(finish(row.folder, options.data, options.out, options.scale))


if __name__ == "__main__":
    main()

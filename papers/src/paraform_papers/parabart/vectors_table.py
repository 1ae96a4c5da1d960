"""Measuring the rows of ParaBART's tables, those of every seed that are there, beside what they started from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from paraform import checkpoint
from paraform.evaluation.bootstrap import Comparison
from paraform.evaluation.embedding.measuring import (
    System,
    bounded,
    differences_of,
    measured,
    spaces_of,
    system_of,
)
from paraform.evaluation.embedding.task import Finding, Task
from paraform.score import Score
from paraform_papers.parabart.configs import CAME, COMPARED, RIVALS, SIZES, STARTS, UNTRAINED, name_of, rows_of
from paraform_papers.parabart.rows import EVALUATION, FILES, row_of
from paraform_papers.rows import Row, loaded
from paraform_papers.tables import Asked, Figures, Table, as_json
from paraform_papers.vectors_on_disk import kept


def systems_of(asked: Asked, rows: Sequence[Row]) -> list[System]:
    """The starts of the rows that are asked for, and the rows of every seed that are trained; vectors are kept."""
    begun = {row.name.partition(" ")[0] for row in rows_asked(asked)}
    places = {f"{start} {CAME}": name_of(start) for start in STARTS if start in begun}
    models: dict[str, Any] = {name: checkpoint.load(place, device=asked.device) for name, place in places.items()}
    models |= {row.label: loaded(row, asked.device) for row in rows}
    for row in rows:
        if row.name in RIVALS:
            random = f"{row.folder}@weights=random,seed={row.seed}"
            models[f"{row.name} {UNTRAINED}, seed {row.seed}"] = checkpoint.load(random, device=asked.device)
    systems = [system_of(name, model) for name, model in models.items()]
    return [one._replace(embed=kept(one.embed, one.signature, asked.out / "vectors")) for one in systems]


def rows_asked(asked: Asked) -> list[Row]:
    """The rows that are asked for; if none is, the paper's own."""
    return [row_of(name, asked) for name in asked.rows or rows_of(asked.scale)]


def vectors_table(
    name: str,
    title: str,
    tasks: Callable[[Path, int], Sequence[Task]],
    keep: Callable[[Score], bool],
    *,
    more: Callable[[list[Finding]], list[Finding]] = lambda findings: [],
    text: Callable[[Sequence[Task], Sequence[Any]], str] = lambda tasks, spaces: "",
) -> Table:
    """A table of rows of every seed, beside what they started from.

    Args:
        tasks: what is measured, of the data's folder and so many paraphrases a set.
        keep: the figures that the table has.
        more: figures made of others.
        text: examples to read.
    """

    def measure(asked: Asked, rows: Sequence[Row]) -> Figures:
        size = SIZES[asked.scale]
        sets = list(tasks(asked.data, size.size))
        if size.most is not None:
            sets = [task.limited(size.most) for task in sets]
        spaces = spaces_of(sets, systems_of(asked, rows), words=False)
        findings = measured(sets, spaces)
        findings += more(findings)
        findings = [one for one in findings if keep(one.score)]
        apart, read = compared(findings, size.resamples), text(sets, spaces)
        beside = {"differences": as_json(apart), "examples": read}
        lines = (*map(str, apart), *over_seeds(apart))
        return Figures(tuple(bounded(findings, size.resamples)), beside, lines, read, by_set=True)

    data = (*(file for file, _ in FILES.values()), *EVALUATION, "treebank")
    return Table(f"parabart/{name}", f"ParaBART's {title}", SIZES, rows_asked, measure, data, every_seed=True)


def over_seeds(differences: Iterable[Comparison]) -> list[str]:
    """Of rows that several seeds have, a line for each difference: of each seed, their mean and standard deviation."""
    groups: dict[tuple[str, str], list[tuple[str, Comparison]]] = {}
    for one in differences:
        first, _, seed = one.first.rpartition(", seed ")
        place = ", ".join(part for part in (one.subset, one.name, one.protocol) if part)
        second = one.second.removesuffix(f", seed {seed}")
        groups.setdefault((place, f"{first} − {second}"), []).append((seed, one))
    lines = []
    for (place, rows), several in groups.items():
        if len(several) > 1:
            values = [one.difference for _, one in several]
            digits = several[0][1].digits
            each = ", ".join(f"{value:+z.{digits}f}" for value in values)
            seeds = " and ".join((", ".join(seed for seed, _ in several[:-1]), several[-1][0]))
            spread = f"mean {mean(values):+z.{digits}f}, standard deviation {stdev(values):.{digits}f}"
            lines.append(f"{place}: {rows}, seeds {seeds}: {each}; {spread}")
    return lines


def compared(findings: Sequence[Finding], resamples: int) -> list[Comparison]:
    """What `COMPARED` names, of one start and seed, where both are there; and rivals with themselves untrained."""
    there = list(dict.fromkeys(one.score.system for one in findings))
    found = []
    for system in there:
        start, _, rest = system.partition(" ")
        part, _, seed = rest.rpartition(", seed ")
        for one, other in COMPARED:
            rival = f"{start} {other}" if other == CAME else f"{start} {other}, seed {seed}"
            if part == one and rival in there:
                found += differences_of(findings, [system, rival], resamples)
        row, _, seed = system.partition(", seed ")
        if row in RIVALS:
            found += differences_of(findings, [system, f"{row} {UNTRAINED}, seed {seed}"], resamples)
    return found

"""Measuring the rows of ParaBART's tables, those of every seed that are there, beside what they started from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean, stdev
from typing import Any, Literal

from paraform import checkpoint
from paraform.encoders import Encoder
from paraform.evaluation.bootstrap import Comparison
from paraform.evaluation.embedding.measuring import (
    Difference,
    System,
    bounded,
    differences_of,
    measured,
    spaces_of,
    system_of,
)
from paraform.evaluation.embedding.task import Finding, Task
from paraform.records import InputError
from paraform.score import Score, table
from paraform.weights import atomic_path
from paraform_papers.parabart.configs import (
    CAME,
    COMPARED,
    RIVALS,
    SIZES,
    STARTS,
    UNTRAINED,
    Scale,
    config_of,
    name_of,
    rows_of,
)
from paraform_papers.parabart.rows import folder_of, is_done, train_row
from paraform_papers.vectors_on_disk import kept

Keep = Callable[[Score], bool]


@dataclass(frozen=True)
class Table:
    """A table's figures, differences of its rows, and what its examples say, if it has any."""

    scores: tuple[Score, ...]
    text: str = ""
    differences: tuple[Difference, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """A JSON object: `scores`, each with its settings, `differences` and `examples`."""
        return {
            "scores": [score.to_json() for score in self.scores],
            "differences": [one.to_json() for one in self.differences],
            "examples": self.text,
        }

    def table(self, style: Literal["plain", "markdown"] = "markdown") -> str:
        """The figures, with a column for each set."""
        turned, systems = [], dict[str, str]()
        for one in self.scores:
            of_set, _, of_system = one.signature.partition("|similarity:")
            protocol = ", ".join(part for part in (one.name, one.protocol) if part)
            turned.append(replace(one, name=one.subset, subset="all", protocol=protocol, signature=of_set))
            systems[one.system] = f"similarity:{of_system}"
        mark = "- {}: `{}`" if style == "markdown" else "{}: {}"
        notes = "\n".join(mark.format(*note) for note in systems.items())
        apart = "\n".join(f"- {one}" for one in (*self.differences, *over_seeds(self.differences)))
        return "\n\n".join(part for part in (table(turned, style) if turned else "", notes, apart, self.text) if part)


def systems_of(rows: Iterable[str], scale: Scale, out: Path, device: str | None) -> list[System]:
    """The starts of these rows, and the rows of every seed that are trained; vectors are kept."""
    chosen = list(rows)
    known: dict[str, str | Path] = {}
    for start in STARTS:
        if any(row.startswith(f"{start} ") for row in chosen):
            known[f"{start} {CAME}"] = name_of(start)
    for seed in sorted(int(place.name.removeprefix("seed-")) for place in (out / scale).glob("seed-*")):
        there = {row: folder_of(row, scale, out, seed) for row in chosen}
        known |= {f"{row}, seed {seed}": place for row, place in there.items() if is_done(row, scale, out, seed)}
        for row in RIVALS:
            if f"{row}, seed {seed}" in known:
                known[f"{row} {UNTRAINED}, seed {seed}"] = f"{there[row]}@weights=random,seed={seed}"
    systems = []
    for name, place in known.items():
        encoder = Path(place) / "encoder"
        model: Any = checkpoint.load(str(encoder if encoder.is_dir() else place), device=device)
        if isinstance(model, Encoder) and encoder.is_dir():
            model = replace(model, name=name)  # signatures name no folder of this machine
        system = system_of(name, model)
        systems.append(system._replace(embed=kept(system.embed, system.signature, out / "vectors")))
    return systems


def run_table(
    tasks: Callable[[Path, int], Sequence[Task]],
    keep: Keep,
    *,
    more: Callable[[list[Finding]], list[Finding]] = lambda findings: [],
    text: Callable[[Sequence[Task], Sequence[Any]], str] = lambda tasks, spaces: "",
    scale: Scale = "smoke",
    data: Path = Path("../shared/data"),
    out: Path = Path("runs/parabart"),
    rows: Sequence[str] = (),
    seed: int = 0,
    device: str | None = None,
    name: str = "table",
) -> Table:
    """Train rows of one seed (those begun go on), measure them and those of other seeds, and write NAME.md.

    Args:
        tasks: what is measured, of the data's folder and so many paraphrases a set.
        keep: the figures that the table has.
        more: figures made of others.
        text: examples to read.
        rows: some of `ROWS`; (): the paper's own.
    Raises: InputError for no scale or row, or data that cannot be read; KeyboardInterrupt if interrupted, and saved.
    """
    if scale not in SIZES:
        raise InputError(f"--scale {scale}: ParaBART's tables have {', '.join(SIZES)}")
    chosen = tuple(rows) or rows_of(scale)
    for row in chosen:
        config_of(row, scale)  # all are known, before the first is trained
    for row in chosen:
        train_row(row, scale, data, out, seed=seed, device=device or "auto")
    size = SIZES[scale]
    sets = list(tasks(data, size.size))
    if size.most is not None:
        sets = [task.limited(size.most) for task in sets]
    spaces = spaces_of(sets, systems_of(chosen, scale, out, device), words=False)
    findings = measured(sets, spaces)
    findings += more(findings)
    findings = [one for one in findings if keep(one.score)]
    differences = compared(findings, size.resamples)
    found = Table(tuple(bounded(findings, size.resamples)), text(sets, spaces), tuple(differences))
    with atomic_path(out / scale / f"{name}.md") as unfinished:
        unfinished.write_text(found.table() + "\n", encoding="utf-8")
    return found


def over_seeds(differences: Iterable[Difference]) -> list[str]:
    """Of rows that several seeds have, a line for each difference: of each seed, their mean and standard deviation."""
    groups: dict[tuple[str, str], list[tuple[str, Comparison]]] = {}
    for subset, one in differences:
        first, _, seed = one.first.rpartition(", seed ")
        place = ", ".join(part for part in (subset, one.name, one.protocol) if part)
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


def compared(findings: Sequence[Finding], resamples: int) -> list[Difference]:
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

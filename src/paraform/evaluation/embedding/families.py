"""What a data folder has to measure vectors on, by families: similarity, transfer, probing and so on."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypeVar

from paraform.corpora import clusters, read_pairs
from paraform.corpora.probing import FILES as PROBING
from paraform.corpora.senteval import LAYOUTS
from paraform.corpora.sts import INPUT
from paraform.evaluation.embedding.detection import PairSet
from paraform.evaluation.embedding.matching import ContentMatching, StyleRetrieval, style_retrieval
from paraform.evaluation.embedding.probing import ProbingSet, probing_sets
from paraform.evaluation.embedding.regression import RegressionSet, regression_sets
from paraform.evaluation.embedding.retrieval import RetrievalSet
from paraform.evaluation.embedding.robustness import FILES as ROBUSTNESS
from paraform.evaluation.embedding.robustness import Draw, robustness_sets
from paraform.evaluation.embedding.similarity import FILES as SIMILARITY
from paraform.evaluation.embedding.similarity import SimilaritySet, Splits, similarity_sets
from paraform.evaluation.embedding.task import Task
from paraform.evaluation.embedding.transfer import TransferSet, transfer_sets
from paraform.records import InputError, Pair
from paraform.syntax.running import DEFAULT
from paraform.weights import PathLike

Row = TypeVar("Row")

FAMILIES = {  # and the command that measures the same by itself
    "similarity": "evaluate similarity",
    "transfer": "evaluate transfer",
    "probing": "evaluate probing",
    "robustness": "evaluate robustness",
    "retrieval": "evaluate robustness",
    "style": "evaluate style",
}
QUORA = ("quora", "test.tsv")
"""The folder and the file that content matching and style retrieval are measured on."""


class Family(NamedTuple):
    """Tasks of one kind.

    Args:
        name: one of `FAMILIES`.
        data: what the command that measures it by itself takes as --data.
        options: further options by which that command gives the same figures, as they are typed.
    """

    name: str
    tasks: tuple[Task, ...]
    data: str
    options: str = ""


@dataclass(frozen=True, slots=True)
class Families:
    """The families that a folder has data for.

    Args:
        left_out: of each other one that was asked for, what was expected.
    """

    found: tuple[Family, ...]
    left_out: dict[str, str]

    @property
    def tasks(self) -> list[Task]:
        """Of all of them, so that each different text is encoded once."""
        return [task for family in self.found for task in family.tasks]

    def limited(self, most: int) -> Families:
        """The same with `limited` tasks."""
        tasks = ((family, tuple(limited(task, most) for task in family.tasks)) for family in self.found)
        return replace(self, found=tuple(family._replace(tasks=some) for family, some in tasks))


def read_families(
    folder: PathLike,
    names: Sequence[str] = tuple(FAMILIES),
    *,
    draw: Draw | None = None,
    tagger: str = DEFAULT,
    trained: bool = True,
) -> Families:
    """Everything below a folder that a family of these names can be measured on.

    Args:
        draw: of robustness; its seed is that of the re-created probing sets and of style retrieval's queries, too.
        tagger: of style retrieval.
        trained: with similarity by a trained regression, where STS-B or SICK have their training parts.
    Raises: InputError if there is nothing, no family of a name, or a file that cannot be read as it should.
    """
    draw = draw or Draw()
    if unknown := [name for name in names if name not in FAMILIES]:
        raise InputError(f"no family {unknown[0]!r}; expected some of {', '.join(FAMILIES)}")
    if not Path(folder).is_dir():
        raise InputError(f"{folder}: no such folder; expected one that holds evaluation sets")
    usual = Draw()
    seed = _options(seed=(draw.seed, usual.seed))
    drawn = _options(size=(draw.size, usual.size), parser=(draw.parser, usual.parser)) + seed
    found, left_out = [], {}
    robust = None
    for name in (name for name in FAMILIES if name in names):
        place = _place(Path(folder), name)
        if place is None:
            left_out[name] = f"expected {_expected(name)}"
        elif name == "similarity":
            more = regression_sets(place, ["default"]) if trained else []
            found.append(Family(name, (*similarity_sets(place), *more), str(place), " --trained default" * bool(more)))
        elif name == "transfer":
            found.append(Family(name, tuple(transfer_sets(place)), str(place)))
        elif name == "probing":
            found.append(Family(name, tuple(probing_sets(place, seed=draw.seed)), str(place), seed))
        elif name == "style":
            pairs = clusters(pair for pair in read_pairs(place) if isinstance(pair, Pair))
            tagged = style_retrieval("Quora", pairs, tagger=tagger, seed=draw.seed)
            options = _options(tagger=(tagger, DEFAULT)) + seed
            found.append(Family(name, (ContentMatching("Quora", pairs), tagged), str(place), options))
        else:
            robust = robust or robustness_sets(place, draw)
            retrieval = name == "retrieval"
            tasks = tuple(one for one in robust if isinstance(one, RetrievalSet) == retrieval)
            found.append(Family(name, tasks, str(place), drawn))
    if not found:
        raise InputError(f"{folder}: nothing for {', '.join(left_out)}; expected {_expected(next(iter(left_out)))}")
    return Families(tuple(found), left_out)


def limited(task: Task, most: int) -> Task:
    """A task with so many rows at most, to see whether all goes well; its figures say little.

    So many of each part, and of each label, where a probe or a threshold is trained; of retrieval so many queries.
    """
    if isinstance(task, SimilaritySet):
        return replace(task, domains={name: list(pairs)[:most] for name, pairs in task.domains.items()})
    if isinstance(task, RegressionSet):
        return replace(task, parts=Splits(*(part[:most] for part in task.parts)))
    if isinstance(task, TransferSet):
        return replace(task, rows=_first(task.rows, most, lambda row: (row.part, row.label)))
    if isinstance(task, ProbingSet):
        kept = _first(task.examples, most, lambda example: example.part)
        return replace(task, examples=kept, source=f"{task.source}|first:{most} of a part")
    if isinstance(task, PairSet):
        pairs, tuning = (_first(some, most, lambda pair: pair.label) for some in (task.pairs, task.tuning))
        return replace(task, pairs=pairs, tuning=tuning)
    if isinstance(task, StyleRetrieval):
        return replace(task, queries=task.queries[:most])
    if isinstance(task, ContentMatching | RetrievalSet):
        return replace(task, pairs=task.pairs[:most])
    return task


def _first(rows: Sequence[Row], most: int, group: Callable[[Row], Hashable]) -> list[Row]:
    """So many of each group, in order."""
    counts: Counter[Hashable] = Counter()
    kept = []
    for row in rows:
        counts[group(row)] += 1
        if counts[group(row)] <= most:
            kept.append(row)
    return kept


def _options(**chosen: tuple[object, object]) -> str:
    """Those that are not as the command has them by itself: `size=(300, 1000)` → " --size 300"."""
    return "".join(f" --{name} {shlex.quote(str(value))}" for name, (value, usual) in chosen.items() if value != usual)


def _place(folder: Path, name: str) -> Path | None:
    """The folder or file that a family is read from; None: there is none."""
    if name == "probing":
        files = sorted(file for kind in PROBING.values() for file in folder.rglob(kind))
        return files[0].parent if files else _holding(folder, ["*.mrg"])
    if name == "style":
        return next((file for file in sorted(folder.rglob(QUORA[1])) if file.parent.name.lower() == QUORA[0]), None)
    if name == "similarity":
        return _holding(folder, [f"{INPUT}*.txt", *(kind[-1] for kinds in SIMILARITY.values() for kind in kinds)])
    if name == "transfer":
        complete = ([file for file, _ in layout] for layouts in LAYOUTS.values() for layout in layouts)
        return next((folder for files in complete if all(_holding(folder, [file]) for file in files)), None)
    known = ((file, parent) for _, parent, _, test in ROBUSTNESS for file in folder.rglob(test))
    return folder if any(parent in file.parent.name.lower() for file, parent in known) else None


def _holding(folder: Path, patterns: Sequence[str]) -> Path | None:
    return folder if any(next(folder.rglob(pattern), None) for pattern in patterns) else None


def _expected(name: str) -> str:
    return {
        "similarity": f"{INPUT}*.txt, sts-test.csv or SICK_test_annotated.txt",
        "transfer": "SentEval's files, such as rt-polarity.pos",
        "probing": "SentEval's probing files, such as bigram_shift.txt, or treebanks (.mrg)",
        "style": "/".join(QUORA),
    }.get(name, "pan-test.labels, msr_paraphrase_test.txt, quora/test.tsv or paws/dev.tsv")

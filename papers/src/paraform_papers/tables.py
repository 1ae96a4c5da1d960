"""How every table of a paper is made: train the rows that are missing, measure what is not yet measured, print, keep.

A `Table` is data: which rows it has, how one is trained, how they are measured, what the paper printed. `run` trains
the rows that are not over, goes on with those that were stopped, keeps what is finished, measures, and writes
OUT/…/SCALE/NAME.json, from which pages are made, and NAME.md beside it. Ctrl-C leaves a run that the next call goes on
with. What is kept of rows: `rows`.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Protocol

from paraform.records import InputError
from paraform.score import Score, finite, table
from paraform.weights import PathLike, atomic_path
from paraform_papers.rows import Row, digest_of, is_trained, kept, read_object, train_row, write_object

PRINTED = "as printed, of "  # begins the signature of a figure that the paper printed
BESIDE = ("differences", "comparisons", "over_seeds", "alarms")
"""What the results of a table have beside figures of its rows."""
MOST_NAME = 150  # characters of a file's name before it is cut; file systems have 255
Scale = Literal["smoke", "small", "long", "full"]
Style = Literal["plain", "markdown"]


@dataclass(frozen=True)
class Asked:
    """What is asked of a table.

    Args:
        scale: how large its trainings are.
        corpus: a folder of `data`, of a table that knows several; "": it has none of its own.
        data, out: where corpora lie, and the runs.
        rows: only these; (): the table's own.
        device: None: the GPU if there is one.
        seq2seq: the folder of the model that rows of that name start from.
    """

    scale: Scale = "smoke"
    corpus: Any = ""
    data: Path = Path("../shared/data")
    out: Path = Path("runs")
    rows: tuple[str, ...] = ()
    seed: int = 0
    device: str | None = None
    seq2seq: PathLike | None = None

    @property
    def place(self) -> Path:
        """Where the runs of this corpus and scale lie."""
        return self.out / str(self.corpus) / self.scale

    def folder(self, name: str) -> Path:
        """That of a run of this seed, where runs of several seeds lie side by side."""
        return self.place / f"seed-{self.seed}" / name

    @property
    def trained_on(self) -> str:
        """The device, as a training's loop names it."""
        return self.device or "auto"

    def chosen(self, known: Iterable[str], own: Iterable[str], between: str = ", ") -> tuple[str, ...]:
        """The rows that are asked for, or the table's own. Raises: InputError for one that is not known."""
        names = list(known)
        for row in self.rows:
            if row not in names:
                raise InputError(f"row {row!r}; expected one of {between.join(names)}")
        return self.rows or tuple(own)


class Measured(Protocol):
    """What measuring finds: figures, and how they are printed."""

    @property
    def scores(self) -> Sequence[Score]:
        """Every figure, those that the paper printed too."""

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""

    def table(self, style: Style = "markdown") -> str:
        """As it is read."""


@dataclass(frozen=True)
class Figures:
    """Figures, and what stands below them.

    Args:
        more: further values of the JSON object.
        lines: of which each is a point of a list, such as a difference.
        text: to be read beside.
        by_set: whether each set is a column; else each figure is one.
    """

    scores: tuple[Score, ...]
    more: Mapping[str, Any] = field(default_factory=dict)
    lines: tuple[str, ...] = ()
    text: str = ""
    by_set: bool = False

    def to_json(self) -> dict[str, Any]:
        """A JSON object: `scores`, each with its settings, and what there is more."""
        return {"scores": as_json(self.scores), **self.more}

    def table(self, style: Style = "markdown") -> str:
        """The figures; what their systems are; lines and text."""
        shown, notes = by_set(self.scores, style) if self.by_set else (self.scores, "")
        parts = (table(shown, style) if shown else "", notes, "\n".join(f"- {one}" for one in self.lines), self.text)
        return "\n\n".join(part for part in parts if part)


def by_set(scores: Sequence[Score], style: Style) -> tuple[list[Score], str]:
    """The figures with a column for each set, and below them a line for each system: what its signatures say of it."""
    turned, systems = [], dict[str, str]()
    for one in scores:
        at = min((at for kind in ("|similarity:", "|states:") if (at := one.signature.find(kind)) >= 0), default=None)
        if at is not None:
            systems[one.system] = one.signature[at + 1 :]
        protocol = ", ".join(part for part in (one.name, one.protocol) if part)
        turned.append(
            replace(one, name=one.subset, subset="all", protocol=protocol, signature=one.signature[: at or None])
        )
    mark = "- {}: `{}`" if style == "markdown" else "{}: {}"
    return turned, "\n".join(mark.format(*note) for note in systems.items())


@dataclass(frozen=True)
class Table:
    """A table of a paper.

    Args:
        name: as the command names it.
        title: what it is, in a few words.
        sizes: what each scale means; other scales it has not.
        rows: the rows that are asked for. Raises: InputError for a row that the table has not.
        measure: what there is to say of trained rows.
        data: files and folders below the data that its figures depend on; "CORPUS" stands for the corpus.
        every_seed: whether rows of other seeds that are trained, in folders seed-N, are measured beside those.
        keeps: whether figures are kept as a whole, and read again while nothing that they depend on has changed; else
            `measure` keeps what takes long.
        seq2seq: whether it has rows that start from a model of the user's own.
    """

    name: str
    title: str
    sizes: Mapping[Scale, Any]
    rows: Callable[[Asked], Sequence[Row]]
    measure: Callable[[Asked, Sequence[Row]], Measured]
    data: tuple[str, ...] = ()
    every_seed: bool = False
    keeps: bool = True
    seq2seq: bool = False


@dataclass(frozen=True)
class Made:
    """A table that was made or kept: its JSON object, and the text that is read."""

    figures: Mapping[str, Any]
    text: str


def train_rows(table: Table, asked: Asked) -> tuple[list[Row], list[str]]:
    """Train what is asked for and is not over; what is measured, and which rows were trained by this call.

    Raises: InputError for a scale or row that there is not; KeyboardInterrupt if interrupted, and saved.
    """
    if asked.scale not in table.sizes:
        raise InputError(f"--scale {asked.scale}: {table.name} has {', '.join(table.sizes)}")
    rows = list(table.rows(asked))
    new = [row.label for row in rows if train_row(row)]
    if not table.every_seed:
        return rows, new
    names = (place.name.removeprefix("seed-") for place in asked.place.glob("seed-*"))
    seeds = sorted(int(name) for name in names if name.isdecimal())
    of_each = (table.rows(replace(asked, seed=seed)) for seed in seeds)
    return [row for some in of_each for row in some if is_trained(row)], new


def measured(table: Table, asked: Asked) -> Any:
    """What `run` keeps and prints, as `table.measure` finds it. Raises: as `train_rows`."""
    return table.measure(asked, train_rows(table, asked)[0])


def run(table: Table, asked: Asked, results: Path | None = None) -> Made:
    """Train, measure, and write NAME.json and NAME.md at `asked.place`; of some rows NAME-ROW.json and so on.

    Args:
        results: where the JSON goes, too; None: of a whole table at scale full into `papers/results` of a checkout, of
            others nowhere.
    Raises: as `train_rows`; InputError if `results` holds what another command made.
    """
    short = name_of(table, asked)
    command = command_of(table, asked)
    if results is None and asked.scale == "full" and not asked.rows:
        results = _results_of(table, asked)
    if results is not None and results.exists():
        came = (read_object(results) or {}).get("command", "no table's figures")
        if came != command:
            raise InputError(f"--results {results}: holds {came}, and would get {command}; expected another name")
    rows, new = train_rows(table, asked)
    data = [name.replace("CORPUS", asked.corpus) for name in table.data]
    of = {
        "table": table.name,
        "title": table.title,
        "command": command,
        "scale": asked.scale,
        "corpus": asked.corpus,
        "seed": asked.seed,
        "data": {name: digest_of(asked.data / name) for name in data if (asked.data / name).exists()},
        "weights": {row.label: digest_of(row.folder) for row in rows},
        "settings": hashlib.sha256(repr((table.sizes[asked.scale], asked.device)).encode()).hexdigest(),
        "products": os.environ.get("PARAFORM_PRODUCTS", "auto"),
    }

    def made() -> dict[str, Any]:
        found = table.measure(asked, rows)
        plain, markdown = found.table("plain"), found.table("markdown")
        asked.place.mkdir(parents=True, exist_ok=True)
        with atomic_path(asked.place / f"{short}.md") as unfinished:
            unfinished.write_text(markdown + "\n", encoding="utf-8")
        value: dict[str, Any] = finite({**_by_row(found.scores), "figures": found.to_json(), "text": plain})
        return value

    path = asked.place / f"{short}.json"
    value = kept(path, of, made, again=not table.keeps)
    if results is not None:
        results.parent.mkdir(parents=True, exist_ok=True)
        beside = {key: value["figures"][key] for key in BESIDE if key in value["figures"]}  # no text of a corpus
        write_object(results, {**value["of"], "rows": value["rows"], "paper": value["paper"], **beside})
    done = {"before": [row.label for row in rows if row.label not in new], "now": new}
    lines = [f"trained {when}: {'; '.join(names)}" for when, names in done.items() if names]
    return Made(value["figures"], "\n".join([value["text"], *([""] if lines else []), *lines]))


def name_of(table: Table, asked: Asked) -> str:
    """Of the files of figures: the table's, its rows and its seed, where these are not all; a long one ends in a digest
    of what is cut off."""
    seed = [f"seed-{asked.seed}"] if asked.seed and not table.every_seed else []
    some = [*asked.rows, *seed]  # whose figures take no whole table's place
    name = "-".join([table.name.rpartition("/")[2], *(re.sub(r"[^\w-]+", "_", part) for part in some)])
    if len(name) <= MOST_NAME:
        return name
    digest = hashlib.sha256(name[MOST_NAME:].encode()).hexdigest()[:12]
    return f"{name[:MOST_NAME]}-{digest}"


def command_of(table: Table, asked: Asked) -> str:
    """The command that makes the table, but for the folders of its machine."""
    words = ["paraform", "reproduce", table.name, "--scale", asked.scale]
    words += ["--corpus", asked.corpus] if asked.corpus else []
    words += ["--seq2seq", Path(asked.seq2seq).name] if asked.seq2seq else []
    return shlex.join([*words, "--seed", str(asked.seed), *(["--row", *asked.rows] if asked.rows else [])])


def printed(name: str, value: float, of: str, system: str, **more: Any) -> Score:
    """A figure of the paper, what it is of, and further fields of the score."""
    return Score(name, value, PRINTED + of, system, **more)


def as_json(values: Iterable[Any]) -> list[Any]:
    """Each one's JSON object."""
    return [value.to_json() for value in values]


def _by_row(scores: Sequence[Score]) -> dict[str, dict[str, list[Any]]]:
    """The figures of each row, and apart from them those that the paper printed."""
    found: dict[str, dict[str, list[Any]]] = {"rows": {}, "paper": {}}
    for score in scores:
        kind = "paper" if score.signature.startswith(PRINTED) else "rows"
        found[kind].setdefault(score.system, []).append(score.to_json())
    return found


def _results_of(table: Table, asked: Asked) -> Path | None:
    """The table's file in `papers/results` of a checkout; None: there is no checkout."""
    papers = Path(__file__).parents[2]
    if not (papers / "pyproject.toml").is_file():
        return None
    seed = f"seed-{asked.seed}" if asked.seed else ""
    name = "-".join(part for part in (table.name.replace("/", "-"), asked.corpus, seed) if part)
    return papers / "results" / f"{name}.json"

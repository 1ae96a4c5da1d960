"""CRL-EGPG's Tables 2 and 3, Figure 2, and Tables 4, 6 and 7: full, without CCL, without SCL, without both.

    paraform reproduce crl/table2 --scale small --corpus quora --data ../shared/data --out runs/crl
    paraform reproduce crl/table2 --scale small --row "full, paper weights" "without CCL, paper weights" "without both"

Running time on one core: smoke, half a minute; small, 6 to 8 minutes a row; long (all pairs, two epochs), one to two
hours a row of Quora; full (the paper's sizes, BERT-base's place taken by the offline encoder) has not been run yet.
Expected figures: docs/results/crl.md. Further rows: `rivals/rows.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, get_args

from paraform import checkpoint
from paraform.capabilities import Embedder, embed_by
from paraform.evaluation import GenerationReport
from paraform.evaluation.on_pairs import evaluate_embedder, evaluate_paraphraser, evaluation_set
from paraform.evaluation.pictures import save_plot
from paraform.records import InputError
from paraform.score import Score, table
from paraform.trainers.exemplar import BY_BLEU, train_exemplar
from paraform.weights import sha256
from paraform_papers.crl.data import load, part_of
from paraform_papers.crl.examples import Examples, examples
from paraform_papers.crl.rows import OWN, ROWS, measured_pairs, of_row, setting
from paraform_papers.rivals.rows import RIVALS, FromFolder, Way, config_of, train_rival, way_of, with_weights
from paraform_papers.rivals.writing_rows import BESIDE, costs, writing
from paraform_papers.rows import Row, digest_of
from paraform_papers.tables import Asked, Scale, Style, Table, as_json

BARS = (("CMA (dot)", "dot product (the paper)", "tab:blue"), ("CMA (cosine)", "cosine (the code)", "tab:orange"))
WIDTH = 0.38  # of a bar; two of them to a row
SCALES: tuple[Scale, ...] = get_args(Scale)


def row_of(name: str, asked: Asked) -> Row:
    """A row, or a rival, as it is trained. Raises: InputError if there is no such row."""
    if name not in (*OWN, *RIVALS):
        raise InputError(f"row {name!r}; expected one of {', '.join((*OWN, *RIVALS))}")
    scale, corpus = asked.scale, asked.corpus
    size, rival = setting(scale, corpus), None
    if name in RIVALS:
        rival = config_of(name, scale, corpus, asked.seq2seq)
    config: Any = rival.config if isinstance(rival, FromFolder) else rival or of_row(size.config, name)
    folder = asked.place / name.replace(" ", "-")
    validated, saved = {"smoke": (5, 5), "long": (923, 115)}.get(scale, (125, 125))  # steps
    loop = replace(
        BY_BLEU, seed=asked.seed, evaluate_every=validated, checkpoint_every=saved, log_every=11,
        device=asked.trained_on,
    )  # fmt: skip

    def digests() -> dict[str, str]:
        files = [asked.data / corpus / f"{split}.tsv" for split in ("train", "dev")]
        return {f"{corpus}/{file.name}": sha256(file) for file in files if file.is_file()}  # `load` names one missing

    def about() -> dict[str, Any]:
        found = {"pairs": [size.pairs, size.test_pairs], "loop": asdict(loop), "data": digests()}
        if isinstance(rival, FromFolder):
            start = Path(str(rival.start))
            found["start"] = digest_of(start) if start.exists() else str(start)
        return found

    def train() -> None:
        pairs = part_of(load(asked.data, corpus, "train"), size.pairs, asked.seed)
        given: dict[str, Any] = {
            "validation": part_of(load(asked.data, corpus, "dev"), size.test_pairs, asked.seed),
            "loop": replace(loop, mixed_precision="bf16"),
            "data_digests": {file: digest for file, digest in digests().items() if file.endswith("train.tsv")},
            "resume": True,
        }
        if rival is None:
            result = train_exemplar(pairs, folder, config=config, **given)
        else:
            result = train_rival(rival, pairs, folder, **given)
        result.require_over()  # the next row is not begun; the command line says the rest

    return Row(name, folder, train, config, about, asked.seed)


def ways_of(asked: Asked) -> dict[str, Way]:
    """What each row that is asked for has which trained model write.

    They are some of `OWN`, and behind one of these others as `rivals.way_of` has them; the first against each other.
    """
    names = asked.rows or tuple(ROWS)
    ways = with_weights({name: way_of(name) for name in names}, asked.seq2seq)
    if ways.get(first := names[0]) != Way(first, False, 1) or first not in OWN:
        raise InputError(f"first row {first!r}; expected one of {', '.join(OWN)}, with vectors")
    return ways


def rows(asked: Asked) -> list[Row]:
    """What is trained: what has the same weights once."""
    return [row_of(name, asked) for name in dict.fromkeys(way.trained for way in ways_of(asked).values())]


@dataclass(frozen=True)
class Tables:
    """Tables 2 and 3 (`report`), Figure 2 (`matching`), Tables 4, 6 and 7 (`examples`) and, with a rival, `costs`."""

    report: GenerationReport
    matching: tuple[Score, ...]
    examples: Examples
    costs: tuple[Score, ...] = ()

    @property
    def scores(self) -> list[Score]:
        """The figures of all of them."""
        return [*self.report.scores, *self.matching, *self.costs]

    def to_json(self) -> dict[str, Any]:
        """A JSON object: the report's, `matching`, `examples` and `costs`."""
        more = {"matching": as_json(self.matching), "examples": self.examples.to_json(), "costs": as_json(self.costs)}
        return {**self.report.to_json(), **more}

    def table(self, style: Style = "markdown") -> str:
        """All rows, then those of Figure 2, then the examples."""
        examples = f"```\n{self.examples}\n```" if style == "markdown" else str(self.examples)
        costs = f"{table(self.costs, style)}\n\n" if self.costs else ""
        return f"{self.report.table(style)}\n\n{table(self.matching, style)}\n\n{costs}{examples}"


def measure(asked: Asked, rows: Sequence[Row]) -> Tables:
    """Rows on the test split; draws Figure 2 as `cma.png`.

    With a rival's row by the honest protocol alone, and with distances of trees: `rivals.writing_rows.BESIDE`.
    """
    folders = {row.name: row.folder / "best" for row in rows}
    models = {
        name: writing(checkpoint.load(folders[way.trained], device=asked.device), way)
        for name, way in ways_of(asked).items()
    }
    first = next(iter(models))
    test = measured_pairs(asked)
    rows_asked = evaluation_set(test, seed=asked.seed, progress=True)
    beside = bool({*RIVALS}.intersection(folders))
    how: dict[str, Any] = {"rivals": {row: models[row] for row in models if row != first}, "progress": True}
    report = evaluate_paraphraser(models[first], rows_asked, name=first, **how, **(BESIDE if beside else {}))
    embedders = {row: model for row, model in models.items() if isinstance(model, Embedder)}
    vectors = {name: evaluate_embedder(model, test, name=name, seed=asked.seed) for name, model in embedders.items()}
    matching = [
        score
        for name, found in vectors.items()
        for score in found.scores
        if score.name.startswith("CMA") and score.system == name
    ]
    draw(matching, asked.place / "cma.png", f"{asked.corpus}, {asked.scale} scale")
    retrieved = {name: found.retrieved for name, found in vectors.items()}
    content = {name: embed_by(model, "content") for name, model in embedders.items()}
    spent = costs(models, rows_asked.rows) if beside else ()
    return Tables(report, tuple(matching), examples(report, content, retrieved, seed=asked.seed), spent)


TABLE = Table(
    "crl/table2", "CRL-EGPG's Tables 2 and 3, Figure 2, and Tables 4, 6 and 7", dict.fromkeys(SCALES), rows, measure,
    ("CORPUS",), seq2seq=True,
)  # fmt: skip


def draw(scores: Sequence[Score], path: Path, title: str) -> None:
    """Figure 2: content matching accuracy of each row on all pairs, by dot product (eq. 13) and by cosine."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.5, 3.2), layout="constrained")
    axes = figure.add_subplot()
    rows = list(dict.fromkeys(score.system for score in scores))
    for side, (name, label, colour) in enumerate(BARS):
        found = {score.system: score.value for score in scores if (score.name, score.subset) == (name, "all")}
        places = [at + WIDTH * (side - 0.5) for at in range(len(rows))]
        bars = axes.bar(places, [found[row] for row in rows], WIDTH, color=colour, label=label)
        axes.bar_label(bars, fmt="%.3f", padding=2)
    axes.set_xticks(range(len(rows)), rows)
    axes.set(ylabel="content matching accuracy", title=title, ylim=(0, 1))
    axes.legend(loc="upper right", ncols=len(BARS))
    save_plot(figure, path, dpi=120)

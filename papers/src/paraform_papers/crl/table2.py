"""CRL-EGPG's Tables 2 and 3, Figure 2, and Tables 4, 6 and 7: full, without CCL, without SCL, without both.

    paraform reproduce crl/table2 --scale small --corpus quora --data ../shared/data --out runs/crl
    paraform reproduce crl/table2 --scale small --row "full, paper weights" "without CCL, paper weights" "without both"

Running time on one core: smoke, half a minute; small, 6 to 8 minutes a row; long (all pairs, two epochs), one to two
hours a row of Quora; full (the paper's sizes, BERT-base's place taken by the offline encoder) has not been run yet.
Expected figures: docs/results/crl.md. Further rows: `rivals.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from paraform import checkpoint
from paraform.capabilities import Embedder, embed_by
from paraform.evaluation import GenerationReport
from paraform.evaluation.latent import save_plot
from paraform.evaluation.on_pairs import evaluate_embedder, evaluate_paraphraser, evaluation_set
from paraform.records import InputError
from paraform.score import Score, table
from paraform.trainers.exemplar import BY_BLEU, train_exemplar
from paraform.training import TrainingConfig
from paraform.weights import PathLike, sha256
from paraform_papers.crl.data import Corpus, Scale, load, part_of
from paraform_papers.crl.examples import Examples, examples
from paraform_papers.crl.rows import OWN, ROWS, Setting, of_row, setting
from paraform_papers.rivals.measured import BESIDE, costs, writing
from paraform_papers.rivals.rows import RIVALS, Rival, Row, config_of, row_of, train_rival, with_weights
from paraform_papers.trained import forget_trained, is_trained, mark_trained

BARS = (("CMA (dot)", "dot product (the paper)", "tab:blue"), ("CMA (cosine)", "cosine (the code)", "tab:orange"))
WIDTH = 0.38  # of a bar; two of them to a row


def train_row(
    row: str,
    scale: Scale,
    corpus: Corpus,
    data: Path,
    out: Path,
    *,
    seed: int = 0,
    device: str = "auto",
    seq2seq: PathLike | None = None,
) -> Path:
    """Train one row (or go on with it), that of a `seq2seq` from its folder; returns the folder of its best checkpoint.

    Raises: InputError if there is no such row; KeyboardInterrupt if it was interrupted, and saved.
    """
    if row not in (*OWN, *RIVALS):
        raise InputError(f"row {row!r}; expected one of {', '.join((*OWN, *RIVALS))}")
    chosen = setting(scale, corpus)
    rival = config_of(row, scale, corpus, seq2seq) if row in RIVALS else None
    if rival is None:
        chosen = replace(chosen, config=of_row(chosen.config, row))
    validated, saved = {"smoke": (5, 5), "long": (923, 115)}.get(scale, (125, 125))  # steps
    loop = replace(BY_BLEU, seed=seed, evaluate_every=validated, checkpoint_every=saved, log_every=11, device=device)
    return train(chosen, corpus, data, out / corpus / scale / row.replace(" ", "-"), loop, rival)


def train(
    chosen: Setting, corpus: Corpus, data: Path, folder: Path, loop: TrainingConfig, rival: Rival | None = None
) -> Path:
    """Train that setting, or a rival in its place (or go on); returns its best folder. Raises: KeyboardInterrupt."""
    files = [data / corpus / f"{split}.tsv" for split in ("train", "dev")]
    digests = {f"{corpus}/{file.name}": sha256(file) for file in files if file.is_file()}  # `load` names one missing
    about = {"setting": repr(chosen), "loop": asdict(loop), "data": digests}
    # A rival has no mark: it may start from a folder of weights, which its own trainer compares.
    if rival is None and (folder / "best").is_dir() and is_trained(folder, about):
        return folder / "best"
    forget_trained(folder)
    pairs = part_of(load(data, corpus, "train"), chosen.pairs, loop.seed)
    given: dict[str, Any] = {
        "validation": part_of(load(data, corpus, "dev"), chosen.test_pairs, loop.seed),
        "loop": replace(loop, mixed_precision="bf16"),
        "data_digests": {name: digest for name, digest in digests.items() if name.endswith("train.tsv")},
        "resume": True,
    }
    if rival is None:
        result = train_exemplar(pairs, folder, config=chosen.config, **given)
    else:
        result = train_rival(rival, pairs, folder, **given)
    result.require_over()  # the next row is not begun; the command line says the rest
    if rival is None:
        mark_trained(folder, about)
    return folder / "best"


@dataclass(frozen=True)
class Tables:
    """Tables 2 and 3 (`report`), Figure 2 (`matching`), Tables 4, 6 and 7 (`examples`) and, with a rival, `costs`."""

    report: GenerationReport
    matching: tuple[Score, ...]
    examples: Examples
    costs: tuple[Score, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """A JSON object: the report's, `matching`, `examples` and `costs`."""
        matching, costs = ([score.to_json() for score in some] for some in (self.matching, self.costs))
        return {**self.report.to_json(), "matching": matching, "examples": self.examples.to_json(), "costs": costs}

    def table(self, style: Literal["plain", "markdown"] = "markdown") -> str:
        """All rows, then those of Figure 2, then the examples."""
        examples = f"```\n{self.examples}\n```" if style == "markdown" else str(self.examples)
        costs = f"{table(self.costs, style)}\n\n" if self.costs else ""
        return f"{self.report.table(style)}\n\n{table(self.matching, style)}\n\n{costs}{examples}"


def run(
    *,
    scale: Scale = "smoke",
    corpus: Corpus = "quora",
    data: Path = Path("../shared/data"),
    out: Path = Path("runs/crl"),
    rows: Sequence[str] = tuple(ROWS),
    seed: int = 0,
    device: str | None = None,
    seq2seq: PathLike | None = None,
) -> Tables:
    """Train rows (those begun go on), measure them on the test split, draw Figure 2 as `out/…/cma.png`.

    Args:
        rows: some of `OWN`, and behind one of these others as `rivals.row_of` has them; the first against each other.
        seq2seq: the folder of the model that rows of that name start from; None: they are left out, with a warning.
    With a rival's row by the honest protocol alone, and with distances of trees: `rivals_measured.BESIDE`.
    Raises: as `train_row` does.
    """
    chosen = setting(scale, corpus)
    asked = with_weights({row: row_of(row) for row in rows}, seq2seq)
    if asked.get(first := rows[0]) != Row(first, False, 1) or first not in OWN:
        raise InputError(f"first row {first!r}; expected one of {', '.join(OWN)}, with vectors")
    given: dict[str, Any] = {"seed": seed, "device": device or "auto", "seq2seq": seq2seq}
    names = dict.fromkeys(one.trained for one in asked.values())
    folders = {name: train_row(name, scale, corpus, data, out, **given) for name in names}
    models = {row: writing(checkpoint.load(folders[one.trained], device=device), one) for row, one in asked.items()}
    test = part_of(load(data, corpus, "test"), chosen.test_pairs, seed)
    rows_asked = evaluation_set(test, seed=seed, progress=True)
    beside = bool({*RIVALS}.intersection(names))
    how: dict[str, Any] = {"rivals": {row: models[row] for row in asked if row != first}, "progress": True}
    report = evaluate_paraphraser(models[first], rows_asked, name=first, **how, **(BESIDE if beside else {}))
    embedders = {row: model for row, model in models.items() if isinstance(model, Embedder)}
    vectors = {name: evaluate_embedder(model, test, name=name, seed=seed) for name, model in embedders.items()}
    matching = [
        score
        for name, found in vectors.items()
        for score in found.scores
        if score.name.startswith("CMA") and score.system == name
    ]
    draw(matching, out / corpus / scale / "cma.png", f"{corpus}, {scale} scale")
    retrieved = {name: found.retrieved for name, found in vectors.items()}
    content = {name: embed_by(model, "content") for name, model in embedders.items()}
    spent = costs(models, rows_asked.rows) if beside else ()
    return Tables(report, tuple(matching), examples(report, content, retrieved, seed=seed), spent)


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

"""Rows of a table of latent-variable models: each is trained, or goes on, measured by both protocols, and kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from paraform import checkpoint, corpora, manifest
from paraform.encoders import bfloat16_products, product_dtype
from paraform.evaluation import Comparison
from paraform.evaluation.latent import LatentReport, compare_latent, evaluate_latent, validations, with_ngrams
from paraform.evaluation.latent.ngram import require_ngrams
from paraform.models.latent import LatentConfig
from paraform.models.latent.texts import read_words, short_enough
from paraform.records import InputError, Sentence
from paraform.score import Score, signature, table
from paraform.trainers.latent import EACH_EPOCH, train_latent
from paraform.weights import sha256
from paraform_papers.clvae.report_cache import cached_report

NAMES = ("−ELBO", "PPL", "KL", "MI", "AU")
NGRAM_NAMES = ("forward PPL", "reverse PPL")


@dataclass(frozen=True)
class Task:
    """What the rows of a table share.

    Args:
        data: folder of the corpora.
        files: the files of the splits "train", "valid" and "test", below it; a sentence a line.
        place: holds a folder for each row's run.
        train: sentences that are trained on, the first so many; 0: all.
        held_out: sentences of each other split; 0: all.
        samples: draws of each sentence's posterior, when a row is measured.
        refit: whether critics are fitted anew, to the last epoch's posterior; that takes minutes.
        ngrams: samples whose forward and reverse perplexity (needs lmplz) stand in place of all other figures; 0: none.
        alone: rows that are trained where they are asked for; those that have been are taken from then on.
        seed: the seed of training and measuring.
        device: None: the GPU if there is one.
    """

    data: Path
    files: Mapping[str, str]
    place: Path
    train: int
    held_out: int
    samples: int
    refit: bool
    ngrams: int = 0
    alone: tuple[str, ...] = ()
    seed: int = 0
    device: str | None = None

    def texts(self, split: str) -> list[str]:
        """The sentences of a split that are used."""
        records = corpora.read(self.data / self.files[split], "text")
        texts = [record.text for record in records if isinstance(record, Sentence)]
        return texts[: (self.train if split == "train" else self.held_out) or None]

    def digest(self, split: str) -> str:
        """SHA-256 of its file."""
        return sha256(self.data / self.files[split])


@dataclass(frozen=True)
class Rows:
    """The rows of a table: as published where they are, and ours under both protocols; alarms by row.

    Args:
        comparisons: the bounds of the last epoch's weights compared, pair by pair.
        place: holds the runs.
    """

    scores: tuple[Score, ...]
    alarms: dict[str, tuple[str, ...]]
    comparisons: tuple[Comparison, ...] = ()
    place: Path = Path()

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        comparisons = [comparison.to_json() for comparison in self.comparisons]
        return {"scores": [score.to_json() for score in self.scores], "alarms": self.alarms, "comparisons": comparisons}

    def table(self, style: Literal["plain", "markdown"] = "markdown") -> str:
        """The table, then the comparisons and the alarms."""
        alarms = [f"{row}: {line}" for row, found in self.alarms.items() for line in found]
        lines = [*map(str, self.comparisons), *alarms]
        return "\n".join(
            [table(self.scores, style), "", *(f"- {line}" if style == "markdown" else line for line in lines)]
        )


def run_rows(
    known: Mapping[str, LatentConfig],
    published: Mapping[str, tuple[float, ...]],
    task: Task,
    *,
    asked: Sequence[str] = (),
    pairs: Sequence[tuple[str, str]] | None = None,
) -> Rows:
    """Train rows (those begun go on), then measure them.

    Args:
        known: all rows of the table; one of one name is the same run in every table.
        published: −ELBO, PPL, KL, MI and AU, or of n-grams both perplexities, as the paper prints them, of its own
            setting.
        asked: which of the rows, as `chosen_rows` has it.
        pairs: rows whose bounds are compared; None: the first that has one, and each other.
    Raises: InputError for a row that the table has not, or if lmplz or kenlm is missing; KeyboardInterrupt if a
        training was interrupted, and saved.
    """
    if task.ngrams:  # what is missing is said before hours of training
        require_ngrams()
    configs = chosen_rows(known, asked, task)
    for row, config in configs.items():
        train_row(row, config, task)
    scores: list[Score] = []
    reports: dict[str, LatentReport] = {}
    for row, config in configs.items():
        settings = "as printed, of the paper's own setting"
        scores += [
            Score(name, value, settings, row, "published", digits=0 if name == "AU" else 2)
            for name, value in zip(NGRAM_NAMES if task.ngrams else NAMES, published.get(row, ()), strict=False)
        ]
        updates = validations(task.place / row / "log.jsonl")[-1][0]
        of_run = signature(epochs=config.epochs, batch=config.batch_size, seed=task.seed)
        scores.append(Score("updates", updates, of_run, row, "paper", digits=0))
        found, reports[row] = measure_row(row, task)
        scores += found
    bounded = [row for row, report in reports.items() if report.bounds and len(report.bounds.nats) > 1]
    comparisons = [
        replace(compare_latent(reports[first], reports[second], names=(first, second)), protocol="honest, same weights")
        for first, second in ([(bounded[0], row) for row in bounded[1:]] if pairs is None else pairs)
        if first in bounded and second in bounded
    ]
    alarms = {row: report.alarms for row, report in reports.items()}
    return Rows(tuple(scores), alarms, tuple(comparisons), task.place)


def chosen_rows(known: Mapping[str, LatentConfig], asked: Sequence[str], task: Task) -> dict[str, LatentConfig]:
    """Those of a table's rows that are to be trained and measured.

    Args:
        known: all that the table has.
        asked: (): all but those of `task.alone` that have not been trained.
    Raises: InputError for a row that the table has not.
    """
    for row in asked:
        if row not in known:
            raise InputError(f"row {row!r}; expected one of {', '.join(known)}")
    if asked:
        return {row: known[row] for row in asked}
    done = {row: len(validations(task.place / row / "log.jsonl")) for row in task.alone}  # one an epoch
    return {row: config for row, config in known.items() if done.get(row, config.epochs) >= config.epochs}


def train_row(name: str, config: LatentConfig, task: Task) -> None:
    """Train a row, or go on with it. Raises: KeyboardInterrupt if it was interrupted, and saved."""
    result = train_latent(
        task.texts("train"),
        task.place / name,
        validation=task.texts("valid"),
        config=config,
        loop=replace(EACH_EPOCH, seed=task.seed, checkpoint_every=100, device=task.device or "auto"),
        data_digests={task.files["train"]: task.digest("train")},
        resume=True,
    )
    result.require_over()


def measure_row(name: str, task: Task) -> tuple[list[Score], LatentReport]:
    """Both protocols on the test split, of the last epoch's weights, which the authors' code leaves; and the honest one
    of those with the best bound on the validation split. And the report of the former.
    """
    last = _measured(name, "last", task)
    weights = [manifest.read(task.place / name / part).files[manifest.WEIGHTS] for part in ("last", "best")]
    best = last if weights[0] == weights[1] else _measured(name, "best", task)
    chosen = [replace(one, protocol="honest, best epoch") for one in best.scores if one.protocol == "honest"]
    shown = [replace(one, protocol="honest, same weights") if one.protocol == "honest" else one for one in last.scores]
    return [*shown, *chosen], last


def _measured(name: str, part: str, task: Task) -> LatentReport:
    """The report of a run's checkpoint `part`, kept in the run's folder."""
    folder = task.place / name
    model = checkpoint.load(folder / part, device=task.device)
    texts = short_enough(task.texts("test"), model.words, model.max_tokens, "test")
    shared: dict[str, Any] = {"name": name, "seed": task.seed}
    settings = {**shared, "sentences": len(texts), "test": task.digest("test"), "device": model.device.type}
    with bfloat16_products(model.device):
        precision = str(product_dtype(model.device)).removeprefix("torch.")
        if task.ngrams:
            training, words = task.texts("train"), partial(read_words, how=model.config.text)
            how: dict[str, Any] = {"samples": task.ngrams}
            settings |= {"train": task.digest("train"), "known": len(training), "precision": precision}
            empty = LatentReport((), ())
            measure = partial(with_ngrams, empty, model.sample, words, training, texts, **shared, **how)
        else:
            how = {"samples": task.samples, "refit": task.refit and part == "last", "precision": precision}
            measure = partial(evaluate_latent, model, texts, **shared, **how)
        kind = "ngrams" if task.ngrams else "measured"
        return cached_report(folder / f"{part}.{kind}.json", folder / part, settings | how, measure)

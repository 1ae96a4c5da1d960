"""Tables of latent-variable models: their rows, each measured by both protocols, and its measures kept."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from paraform import checkpoint, corpora, manifest
from paraform.encoders import bfloat16_products, product_dtype
from paraform.evaluation.latent import (
    LatentReport,
    SentenceBounds,
    compare_latent,
    evaluate_latent,
    validations,
    with_ngrams,
)
from paraform.evaluation.latent.ngram import SAMPLES, require_ngrams
from paraform.models.latent import LatentConfig
from paraform.models.latent.texts import read_words, short_enough
from paraform.records import Sentence
from paraform.score import Score, signature
from paraform.trainers.latent import EACH_EPOCH, train_latent
from paraform.weights import sha256
from paraform_papers.clvae.configs import ALONE, FILES, NAMES, NGRAM_NAMES, SIZES, Size
from paraform_papers.rows import Row, kept
from paraform_papers.tables import Asked, Figures, Scale, Table, as_json, printed


@dataclass(frozen=True)
class Task:
    """What the rows of a table share.

    Args:
        asked: where the corpora and the runs lie, the seed and the device.
        size: what the scale means.
        ngrams: samples whose forward and reverse perplexity (needs lmplz) stand in place of all other figures; 0: none.
    """

    asked: Asked
    size: Size
    ngrams: int = 0

    def file(self, split: str) -> str:
        """Its file below the data; a sentence a line."""
        return FILES[self.asked.corpus][split]

    @property
    def trained_on(self) -> int:
        """So many sentences; 0: all."""
        return self.size.documents if self.asked.corpus == "yahoo" else self.size.train

    def texts(self, split: str) -> list[str]:
        """The sentences of a split that are used: the first so many."""
        records = corpora.read(self.asked.data / self.file(split), "text")
        texts = [record.text for record in records if isinstance(record, Sentence)]
        return texts[: (self.trained_on if split == "train" else self.size.held_out) or None]

    def digest(self, split: str) -> str:
        """SHA-256 of its file."""
        return sha256(self.asked.data / self.file(split))

    def folder(self, row: str) -> Path:
        """A row's run."""
        return self.asked.place / row

    def row(self, name: str, config: LatentConfig) -> Row:
        """A row as it is trained."""

        def about() -> dict[str, Any]:
            digests = {self.file(split): self.digest(split) for split in ("train", "valid")}
            read = [self.trained_on, self.size.held_out]
            return {"seed": self.asked.seed, "sentences": read, "data": digests}

        return Row(name, self.folder(name), lambda: train_row(name, config, self), config, about, self.asked.seed)


def latent_table(
    name: str,
    title: str,
    configs: Callable[[Size, Any], Mapping[str, LatentConfig]],
    published: Mapping[str, tuple[float, ...]],
    *,
    sizes: Mapping[Scale, Size] = SIZES,
    alone: tuple[str, ...] = ALONE,
    pairs: Sequence[tuple[str, str]] | None = None,
    ngrams: bool = False,
    draw: Callable[[Sequence[Score], Asked], None] | None = None,
) -> Table:
    """A table of these models.

    Args:
        configs: all rows of the table, of a scale and a corpus; a row of one name is the same run in every table.
        published: −ELBO, PPL, KL, MI and AU, or of n-grams both perplexities, as the paper prints them, of its own
            setting.
        alone: rows that are trained where they are asked for; those that have been are taken from then on.
        pairs: rows whose bounds are compared; None: the first that has one, and each other.
        ngrams: forward and reverse perplexity in place of all other figures.
        draw: draws what was found.
    """

    def task_of(asked: Asked) -> Task:
        return Task(asked, sizes[asked.scale], ngrams * (160 if asked.scale == "smoke" else SAMPLES))

    def rows(asked: Asked) -> list[Row]:
        if ngrams:  # what is missing is said before hours of training
            require_ngrams()
        task = task_of(asked)
        known = configs(task.size, asked.corpus)
        return [task.row(name, known[name]) for name in chosen_rows(known, task, alone)]

    def measure(asked: Asked, rows: Sequence[Row]) -> Figures:
        found = figures_of(rows, published, task_of(asked), pairs)
        if draw is not None:
            draw(found.scores, asked)
        return found

    return Table(name, title, sizes, rows, measure, ("CORPUS",), keeps=False)


def chosen_rows(known: Mapping[str, LatentConfig], task: Task, alone: tuple[str, ...]) -> tuple[str, ...]:
    """The rows asked for; if none is, all but those of `alone` that have not been trained."""
    done = {row: len(validations(task.folder(row) / "log.jsonl")) for row in alone}  # one an epoch
    own = [row for row, config in known.items() if done.get(row, config.epochs) >= config.epochs]
    return task.asked.chosen(known, own)


def figures_of(
    rows: Sequence[Row],
    published: Mapping[str, tuple[float, ...]],
    task: Task,
    pairs: Sequence[tuple[str, str]] | None = None,
) -> Figures:
    """The rows of a table: as published where they are, and ours under both protocols; alarms by row."""
    scores: list[Score] = []
    reports: dict[str, LatentReport] = {}
    for row in rows:
        of = {"of": "the paper's own setting", "system": row.name, "protocol": "published"}
        for name, value in zip(NGRAM_NAMES if task.ngrams else NAMES, published.get(row.name, ()), strict=False):
            scores.append(printed(name, value, digits=0 if name == "AU" else 2, **of))
        updates = validations(row.folder / "log.jsonl")[-1][0]
        of_run = signature(epochs=row.config.epochs, batch=row.config.batch_size, seed=row.seed)
        scores.append(Score("updates", updates, of_run, row.name, "paper", digits=0))
        found, reports[row.name] = measure_row(row.name, task)
        scores += found
    bounded = [row for row, report in reports.items() if report.bounds and len(report.bounds.nats) > 1]
    comparisons = [
        replace(compare_latent(reports[first], reports[second], names=(first, second)), protocol="honest, same weights")
        for first, second in ([(bounded[0], row) for row in bounded[1:]] if pairs is None else pairs)
        if first in bounded and second in bounded
    ]
    alarms = {row: report.alarms for row, report in reports.items()}
    lines = [*map(str, comparisons), *(f"{row}: {line}" for row, found in alarms.items() for line in found)]
    return Figures(tuple(scores), {"alarms": alarms, "comparisons": as_json(comparisons)}, tuple(lines))


def train_row(name: str, config: LatentConfig, task: Task) -> None:
    """Train a row, or go on with it. Raises: KeyboardInterrupt if it was interrupted, and saved."""
    result = train_latent(
        task.texts("train"),
        task.folder(name),
        validation=task.texts("valid"),
        config=config,
        loop=replace(EACH_EPOCH, seed=task.asked.seed, checkpoint_every=100, device=task.asked.trained_on),
        data_digests={task.file("train"): task.digest("train")},
        resume=True,
    )
    result.require_over()


def measure_row(name: str, task: Task) -> tuple[list[Score], LatentReport]:
    """Both protocols on the test split, of the last epoch's weights, which the authors' code leaves; and the honest one
    of those with the best bound on the validation split. And the report of the former.
    """
    last = _measured(name, "last", task)
    weights = [manifest.read(task.folder(name) / part).files[manifest.WEIGHTS] for part in ("last", "best")]
    best = last if weights[0] == weights[1] else _measured(name, "best", task)
    chosen = [replace(one, protocol="honest, best epoch") for one in best.scores if one.protocol == "honest"]
    shown = [replace(one, protocol="honest, same weights") if one.protocol == "honest" else one for one in last.scores]
    return [*shown, *chosen], last


def _measured(name: str, part: str, task: Task) -> LatentReport:
    """The report of a run's checkpoint `part`, kept in the run's folder."""
    folder = task.folder(name)
    model = checkpoint.load(folder / part, device=task.asked.device)
    texts = short_enough(task.texts("test"), model.words, model.max_tokens, "test")
    shared: dict[str, Any] = {"name": name, "seed": task.asked.seed}
    settings = {**shared, "sentences": len(texts), "test": task.digest("test"), "device": model.device.type}
    settings["checkpoint"] = sha256(folder / part / manifest.NAME)
    with bfloat16_products(model.device):
        precision = str(product_dtype(model.device)).removeprefix("torch.")
        if task.ngrams:
            training, words = task.texts("train"), partial(read_words, how=model.config.text)
            how: dict[str, Any] = {"samples": task.ngrams}
            settings |= {"train": task.digest("train"), "known": len(training), "precision": precision}
            measure = partial(with_ngrams, LatentReport((), ()), model.sample, words, training, texts, **shared, **how)
        else:
            how = {"samples": task.size.samples, "refit": task.size.refit and part == "last", "precision": precision}
            measure = partial(evaluate_latent, model, texts, **shared, **how)
        kind = "ngrams" if task.ngrams else "measured"
        found = kept(folder / f"{part}.{kind}.json", settings | how, lambda: dataclasses.asdict(measure()))
    scores = tuple(Score(**score) for score in found["scores"])
    bounds = found["bounds"] and SentenceBounds(**{**found["bounds"], "nats": tuple(found["bounds"]["nats"])})
    return LatentReport(scores, tuple(found["alarms"]), bounds)

"""Measuring the rows of PAR's tables, those of every seed that are there, beside the encoder as it comes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from paraform import checkpoint
from paraform.encoders import Encoder
from paraform.evaluation.embedding.distances import WordSystem, word_system
from paraform.evaluation.embedding.measuring import Difference, System, bounded, differences_of, system_of
from paraform.evaluation.embedding.task import Finding
from paraform.score import Score, table
from paraform.weights import atomic_path
from paraform_papers.par.configs import SIZES, Scale, config_of, rows_of
from paraform_papers.par.rows import ENCODER, folder_of, is_done, train_row
from paraform_papers.shipped.depth import mean_layer_embed
from paraform_papers.vectors_on_disk import kept

TOP, MEAN = "top layer", "mean of layers"  # of the encoder as it comes: the paper's two baselines


@dataclass(frozen=True)
class ParTable:
    """A table's figures, the differences of its rows from what they started from, and what is to be read beside."""

    scores: tuple[Score, ...]
    differences: tuple[Difference, ...] = ()
    text: str = ""

    def to_json(self) -> dict[str, Any]:
        """A JSON object: `scores`, each with its settings, `differences` and `text`."""
        return {
            "scores": [score.to_json() for score in self.scores],
            "differences": [one.to_json() for one in self.differences],
            "text": self.text,
        }

    def table(self, style: Literal["plain", "markdown"] = "markdown") -> str:
        """The figures, with a column for each set."""
        turned = [
            replace(
                one,
                name=one.subset,
                subset="all",
                protocol=", ".join(part for part in (one.name, one.protocol) if part),
                signature=one.signature.partition("|similarity:")[0].partition("|states:")[0],
            )
            for one in self.scores
        ]
        apart = "\n".join(f"- {one}" for one in self.differences)
        return "\n\n".join(part for part in (table(turned, style) if turned else "", apart, self.text) if part)


@dataclass(frozen=True)
class Model:
    """A row, or the encoder as it comes, as it is measured.

    Args:
        row: None: the encoder as it comes.
        mean: whether its words and sentences are means of all layers, as those that it was trained by.
    """

    name: str
    model: Any
    row: str | None
    mean: bool

    @property
    def start(self) -> str:
        """The name of what it started from, measured likewise."""
        return MEAN if self.mean else TOP

    def words(self) -> WordSystem:
        """As distances of words are measured."""
        return word_system(self.name, self.model, layers="mean" if self.mean else "own")

    def sentences(self, folder: Path) -> System:
        """As sentence vectors are measured; these are kept in a folder."""
        system = system_of(self.name, self.model)
        if self.mean:
            encoder = self.model if isinstance(self.model, Encoder) else self.model.encoder
            about = f"{system.signature}|layers:0 to {encoder.num_layers}, mean"
            system = System(self.name, about, mean_layer_embed(encoder))
        return system._replace(embed=kept(system.embed, system.signature, folder))


def trained(rows: Sequence[str], scale: Scale, data: Path, out: Path, seed: int, device: str | None) -> list[Model]:
    """Train these rows (those begun go on); the encoder as it comes twice, and the rows of every seed that are there.

    Args:
        rows: (): those of `rows_of`.
    Raises: InputError for no scale or row; KeyboardInterrupt if interrupted, and saved.
    """
    chosen = tuple(rows) or rows_of(scale)
    for row in chosen:
        config_of(row, scale)  # all are known, before the first is trained
    for row in chosen:
        train_row(row, scale, data, out, seed=seed, device=device or "auto")
    start = checkpoint.load(SIZES[scale].encoder, device=device)
    models = [Model(TOP, start, None, False), Model(MEAN, start, None, True)]
    for number in sorted(int(place.name.removeprefix("seed-")) for place in (out / scale).glob("seed-*")):
        for row in chosen:
            if is_done(row, scale, out, number):
                place, name = folder_of(row, scale, out, number), f"{row}, seed {number}"
                encoder = place / ENCODER
                model: Any = checkpoint.load(str(encoder if encoder.is_dir() else place), device=device)
                if isinstance(model, Encoder):
                    model = replace(model, name=name)  # signatures name no folder of this machine
                mean = getattr(config_of(row, scale), "states", "last") == "all"
                models.append(Model(name, model, row, mean))
    return models


def finished(
    findings: Sequence[Finding],
    models: Sequence[Model],
    scale: Scale,
    out: Path,
    name: str,
    *,
    published: Iterable[Score] = (),
    text: str = "",
) -> ParTable:
    """The table of these findings, in OUT/SCALE/NAME.md too, with each row's difference from what it started from."""
    resamples = SIZES[scale].resamples
    apart = [
        one
        for model in models
        if model.row is not None
        for one in differences_of(findings, [model.name, model.start], resamples)
    ]
    made = ParTable((*published, *bounded(findings, resamples)), tuple(apart), text)
    (out / scale).mkdir(parents=True, exist_ok=True)
    with atomic_path(out / scale / f"{name}.md") as unfinished:
        unfinished.write_text(made.table() + "\n", encoding="utf-8")
    return made

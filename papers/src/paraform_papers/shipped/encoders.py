"""What encoders know, and how much form is left in them: `docs/results/encoders.md`.

    paraform reproduce encoders --scale small --data ../shared/data --out runs/encoders

`minilm` and each of its layers, mean-pooled; the content and style vectors of `compact`; the means of
`latent-compact`; and the floors. Writes the page of `evaluate report` with its JSON, a picture of form and meaning by
layer, and tables in Markdown. Vectors are kept in the folder, so that what was encoded is not encoded again. Scales:
smoke is of a few rows; small leaves out transfer and trained similarity, and takes 300 paraphrases a set of robustness;
full is everything.
Running time at scale small: about half an hour on one core. Expected figures: docs/results/encoders.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from paraform import checkpoint
from paraform.capabilities import Embed, Embedder
from paraform.encoders import Encoder
from paraform.evaluation.embedding.families import FAMILIES, read_families
from paraform.evaluation.embedding.measuring import System, spaces_of, system_of
from paraform.evaluation.embedding.report import EmbeddingReport, Section, embedding_report
from paraform.evaluation.embedding.report_page import write_report
from paraform.evaluation.embedding.task import Choices
from paraform.evaluation.pictures import save_plot
from paraform.score import Score, table
from paraform_papers.rows import Row
from paraform_papers.shipped.depth import depth_plot, layer_embeds
from paraform_papers.tables import Asked, Scale, Style, Table
from paraform_papers.vectors_on_disk import kept

LAYERS = {layer: f"minilm@layer={layer}" for layer in range(6)} | {6: "minilm"}  # minilm is its last layer's mean
OTHERS = ("compact@vectors=content", "compact@vectors=style", "latent-compact")
MODELS = ("minilm", *(LAYERS[layer] for layer in range(6)), *OTHERS)
FLOOR = "minilm@weights=random"


@dataclass(frozen=True)
class Setting:
    """What a scale measures.

    Args:
        size: paraphrases of a set of robustness, at most.
        most: rows of each part of a set; None: all.
        resamples: of each interval.
    """

    families: tuple[str, ...]
    models: tuple[str, ...] = MODELS
    size: int = 1000
    most: int | None = None
    resamples: int = 1000


SCALES: dict[Scale, Setting] = {
    "smoke": Setting(("similarity", "probing"), ("minilm", LAYERS[0], LAYERS[3]), most=40, resamples=20),
    "small": Setting(tuple(name for name in FAMILIES if name != "transfer"), size=300),
    "full": Setting(tuple(FAMILIES)),
}


@dataclass(frozen=True)
class EncodersFound:
    """The report, and the folder that it stands in."""

    report: EmbeddingReport
    folder: Path

    @property
    def scores(self) -> list[Score]:
        """Those of every section."""
        return [score for section in self.report.sections for score in section.scores]

    def to_json(self) -> dict[str, Any]:
        """The report's object, and the page."""
        return {"page": str(self.folder / "report.html"), **self.report.to_json()}

    def table(self, style: Style = "markdown") -> str:
        """A table of what it comes to, and one of each family's main figures."""
        heading = "### " if style == "markdown" else ""
        summary = [replace(score, subset="all") for score in self.report.summary]  # the sets are in its signature
        parts = [f"{heading}Summary", table(summary, style)]
        for section in self.report.sections:
            for headline in section.family.headlines:
                if found := self._by_set(section, headline.name, headline.protocol):
                    title = f"{section.family.title}: {headline.name}"
                    parts += [f"{heading}{title}", table(found, style)]
        return "\n\n".join(parts)

    def _by_set(self, section: Section, name: str, protocol: str) -> list[Score]:
        """A figure with a column for each set."""
        return [
            replace(score, name=score.subset, subset="all", protocol="", signature=self.report.settings(score))
            for score in section.scores
            if (score.name, score.protocol) == (name, protocol)
        ]


def systems_of(models: Sequence[str], folder: Path, device: str | None) -> list[System]:
    """The models and the network with random weights, whose vectors are kept in a folder."""
    layers = {layer: name for layer, name in LAYERS.items() if name in models}
    systems = []
    by_layer: dict[str, Embed] = {}
    for name in (*models, FLOOR):
        model: Embedder = checkpoint.load(name, device=device)
        _, settings, embed = system_of(name, model)
        if isinstance(model, Encoder) and name in layers.values():
            by_layer = by_layer or dict(zip(layers.values(), layer_embeds(model, list(layers)), strict=True))
        systems.append(System(name, settings, kept(by_layer.get(name, embed), settings, folder)))
    return systems


def measure(asked: Asked, rows: Sequence[Row]) -> EncodersFound:
    """Measure, and write report.html, report.json and, of several layers, depth.png.

    Raises: InputError for a model that is none of this recipe's, or data that cannot be read.
    """
    setting = SCALES[asked.scale]
    models = asked.chosen(MODELS, setting.models)
    choices = Choices(setting.size, seed=asked.seed, trained=asked.scale == "full")
    families = read_families(asked.data, setting.families, choices)
    if setting.most is not None:
        families = families.limited(setting.most)
    spaces = spaces_of(families.tasks, systems_of(models, asked.out / "vectors", asked.device))
    report = embedding_report(families, spaces, models, resamples=setting.resamples)
    found = EncodersFound(report, asked.place)
    write_report(report, found.folder / "report.html")
    layers = {layer: name for layer, name in LAYERS.items() if name in models}
    if len(layers) > 1:
        save_plot(depth_plot(report, layers), found.folder / "depth.png")
    return found


TITLE = "What encoders know, and how much form is left in them"
TABLE = Table("encoders", TITLE, SCALES, lambda asked: (), measure, keeps=False)

"""Everything that is measured of several encoders, side by side: figures, differences, and what they come to."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraform.evaluation.embedding.correlation import ALL, MEAN
from paraform.evaluation.embedding.differences import Difference, differences_of
from paraform.evaluation.embedding.families import FAMILIES, Families, Family
from paraform.evaluation.embedding.measuring import bounded, measured, seen_notes
from paraform.evaluation.embedding.similarity import set_means
from paraform.evaluation.embedding.space import Space
from paraform.evaluation.embedding.summary import KINDS, Point, counts, points, sentences, summaries
from paraform.evaluation.embedding.task import Finding
from paraform.records import InputError, counted
from paraform.score import Score, signature
from paraform.weights import PathLike, atomic_path

MEANS = (("Pearson", MEAN), ("Spearman", ALL))
"""The figures that have a mean over sets: ParaBART's, and SimCSE's."""
RESAMPLES = 1000
"""Of every interval, unless a command is told otherwise."""


@dataclass(frozen=True, slots=True)
class Section:
    """A family's figures.

    Args:
        command: what measures the same by itself.
        differences: the first model against each other one, on everything that has rows.
    """

    family: str
    command: str
    scores: tuple[Score, ...]
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class EmbeddingReport:
    """Several encoders side by side.

    Args:
        models, floors: the names of what was measured, and each one's settings.
        left_out: families without data, and what was expected of each.
        summary: meaning, form, and accuracy on hard halves and on PAWS, of each system.
        findings: three sentences.
        intervals: how intervals were made.
        notes: models that are known to have seen sentences of the sets.
    """

    models: dict[str, str]
    floors: dict[str, str]
    sections: tuple[Section, ...]
    left_out: dict[str, str]
    summary: tuple[Score, ...]
    points: tuple[Point, ...]
    findings: tuple[str, ...]
    intervals: str
    notes: tuple[str, ...] = ()

    def settings(self, score: Score) -> str:
        """A figure's signature without its system's, which stands in `models` or `floors`."""
        system = {**self.models, **self.floors}.get(score.system, "")
        return score.signature.removesuffix(f"|{system}")

    def to_json(self) -> dict[str, Any]:
        """A JSON object of everything; what is no finite number is null."""
        found = {
            "models": self.models,
            "floors": self.floors,
            "findings": self.findings,
            "intervals": self.intervals,
            "notes": self.notes,
            "left_out": self.left_out,
            "summary": [score.to_json() for score in self.summary],
            "points": [
                {"system": point.system, "floor": point.floor, "meaning": point.meaning.value}
                | ({"form": point.form.value} if point.form else {})
                for point in self.points
            ],
            "families": [
                {
                    "family": section.family,
                    "command": section.command,
                    "scores": [score.to_json() for score in section.scores],
                    "differences": [one.to_json() for one in section.differences],
                }
                for section in self.sections
            ],
        }
        finite: dict[str, Any] = _finite(found)
        return finite

    def to_html(self) -> str:
        """`report_page.report_page`: one page that loads nothing."""
        from paraform.evaluation.embedding.report_page import report_page

        return report_page(self)

    def write(self, path: PathLike) -> Path:
        """Write the page, and the JSON beside it under the same name; returns the JSON's path."""
        beside = Path(path).with_suffix(".json")
        with atomic_path(path) as unfinished:
            unfinished.write_text(self.to_html(), encoding="utf-8")
        with atomic_path(beside) as unfinished:
            unfinished.write_text(json.dumps(self.to_json(), ensure_ascii=False, allow_nan=False), encoding="utf-8")
        return beside


def embedding_report(
    families: Families,
    spaces: Sequence[Space],
    models: Sequence[str],
    *,
    resamples: int = RESAMPLES,
    given: str = "",
    tell: Callable[[str], None] = lambda message: None,
) -> EmbeddingReport:
    """Measure the spaces on everything, and compare the first model with each other one by a paired bootstrap.

    Args:
        spaces: of the texts of all families.
        models: the names of the spaces that are no floors, the first one first.
        resamples: of every interval; 0: no intervals and no differences.
        given: the option that names the models, for the commands; "": a --model for each.
        tell: is told of each family that is begun.
    Raises: InputError if a model has no space, or two spaces have one name.
    """
    names = [space.name for space in spaces]
    if len(set(names)) < len(names) or not models or not set(models) <= set(names):
        raise InputError(
            f"spaces {', '.join(names)}, models {', '.join(models)}; expected different names, all measured"
        )
    sections: list[Section] = []
    kept: list[Finding] = []
    for family in families.found:
        tell(f"{family.name}: {counted(len(family.tasks), 'set')}, {counted(len(spaces), 'system')}")
        findings = measured(family.tasks, spaces)
        if family.name == "similarity":
            # Of the means those that papers print: each holds the rows of all sets.
            findings += set_means([one for one in findings if (one.score.name, one.score.protocol) in MEANS])
        scores = tuple(bounded(findings, resamples))
        differences = tuple(differences_of(findings, models, resamples))
        sections.append(Section(family.name, command_of(family, models, resamples, given), scores, differences))
        kept += [finding for finding in findings if counts(finding.score)]  # the others' rows need much memory
    found = summaries(kept, models, resamples)
    settings = {space.name: space.signature for space in spaces}
    return EmbeddingReport(
        models={name: settings[name] for name in models},
        floors={name: settings[name] for name in names if name not in models},
        sections=tuple(sections),
        left_out=families.left_out,
        summary=tuple(found[kind].score(name) for kind in KINDS if kind in found for name in found[kind].figures),
        points=tuple(points(found)),
        findings=tuple(sentences(found)),
        intervals=signature(intervals="95 %, percentile", resamples=resamples, corrected="no", seed=12345),
        notes=tuple(seen_notes([space for space in spaces if space.name in models])),
    )


def command_of(family: Family, models: Sequence[str], resamples: int = RESAMPLES, given: str = "") -> str:
    """What gives a family's figures by itself; `evaluate style` takes one model a call."""
    program = f"paraform {FAMILIES[family.name]}"
    data = f"--data {shlex.quote(family.data)}{family.options}"
    named = [given] if given else [f"--model {shlex.quote(name)}" for name in models]
    if family.name == "style":
        return "\n".join(f"{program} {name} {data}" for name in named)
    if family.name != "probing" and resamples != RESAMPLES:  # probing has no such option
        data += f" --resamples {resamples}"
    return " ".join([program, *named, data])


def _finite(value: Any) -> Any:
    """JSON has no NaN and no infinity."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, (list, tuple)) else value

"""Everything that is measured of several encoders, side by side: metrics, differences, and what they come to."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from paraform.evaluation.bootstrap import Comparison
from paraform.evaluation.embedding.families import Families, Found
from paraform.evaluation.embedding.measuring import bounded, differences_of, measured, seen_notes
from paraform.evaluation.embedding.space import Space
from paraform.evaluation.embedding.summary import KINDS, Point, points, sentences, summaries
from paraform.evaluation.embedding.task import Family, Finding
from paraform.records import InputError, counted
from paraform.score import Score, finite, signature

RESAMPLES = 1000
"""Of every interval, unless a command is told otherwise."""


@dataclass(frozen=True, slots=True)
class Section:
    """A family's metrics.

    Args:
        command: what measures the same by itself.
        differences: the first model against each other one, on everything that has rows.
        references: metrics that no system has a part in.
    """

    family: Family
    command: str
    scores: tuple[Score, ...]
    differences: tuple[Comparison, ...]
    references: frozenset[str] = frozenset()


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
        """A metric's signature without its system's, which stands in `models` or `floors`."""
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
                    "family": section.family.name,
                    "command": section.command,
                    "scores": [score.to_json() for score in section.scores],
                    "differences": [one.to_json() for one in section.differences],
                }
                for section in self.sections
            ],
        }
        made: dict[str, Any] = finite(found)
        return made


def embedding_report(
    families: Families,
    spaces: Sequence[Space],
    models: Sequence[str],
    *,
    resamples: int = RESAMPLES,
    given: Sequence[str] = (),
    tell: Callable[[str], None] = lambda message: None,
) -> EmbeddingReport:
    """Measure the spaces on everything, and compare the first model with each other one by a paired bootstrap.

    Args:
        spaces: of the texts of all families.
        models: the names of the spaces that are no floors, the first one first.
        resamples: of every interval; 0: no intervals and no differences.
        given: the option that names each model, for the commands; (): a --model for each.
        tell: is told of each family that is begun.
    Raises: InputError if a model has no space, or two spaces have one name.
    """
    names = [space.name for space in spaces]
    if len(set(names)) < len(names) or not models or not set(models) <= set(names):
        raise InputError(
            f"spaces {', '.join(names)}, models {', '.join(models)}; expected different names, all measured"
        )
    sections: list[Section] = []
    kept: dict[str, list[Finding]] = {kind: [] for kind in KINDS}
    for found_family in families.found:
        family = found_family.family
        tell(f"{family.name}: {counted(len(found_family.tasks), 'set')}, {counted(len(spaces), 'system')}")
        findings = measured(found_family.tasks, spaces)
        findings += family.means(findings)
        scores = tuple(bounded(findings, resamples))
        differences = tuple(differences_of(findings, models, resamples))
        references = frozenset(finding.score.name for finding in findings if finding.reference)
        command = command_of(found_family, models, resamples, given)
        sections.append(Section(family, command, scores, differences, references))
        for finding in findings:
            if kind := family.counts(finding.score):
                kept[kind].append(finding)  # the others' rows need much memory
    found = summaries(kept, models, resamples)
    settings = {space.name: space.signature for space in spaces}
    return EmbeddingReport(
        models={name: settings[name] for name in models},
        floors={name: settings[name] for name in names if name not in models},
        sections=tuple(sections),
        left_out=families.left_out,
        summary=tuple(found[kind].score(name) for kind in KINDS if kind in found for name in found[kind].metrics),
        points=tuple(points(found)),
        findings=tuple(sentences(found)),
        intervals=signature(intervals="95 %, percentile", resamples=resamples, corrected="no", seed=12345),
        notes=tuple(seen_notes([space for space in spaces if space.name in models])),
    )


def command_of(found: Found, models: Sequence[str], resamples: int = RESAMPLES, given: Sequence[str] = ()) -> str:
    """What gives a family's scores by itself, a line for each model if its command takes one a call."""
    family, named = found.family, list(given) or [f"--model {shlex.quote(name)}" for name in models]
    data = f"--data {shlex.quote(found.data)}{found.options}"
    program = f"paraform {family.command or 'evaluate report'}"
    if not family.command:
        data += f" --families {family.name}"
    if family.resampled and resamples != RESAMPLES:
        data += f" --resamples {resamples}"
    return "\n".join(f"{program} {one} {data}" for one in ([" ".join(named)] if family.side_by_side else named))

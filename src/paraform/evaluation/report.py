"""What an evaluation of a paraphraser found: its metrics, its outputs, and how sure they are."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from paraform.evaluation.bootstrap import Comparison, paired_bootstrap
from paraform.evaluation.metrics import RowMetric
from paraform.evaluation.protocols import Protocol
from paraform.evaluation.style import Retrieved
from paraform.records import InputError
from paraform.score import Score, brief_table, table

HEADLINES = ("BLEU", "METEOR", "ED-E", "ED-R", "TED-E", "TED-R", "content kept", "says the same")
"""What a summary shows: words of the reference, form of the exemplar and of the reference (of trees, if asked for),
content, and what a judge says (if asked)."""


@dataclass(frozen=True, eq=False, slots=True)
class Outputs:
    """What one system wrote under one protocol, row by row.

    Args:
        sources, references, exemplars, texts: one a row.
        metrics: by name, what each row adds to each metric.
    """

    system: str
    protocol: Protocol
    sources: tuple[str, ...]
    references: tuple[str, ...]
    exemplars: tuple[str, ...]
    texts: tuple[str, ...]
    metrics: Mapping[str, RowMetric]

    def lines(self) -> Iterator[dict[str, Any]]:
        """One JSON object a row, with those metrics that a row has by itself (BLEU it has not)."""
        alone = {name: metric for name, metric in self.metrics.items() if metric.value is None}
        rows = zip(self.sources, self.references, self.exemplars, self.texts, strict=True)
        for number, (source, reference, exemplar, text) in enumerate(rows):
            yield {
                "system": self.system,
                "protocol": self.protocol,
                "row": number,
                "source": source,
                "exemplar": exemplar,
                "reference": reference,
                "output": text,
                **{name: float(metric.rows[number, 0]) for name, metric in alone.items()},
            }


def compare(
    first: Outputs,
    second: Outputs,
    name: str = "BLEU",
    *,
    part: tuple[str, NDArray[np.int64]] | None = None,
    resamples: int = 1000,
    seed: int = 12345,
) -> Comparison:
    """Paired bootstrap of one metric between two systems, or two reports, on the same rows.

    Args:
        part: a name and row numbers, one of `subsets`; None: all rows.
    Raises: InputError if they were not measured on the same rows, or one has no such metric.
    """
    if (first.sources, first.references) != (second.sources, second.references):
        raise InputError(f"{first.system} and {second.system} were measured on different rows; expected the same")
    for outputs in (first, second):
        if name not in outputs.metrics:
            known = ", ".join(outputs.metrics)
            raise InputError(f"no figure {name!r} of {outputs.system} under {outputs.protocol}; expected {known}")
    protocol = first.protocol if first.protocol == second.protocol else f"{first.protocol} against {second.protocol}"
    metrics = [outputs.metrics[name] for outputs in (first, second)]
    if part is not None:
        metrics = [replace(metric, name=f"{name}, {part[0]}", rows=metric.rows[part[1]]) for metric in metrics]
    return paired_bootstrap(
        *metrics, names=(first.system, second.system), protocol=protocol, resamples=resamples, seed=seed
    )


@dataclass(frozen=True, eq=False, slots=True)
class GenerationReport:
    """Metrics of a paraphraser and of the floors, under each protocol.

    Args:
        scores: by system, protocol and subset.
        outputs: by system and protocol.
        comparisons: the first system against each other, by paired bootstrap.
        retrieved: lists of sentences that style vectors find; () if not asked for.
    """

    scores: tuple[Score, ...]
    outputs: tuple[Outputs, ...]
    comparisons: tuple[Comparison, ...]
    retrieved: tuple[Retrieved, ...] = ()

    def score(self, name: str, *, system: str, protocol: str = "", subset: str = "all") -> Score:
        """The one score of these. Raises: KeyError if there is none."""
        for score in self.scores:
            if (score.name, score.system, score.protocol, score.subset) == (name, system, protocol, subset):
                return score
        raise KeyError(f"no {name} of {system!r} under {protocol!r} on {subset!r}")

    def outputs_of(self, system: str, protocol: Protocol = "first") -> Outputs:
        """What that system wrote under that protocol. Raises: KeyError if it was not measured."""
        for outputs in self.outputs:
            if (outputs.system, outputs.protocol) == (system, protocol):
                return outputs
        raise KeyError(f"no outputs of {system!r} under {protocol!r}")

    def to_json(self) -> dict[str, Any]:
        """A JSON object of scores, comparisons and retrieved lists; the outputs are `write_outputs`'s."""
        return {
            "rows": len(self.outputs[0].texts),
            "scores": [score.to_json() for score in self.scores],
            "comparisons": [comparison.to_json() for comparison in self.comparisons],
            "retrieved": [
                {"query": found.query, "sentences": list(found.sentences), "distances": list(found.distances)}
                for found in self.retrieved
            ],
        }

    def table(self, style: Literal["plain", "markdown"] = "markdown", *, subset: str | None = None) -> str:
        """All scores, or those of one subset, as tables: the outputs' metrics, then those of the vectors."""
        chosen = [score for score in self.scores if subset in (None, score.subset)]
        groups = ([score for score in chosen if score.protocol], [score for score in chosen if not score.protocol])
        return "\n\n".join(table(group, style) for group in groups if group)

    def summary(self) -> str:
        """The metrics of `HEADLINES` on all rows, of each system under each protocol; below, what they share."""
        shown = [score for score in self.scores if score.subset == "all" and score.protocol]
        return brief_table([score for name in HEADLINES for score in shown if score.name == name])

    def write_outputs(self, path: str | os.PathLike[str]) -> None:
        """Every output as a line of JSON, the whole file or none of it."""
        from paraform.weights import atomic_path  # it brings torch along, which nothing else here needs

        with atomic_path(path) as unfinished, open(unfinished, "w", encoding="utf-8") as out:
            for outputs in self.outputs:
                out.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in outputs.lines())

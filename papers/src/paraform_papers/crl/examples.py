"""Sentences to read beside a report's metrics: outputs, one that lost its content, what vectors retrieve."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from paraform.capabilities import Embed
from paraform.evaluation.content import embed_unique
from paraform.evaluation.report import GenerationReport
from paraform.evaluation.style import Retrieved

QUERIES = 2  # of the retrieved lists that are shown


@dataclass(frozen=True)
class Example:
    """A row and what each system wrote for it, under the honest protocol."""

    source: str
    exemplar: str
    reference: str
    outputs: Mapping[str, str]


@dataclass(frozen=True)
class Examples:
    """What CRL-EGPG's Tables 4, 6 and 7 list.

    Args:
        drawn: Table 4: rows drawn by seed.
        changed: Table 6: the row where a system's content kept falls furthest below the first's; None of one system.
        loser, drop: whose falls so, and by how much.
        targets: by system, the reference that its content vectors find for that row's source (eq. 13).
        retrieved: Table 7: by system, what its style vectors find for sentences drawn by seed.
    """

    drawn: tuple[Example, ...]
    changed: Example | None
    loser: str
    drop: float
    targets: Mapping[str, str]
    retrieved: Mapping[str, tuple[Retrieved, ...]]

    def to_json(self) -> dict[str, Any]:
        """A JSON object of all fields."""
        return asdict(self)

    def __str__(self) -> str:
        lines = ["Outputs of rows drawn by seed (as Table 4)"]
        for example in self.drawn:
            lines += [*_lines(example), ""]
        if self.changed is not None:
            first = next(iter(self.changed.outputs))
            lines += [f"Where {self.loser} keeps least content against {first}, {self.drop:.3f} less (as Table 6)"]
            lines += _lines(self.changed)
            lines += [*(f"  {name} finds by content: {target}" for name, target in self.targets.items()), ""]
        lines += ["Found by style vectors (as Table 7)"]
        for name, lists in self.retrieved.items():
            for found in lists:
                lines += [f"  {name}, {found.query}", *(f"    {sentence}" for sentence in found.sentences)]
        return "\n".join(lines)


def _lines(example: Example) -> list[str]:
    known = {"source": example.source, "exemplar": example.exemplar, "reference": example.reference, **example.outputs}
    return [f"  {name}: {text}" for name, text in known.items()]


def examples(
    report: GenerationReport,
    content: Mapping[str, Embed],
    retrieved: Mapping[str, Sequence[Retrieved]],
    *,
    drawn: int = 3,
    seed: int = 0,
) -> Examples:
    """Some of a report's outputs under the protocol "first", and some of what vectors find.

    Args:
        content: the systems to show, and their content vectors; the first is the one that others are compared with.
        retrieved: by system, what style vectors found.
        drawn: how many rows, drawn by the seed.
    Raises: KeyError if the report lacks a system.
    """
    outputs = {name: report.outputs_of(name) for name in content}
    first, *others = outputs.values()

    def example(at: int) -> Example:
        texts = {name: own.texts[at] for name, own in outputs.items()}
        return Example(first.sources[at], first.exemplars[at], first.references[at], texts)

    numbers = random.Random(seed).sample(range(len(first.texts)), min(drawn, len(first.texts)))
    changed, loser, drop = None, "", 0.0
    targets: dict[str, str] = {}
    if others:
        kept = first.metrics["content kept"].rows[:, 0]
        drops = np.array([kept - other.metrics["content kept"].rows[:, 0] for other in others])
        which, at = divmod(int(drops.argmax()), len(kept))
        changed, loser, drop = example(at), others[which].system, float(drops.max())
        for name, embed in content.items():
            source, *references = embed_unique(embed, [first.sources[at], *first.references])
            targets[name] = first.references[int((np.array(references) @ source).argmax())]
    lists = {name: tuple(found[:QUERIES]) for name, found in retrieved.items()}
    return Examples(tuple(map(example, numbers)), changed, loser, drop, targets, lists)

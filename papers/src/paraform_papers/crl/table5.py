"""CRL-EGPG's Table 5, rating by people: 2 sources × 25 exemplars, 1 to 5, by the full model and its three ablations.

    paraform reproduce crl/table5 --scale small --corpus quora --data ../shared/data --out runs/crl
    paraform rate --sheet runs/crl/quora/small/table5-seed-0/sheet.jsonl \
        --out runs/crl/quora/small/table5-seed-0/ratings-a.jsonl --rater a

The first call trains (rows begun by crl/table2 go on) and makes the sheet, as a file and as a page; people rate it;
with `ratings*.jsonl` in its folder the first call, typed again, prints the table. Running time: that of the rows, and
an hour of a rater's. Expected: the paper has 3.71 (full), 3.59 (without CCL), 3.45 (without SCL) and 3.33 (without
both) on QQP-Pos, 2.53, 2.51, 2.53 and 2.38 on ParaNMT, of one mark for the whole; our `quality` is the mean of three.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraform import checkpoint
from paraform.evaluation.rating import Output, make_sheet, read_key, write_key, write_outputs, write_sheet
from paraform.evaluation.rating_answers import read_ratings
from paraform.evaluation.rating_page import write_page
from paraform.evaluation.rating_report import RatingReport, rating_report
from paraform.records import InputError, Pair
from paraform.score import Score
from paraform_papers.crl.rows import ROWS, measured_pairs
from paraform_papers.crl.table2 import SCALES, row_of
from paraform_papers.rows import Row
from paraform_papers.tables import Asked, Style, Table

SOURCES, EXEMPLARS = 2, 25


@dataclass(frozen=True)
class Rated:
    """Table 5, as far as people have rated it; `report` is None before."""

    folder: Path
    report: RatingReport | None

    @property
    def scores(self) -> Sequence[Score]:
        """The report's."""
        return self.report.scores if self.report else ()

    def to_json(self) -> dict[str, Any]:
        """A JSON object: the sheet, and the report once there are ratings."""
        return {"sheet": str(self.folder / "sheet.jsonl"), **(self.report.to_json() if self.report else {})}

    def table(self, style: Style = "markdown") -> str:
        """The figures, or how to rate."""
        if self.report is not None:
            return self.report.table(style)
        sheet = self.folder / "sheet.jsonl"
        how = f"paraform rate --sheet {sheet} --out {self.folder / 'ratings-NAME.jsonl'} --rater NAME"
        return f"not rated yet: {sheet} holds the outputs\nrate them by `{how}`,\nor on {self.folder / 'sheet.html'}"


def draw(pairs: Sequence[Pair], seed: int) -> list[tuple[str, str]]:
    """Sources and exemplars, drawn by seed: two clusters' first sources, and for each 25 targets of the other clusters.

    The paper does not name its two sources. An exemplar has three words or more; a small split may have fewer than 25.
    """
    generator = random.Random(seed)
    source_of = {pair.cluster: pair.source.text for pair in reversed(pairs)}
    targets = sorted({(pair.target.text, pair.cluster) for pair in pairs if len(pair.target.text.split()) > 2})
    asked = []
    for own in generator.sample(list(source_of), min(SOURCES, len(source_of))):
        others = [text for text, cluster in targets if cluster != own]
        asked += [(source_of[own], like) for like in generator.sample(others, min(EXEMPLARS, len(others)))]
    if not asked:
        raise InputError(f"{len(source_of)} clusters of test pairs; expected at least two, to draw exemplars from")
    return asked


def rows(asked: Asked) -> list[Row]:
    """Those of Table 2; once the sheet is made none is trained again."""
    if key_file(asked).is_file():
        return []
    return [row_of(name, asked) for name in asked.rows or ROWS]


def key_file(asked: Asked) -> Path:
    """The sheet's key, which is written last."""
    return asked.place / f"table5-seed-{asked.seed}" / "sheet.key.json"


def measure(asked: Asked, rows: Sequence[Row]) -> Rated:
    """The rows' outputs and the sheet; with ratings beside it, the table. A sheet once made is kept.

    Raises: as `read_ratings` does; InputError if the sheet is of other rows.
    """
    path = key_file(asked)
    if not path.is_file():
        pairs = draw(measured_pairs(asked), asked.seed)
        systems = {}
        for row in rows:
            model = checkpoint.load(row.folder / "best", device=asked.device)
            wrote = zip(pairs, model.decode(*map(list, zip(*pairs, strict=True))), strict=True)
            systems[row.name] = [Output(source, text.strip() or None, like) for (source, like), text in wrote]
            write_outputs(systems[row.name], path.parent / f"{row.name.replace(' ', '-')}.jsonl")
        items, key = make_sheet(systems, seed=asked.seed)
        write_sheet(items, path.parent / "sheet.jsonl")
        write_page(items, path.parent / "sheet.html")
        write_key(key, path)
    key, expected = read_key(path), list(asked.rows or ROWS)
    if list(key.systems) != expected:
        raise InputError(f"{path}: of {', '.join(key.systems)}; expected {', '.join(expected)}, or another --out")
    answers = read_ratings(sorted(path.parent.glob("ratings*.jsonl")), key.items)
    # Two sources say nothing of others: what is drawn anew are the exemplars.
    return Rated(path.parent, rating_report(answers, key, resample="outputs", seed=asked.seed) if answers else None)


TABLE = Table(
    "crl/table5", "CRL-EGPG's Table 5: rating by people", dict.fromkeys(SCALES), rows, measure, ("CORPUS",), keeps=False
)

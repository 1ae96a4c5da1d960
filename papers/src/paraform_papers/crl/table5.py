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
from typing import Any, Literal

from paraform import checkpoint
from paraform.evaluation.rating import Output, make_sheet, read_key, write_key, write_outputs, write_sheet
from paraform.evaluation.rating_answers import read_ratings
from paraform.evaluation.rating_page import write_page
from paraform.evaluation.rating_report import RatingReport, rating_report
from paraform.records import InputError, Pair
from paraform_papers.crl.data import Corpus, Scale, load, part_of
from paraform_papers.crl.rows import ROWS, setting
from paraform_papers.crl.table2 import train_row

SOURCES, EXEMPLARS = 2, 25


@dataclass(frozen=True)
class Table:
    """Table 5, as far as people have rated it; `report` is None before."""

    folder: Path
    report: RatingReport | None

    def to_json(self) -> dict[str, Any]:
        """A JSON object: the sheet, and the report once there are ratings."""
        return {"sheet": str(self.folder / "sheet.jsonl"), **(self.report.to_json() if self.report else {})}

    def table(self, style: Literal["plain", "markdown"] = "markdown") -> str:
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


def run(
    *,
    scale: Scale = "smoke",
    corpus: Corpus = "quora",
    data: Path = Path("../shared/data"),
    out: Path = Path("runs/crl"),
    rows: Sequence[str] = tuple(ROWS),
    seed: int = 0,
    device: str | None = None,
) -> Table:
    """Train rows, write their outputs and the sheet; with ratings beside it, the table. A sheet once made is kept.

    Raises: as `train_row` and `read_ratings` do; InputError if the sheet is of other rows.
    """
    folder = out / corpus / scale / f"table5-seed-{seed}"
    key_file = folder / "sheet.key.json"
    if not key_file.is_file():  # written last
        asked = draw(part_of(load(data, corpus, "test"), setting(scale, corpus).test_pairs, seed), seed)
        systems = {}
        for row in rows:
            trained = train_row(row, scale, corpus, data, out, seed=seed, device=device or "auto")
            texts = checkpoint.load(trained, device=device).decode(*map(list, zip(*asked, strict=True)))
            wrote = zip(asked, texts, strict=True)
            systems[row] = [Output(source, text.strip() or None, like) for (source, like), text in wrote]
            write_outputs(systems[row], folder / f"{row.replace(' ', '-')}.jsonl")
        items, key = make_sheet(systems, seed=seed)
        write_sheet(items, folder / "sheet.jsonl")
        write_page(items, folder / "sheet.html")
        write_key(key, key_file)
    key = read_key(key_file)
    if list(key.systems) != list(rows):
        raise InputError(f"{key_file}: of {', '.join(key.systems)}; expected {', '.join(rows)}, or another --out")
    answers = read_ratings(sorted(folder.glob("ratings*.jsonl")), key.items)
    # Two sources say nothing of others: what is drawn anew are the exemplars.
    return Table(folder, rating_report(answers, key, resample="outputs", seed=seed) if answers else None)

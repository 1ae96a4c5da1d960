"""How much of its source does a decoder copy (B20)? Two models' outputs for the same rows, side by side.

    paraform evaluate generation --model MODEL --data first.tsv --protocols first --outputs FULL.jsonl   # of each
    python -m paraform_papers.parabart.copying WITHOUT.jsonl FULL.jsonl

"copies": percent of outputs that are their source. "own words": percent of an output's words that its source has, each
as often as there. Words are in small letters, marks are none.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from paraform.evaluation.bootstrap import paired_bootstrap
from paraform.evaluation.generation import FLOORS
from paraform.evaluation.metrics import RowMetric, row_mean
from paraform.records import InputError
from paraform.words import tokenize


def words(text: str) -> list[str]:
    """Without marks."""
    return [word for word in tokenize(text.lower()) if any(map(str.isalnum, word))]


def read(file: Path) -> dict[int, tuple[str, str]]:
    """Row → source and output of the model. Raises: InputError if there are none."""
    rows: list[Mapping[str, object]] = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    own = [row for row in rows if row.get("system") not in FLOORS]
    if not own:
        raise InputError(f"{file}: no output of a model; expected what `evaluate generation --outputs` writes")
    return {int(str(row["row"])): (str(row["source"]), str(row["output"])) for row in own}


def metrics(pairs: Sequence[tuple[str, str]]) -> list[RowMetric]:
    """Of (source, output) pairs."""
    both = [(words(source), words(output)) for source, output in pairs]
    shares = [(Counter(own) & Counter(source)).total() / max(len(own), 1) for source, own in both]
    copies = [source == own for source, own in both]
    return [
        row_mean("copies", 100 * np.array(copies), "unit:percent"),
        row_mean("own words", 100 * np.array(shares), "unit:percent"),
    ]


def main() -> None:
    """Print both models' figures, and the first less the second."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("outputs", nargs=2, type=Path, metavar="FILE")
    files: list[Path] = parser.parse_args().outputs
    first, second = map(read, files)
    if {row: source for row, (source, _) in first.items()} != {row: source for row, (source, _) in second.items()}:
        raise InputError(f"{files[0]} and {files[1]}: other rows; expected outputs of one file of pairs")
    found = {}
    for one, other in zip(metrics(list(first.values())), metrics([second[row] for row in first]), strict=True):
        compared = paired_bootstrap(one, other, names=(files[0].stem, files[1].stem)).to_json()
        found[one.name] = {files[0].stem: one.over(), files[1].stem: other.over(), "compared": compared}
    print(json.dumps(found))


if __name__ == "__main__":
    main()

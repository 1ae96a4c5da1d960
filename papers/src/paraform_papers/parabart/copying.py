"""How much of its source does a decoder copy (B20)? Two models' outputs for the same rows, side by side.

    paraform evaluate generation --model MODEL --data first.tsv --protocols first --outputs FULL.jsonl   # of each
    python -m paraform_papers.parabart.copying WITHOUT.jsonl FULL.jsonl

"copies": percent of outputs that are their source. "source's words": percent of an output's words that its source has,
each as often as there. Words are in small letters, marks are none. The others are the command's own.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paraform.evaluation.bootstrap import paired_bootstrap
from paraform.evaluation.generation import FLOORS
from paraform.evaluation.metrics import RowMetric, row_mean
from paraform.records import InputError
from paraform.words import tokenize

OTHERS = ("content kept", "ROUGE-1", "ED-E")


def words(text: str) -> list[str]:
    """Without marks."""
    return [word for word in tokenize(text.lower()) if any(map(str.isalnum, word))]


def read(file: Path) -> list[dict[str, Any]]:
    """The model's rows, in order. Raises: InputError if they are not those of one model by one protocol."""
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        try:
            row = json.loads(line)
            if row["system"] not in FLOORS:
                rows.append({key: row[key] for key in ("row", "source", "exemplar", "output", *OTHERS)})
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{file}:{number}: {error!r}; expected a line of `evaluate generation --outputs`"
            ) from error
    rows.sort(key=lambda row: int(row["row"]))
    if not rows or len({row["row"] for row in rows}) < len(rows):
        raise InputError(f"{file}: {len(rows)} outputs of models; expected one model's, by one protocol")
    return rows


def metrics(rows: Sequence[dict[str, Any]]) -> list[RowMetric]:
    """Of one model."""
    both = [(words(row["source"]), words(row["output"])) for row in rows]
    shares = [(Counter(said) & Counter(source)).total() / max(len(said), 1) for source, said in both]
    copies = [source == said for source, said in both]
    return [
        row_mean("copies", 100 * np.array(copies), "unit:percent"),
        row_mean("source's words", 100 * np.array(shares), "unit:percent"),
        *(row_mean(name, np.array([row[name] for row in rows]), "of the row") for name in OTHERS),
    ]


def main() -> None:
    """Print both models' figures, and the first less the second."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("outputs", nargs=2, type=Path, metavar="FILE")
    files: list[Path] = parser.parse_args().outputs
    first, second = map(read, files)
    asked = [[(row["source"], row["exemplar"]) for row in rows] for rows in (first, second)]
    if asked[0] != asked[1]:
        raise InputError(f"{files[0]} and {files[1]}: other rows; expected outputs for one file of pairs")
    found = {}
    for one, other in zip(metrics(first), metrics(second), strict=True):
        compared = paired_bootstrap(one, other, names=(str(files[0]), str(files[1])))
        found[one.name] = {"first": one.over(), "second": other.over(), "compared": compared.to_json()}
    print(json.dumps(found))


if __name__ == "__main__":
    main()

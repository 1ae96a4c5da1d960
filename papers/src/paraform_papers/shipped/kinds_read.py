"""How the draw of six kinds was read: of each kind, how many answers are what, by each reader.

    python -m paraform_papers.shipped.kinds_read docs/ratings/kinds-h.jsonl docs/ratings/kinds-k.jsonl \\
        --sheet docs/ratings/kinds.sheet.jsonl --key docs/ratings/kinds.key.json --inputs docs/ratings/kinds-inputs.json

`rewording_kinds` made the draw. A verdict is "strictly", or else the comment: one word, wrapped, awkward, slip,
wrong, copy. Inputs without an answer are left out.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

SYSTEM, LEFT_OUT, RESAMPLES = "default", "left out", 2000
TOLD = ("strictly", "one word", "wrapped", "awkward", "slip", "wrong", "copy", LEFT_OUT)


def verdicts(ratings: Path, sheet: Path, key: Path) -> dict[str, str]:
    """What a reader called the system's output for each source."""
    own = {*json.loads(key.read_text(encoding="utf-8"))["systems"][SYSTEM]["items"]}
    sources = {row["id"]: row["source"] for row in _lines(sheet) if row.get("id") in own}
    rated = {row["id"]: row for row in _lines(ratings)}
    return {
        source: "strictly" if rated[name]["acceptable"] == "strictly" else rated[name]["comment"]
        for name, source in sources.items()
    }


def counted(read: Mapping[str, str], kinds: Mapping[str, Sequence[str]]) -> dict[str, Counter[str]]:
    """Of each kind's sources how many were called what, and of all."""
    found = {kind: Counter(read.get(source, LEFT_OUT) for source in sources) for kind, sources in kinds.items()}
    return {**found, "all": sum(found.values(), Counter())}


def interval(read: Mapping[str, str], sources: Sequence[str], wanted: Sequence[str]) -> tuple[float, float]:
    """95 % of the share of the sources that are called one of these, by resampling sources."""
    hits = np.array([read.get(source, LEFT_OUT) in wanted for source in sources])
    drawn = np.random.default_rng(0).integers(len(hits), size=(RESAMPLES, len(hits)))
    low, high = np.percentile(hits[drawn].mean(1), (2.5, 97.5))
    return float(low), float(high)


def main() -> None:
    """Print a table of each reader."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("ratings", type=Path, nargs="+")
    for name in ("sheet", "key", "inputs"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    options = parser.parse_args()
    kinds = json.loads(options.inputs.read_text(encoding="utf-8"))
    every = [source for sources in kinds.values() for source in sources]
    for ratings in options.ratings:
        read = verdicts(ratings, options.sheet, options.key)
        print(ratings.name)
        print("| kind |", " | ".join(TOLD), "|")
        for kind, found in counted(read, kinds).items():
            print(f"| {kind} |", " | ".join(str(found[name]) for name in TOLD), "|")
        for wanted in (("strictly",), ("strictly", "one word"), ("wrong",), ("slip", "wrong")):
            low, high = interval(read, every, wanted)
            print(f"{' or '.join(wanted)}: {100 * low:.1f} to {100 * high:.1f} %")


def _lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    main()

"""What a language model's answers were read as, and which figure tells the usable ones from the others.

    python -m paraform_papers.shipped.said_answers docs/ratings/said-answers.jsonl

A row of the file is an answer of `smollm2-free` to a sentence, and how it was read, once, by who built it. Rows of set
"figures" have the figures of the default call's checks: three of a sentence's likeliest six answers, by adapters of
10,422 records. Those of sets that are named by a seed passed all checks (adapters of 18,847 records).
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

from sklearn.metrics import roc_auc_score  # type: ignore[import-untyped] # scikit-learn has no types


def counts(rows: list[dict[str, Any]]) -> dict[str, Counter[str]]:
    """How many of each set were read as what."""
    found: dict[str, Counter[str]] = {}
    for row in rows:
        found.setdefault(row["set"], Counter())[row["read"]] += 1
    return found


def areas(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Of each figure the area under the ROC curve, by which usable answers stand above the others."""
    clear = [row for row in rows if row["set"] == "figures" and row["read"] != "unclear"]
    usable = [row["read"] == "usable" for row in clear]
    return {name: float(roc_auc_score(usable, [row["figures"][name] for row in clear])) for name in clear[0]["figures"]}


def main() -> None:
    """Print both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("answers", type=Path)
    rows = [json.loads(line) for line in parser.parse_args().answers.read_text(encoding="utf-8").splitlines()]
    for name, found in counts(rows).items():
        print(name, dict(found))
    sources = {row["source"] for row in rows if row["set"] == "figures"}
    usable = {row["source"] for row in rows if row["set"] == "figures" and row["read"] == "usable"}
    print(f"{len(usable)} of {len(sources)} sentences have a usable answer")
    for name, area in areas(rows).items():
        print(f"{name} {area:.2f}")


if __name__ == "__main__":
    main()

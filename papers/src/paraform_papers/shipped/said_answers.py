"""What answers were read as, and which figure of a language model's tells the usable ones from the others.

    python -m paraform_papers.shipped.said_answers docs/ratings/said-answers.jsonl

A row of the file is an answer to a sentence, whose it is (`set`), and how it was read, once. Those of set "figures" and
of sets that are a seed alone were read by who built it, the others by readers who did not know whose answer was whose.
Rows with figures have those of the default call's checks. Sets: "figures", three of a sentence's likeliest six
answers, by adapters of 10,422 records; "20261129" and "20261130", answers that passed all checks, by the embedded
adapters (18,847 records); "20261202 candidates", of 220 sentences, up to six answers each by adapters that went on with
`written` (13,000 records), which fail one check at most; "20261202 embedded", "with written" and "rules", the best
answer of each to these sentences, read shuffled (of rules without those that only put words around).
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
    clear = [row for row in rows if row["read"] != "unclear"]
    usable = [row["read"] == "usable" for row in clear]
    return {name: float(roc_auc_score(usable, [row["figures"][name] for row in clear])) for name in clear[0]["figures"]}


def main() -> None:
    """Print both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("answers", type=Path)
    rows = [json.loads(line) for line in parser.parse_args().answers.read_text(encoding="utf-8").splitlines()]
    for name, found in counts(rows).items():
        print(name, dict(found))
        passed = [row["read"] for row in rows if row["set"] == name and row.get("failed") == []]
        if passed:
            print(f"  {passed.count('usable')} of {len(passed)} that pass all checks are usable")
        some = [row for row in rows if row["set"] == name and row.get("figures")]
        if some:
            sources = {row["source"] for row in some}
            usable = {row["source"] for row in some if row["read"] == "usable"}
            print(f"  {len(usable)} of {len(sources)} sentences have a usable answer")
            print("  " + ", ".join(f"{figure} {area:.2f}" for figure, area in areas(some).items()))


if __name__ == "__main__":
    main()

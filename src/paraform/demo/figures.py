"""How much form is left in the embedded encoders: what their cards say, which was measured and is not measured here."""

from __future__ import annotations

import re
from importlib import resources
from typing import Any

START = "minilm"
COMPARED = ("minilm-disentangled", "minilm-par")  # those with a card that has a column of `minilm` beside their own
COMMAND = (
    "paraform evaluate report --model minilm {name} --data DATA --families similarity probing robustness"
    " --size 300 --floors none --out report.html"
)
# A set of the cards, what it asks in words, and the accuracy of whoever always says the commonest answer
# (docs/results/parabart.md, Table 2); None of a figure of meaning, which is shown as it is.
FORM = (
    ("BShift (re-created)", "were two words exchanged?", 50.0),
    ("TreeDepth (re-created)", "how deep is the tree?", 15.6),
    ("TopConst (re-created)", "what does the tree begin with?", 6.5),
)
OTHER = (
    ("SentLen (re-created)", "how long is the sentence? (left, of what is above chance)", 14.2),
    ("WordContent (re-created)", "which of fifty words is in it? (left, of what is above chance)", 1.8),
    ("mean of 6", "meaning: agreement with people on STS (Pearson, mean of six sets)", None),
    (
        "PAWS dev, reporting half",
        "who did what to whom: paraphrases told (ROC AUC, PAWS; chance is 50)",
        None,
    ),
)


def left(accuracy: float, commonest: float) -> float:
    """Of what a probe could find beyond the commonest answer, the share that it finds, in percent."""
    return 100 * (accuracy - commonest) / (100 - commonest)


def form_left() -> dict[str, Any]:
    """A table for each encoder that is compared: rows of (what is asked, of `minilm`, of the encoder), in percent."""
    tables = []
    for name in COMPARED:
        found = _card(name)
        if any(which not in found for which, *_ in FORM):
            continue
        form = [_row(found[which], asked, commonest) for which, asked, commonest in FORM]
        other = [_row(found[which], asked, commonest) for which, asked, commonest in OTHER if which in found]
        mean = [round(sum(row[side] for row in form) / len(form), 1) for side in (1, 2)]
        tables.append(
            {
                "encoders": [START, name],
                "form": [*form, ["all three, the mean", *mean]],
                "other": other,
                "command": COMMAND.format(name=name),
            }
        )
    return {"tables": tables}


def _row(pair: tuple[float, float], asked: str, commonest: float | None) -> list[Any]:
    return [asked, *(value if commonest is None else round(left(value, commonest), 1) for value in pair)]


def _card(name: str) -> dict[str, tuple[float, float]]:
    """Of the encoder's card each set's two figures; {} if there is no such encoder, or no such table in its card."""
    card = resources.files("paraform") / "pretrained" / name / "README.md"
    if not card.is_file():
        return {}
    whole = card.read_text(encoding="utf-8")
    _, head, table = whole.partition(f"| figure | set | {START} | {name} |\n")
    rows = re.findall(r"^\| [^|]+ \| ([^|]+) \| ([\d.]+) \| ([\d.]+) \|$", table if head else "", re.MULTILINE)
    return {which: (float(start), float(own)) for which, start, own in rows}

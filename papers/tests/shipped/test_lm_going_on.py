"""Nats of pairs, and what a row has less than the start, by hand."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np

from paraform_papers.shipped.lm_going_on import START, banking, compared

ROOT = Path(__file__).parents[3]


def test_less_is_the_difference_of_rates_over_all_pieces() -> None:
    start, row = np.array([(4.0, 2), (6.0, 6)]), np.array([(2.0, 2), (6.0, 6)])
    found = compared({"start": start, "row": row}, "start")
    assert found["start"] == {"nats a piece": 1.25, "less": 0, "low": 0, "high": 0}
    assert found["row"] == {"nats a piece": 1.0, "less": 0.25, "low": 0, "high": 1}


def test_pairs_of_banking_are_of_intents_that_may_be_used(data: Path) -> None:
    pairs = banking(data)
    assert len(pairs) > 1_000 and len({pair.source.text for pair in pairs}) > 600
    assert all(pair.source.text != pair.target.text for pair in pairs)


def test_the_page_has_the_figures_and_what_was_read() -> None:
    figures = json.loads((ROOT / "papers" / "results" / "lm-going-on.json").read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "systems" / "lm.md").read_text(encoding="utf-8")
    for name in figures["0"]["banking"]:
        cells = []
        for test in ("banking", "all kinds"):
            rows = [figures[seed][test][name] for seed in ("0", "1")]
            shown = [f"{row['less']:.2f} ({row['low']:.2f} to {row['high']:.2f})" for row in rows]
            cells += [", ".join(f"{row['nats a piece']:.2f}" for row in rows), ", ".join(shown).replace("-", "−")]
        assert f"| {' | '.join(cells)} |" in page or name == START
    lines = (ROOT / "docs" / "ratings" / "going-on.jsonl").read_text(encoding="utf-8").splitlines()
    read = Counter((row["system"], row["read"]) for row in map(json.loads, lines))
    assert (read[START, "usable"], read["more pairs of banking", "usable"]) == (15, 24)
    assert {read[name, "wrong"] for name in (START, "more pairs of banking")} == {10}

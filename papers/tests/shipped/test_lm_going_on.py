"""Nats of pairs, and what a row has less than the start, by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from paraform_papers.shipped.lm_going_on import banking, compared


def test_less_is_the_difference_of_rates_over_all_pieces() -> None:
    start, row = np.array([(4.0, 2), (6.0, 6)]), np.array([(2.0, 2), (6.0, 6)])
    found = compared({"start": start, "row": row}, "start")
    assert found["start"] == {"nats a piece": 1.25, "less": 0, "low": 0, "high": 0}
    assert found["row"] == {"nats a piece": 1.0, "less": 0.25, "low": 0, "high": 1}


def test_pairs_of_banking_are_of_intents_that_may_be_used(data: Path) -> None:
    pairs = banking(data)
    assert len(pairs) > 1_000 and len({pair.source.text for pair in pairs}) > 600
    assert all(pair.source.text != pair.target.text for pair in pairs)

"""Trials of a stronger decoder: what each changes, and what their outputs are judged by."""

from __future__ import annotations

from dataclasses import asdict, replace

import pytest

from paraform.models.exemplar import ExemplarConfig
from paraform.recipes.decoder_trials import BASES, CHANGES, PIECES, START, TRIALS, passing


def config(trial: str) -> dict[str, object]:
    return asdict(replace(ExemplarConfig.compact(), **START | TRIALS[trial]))


def test_every_trial_changes_what_its_name_says_and_nothing_else() -> None:
    """One field; pieces are three, and without copying there is none onward."""
    together = {"pieces": set(PIECES), "no copying": {"copy", "copy_onward"}}
    for base in BASES:
        for name, change in CHANGES[base].items():
            before, after = config(base), config(f"{base}, {name}")
            different = {field for field in before if before[field] != after[field]}
            assert different == set(change) == together.get(name, set(change)) and different
            assert len(different) == 1 or name in together
    assert TRIALS.keys() == {*BASES, *(f"{base}, {name}" for base, some in CHANGES.items() for name in some)}


@pytest.mark.parametrize(
    ("output", "share"),
    [
        ("What is the best way of quickly learning the piano?", 1),
        ("What is the best way to learn the piano quickly?", 0),  # a copy
        ("What is the best way of quickly learning the violin?", 0),
        ("What is not the best way of quickly learning the piano?", 0),
        ("That is the best way of quickly learning the piano.", 0),
    ],
)
def test_the_share_that_passes_every_check(output: str, share: int) -> None:
    source = "What is the best way to learn the piano quickly?"
    assert passing([source], [output]) == share
    assert passing([source, source], [output, source]) == share / 2

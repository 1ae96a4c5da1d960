"""How often Algorithm 1 drops the nearest sentence: against every sentence's distance, found one by one."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from paraform import corpora
from paraform.evaluation.style import edit_distances
from paraform.fields import with_fields
from paraform.recipes.dropped_exemplars import MOST_TOKENS, NO_RULE, distances, dropped, main
from paraform.records import Pair
from paraform.syntax.annotation import annotate
from paraform.syntax.rules import MiningConfig

PAIRS = """\
how do i learn to cook ?\tcan i learn to cook ?
how do i learn to swim ?\twhat is the best way to learn swimming ?
what is the capital of france ?\twhich city is the capital of france ?
can i learn to bake ?\tis it hard to learn baking ?
who wrote the book ?\twho is the author of the book ?
where can i buy cheap shoes ?\twhich shops sell cheap shoes ?
why is the sky blue ?\twhat makes the sky look so blue ?
"""


@pytest.fixture
def pairs(tmp_path: Path) -> list[Pair]:
    (tmp_path / "pairs.tsv").write_text(PAIRS)
    records = corpora.read(tmp_path / "pairs.tsv", "pairs")
    return corpora.clusters(record for record in records if isinstance(record, Pair))


def test_what_is_dropped_is_nearer_than_the_exemplar(pairs: list[Pair]) -> None:
    rules = MiningConfig.paper()
    given, nearest = distances(pairs, rules), distances(pairs, with_fields(rules, NO_RULE))
    sources, targets = (
        annotate([getattr(pair, side).text for pair in pairs], max_tokens=MOST_TOKENS, lower=True)
        for side in ("source", "target")
    )
    near, allowed = np.full(len(pairs), -1), np.full(len(pairs), -1)
    for row, target in enumerate(targets):
        others = [source for source in sources if source.text not in (target.text, sources[row].text)]
        edits = edit_distances([one.tags for one in others], [target.tags] * len(others))
        near[row] = edits.min()
        fits = [
            abs(len(one.tokens) - len(target.tokens)) <= 2
            and len(set(one.tokens) & set(target.tokens)) + 2 <= len(target.tokens)
            for one in others
        ]
        if any(fits):
            allowed[row] = edits[fits].min()
    assert nearest.tolist() == near.tolist()
    assert given.tolist() == allowed.tolist()
    assert dropped(given, nearest).tolist() == [far - low for far, low in zip(allowed, near, strict=True) if far >= 0]
    assert (dropped(given, nearest) > 0).any() and (dropped(given, nearest) >= 0).all()


def test_a_line_for_each_rule_set_aside(
    pairs: list[Pair], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["dropped_exemplars", str(tmp_path / "pairs.tsv")])
    main()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        f"{pool}, set aside {rule}" for pool in ("paper", "ours") for rule in ("none", "length_gap", "min_new_words")
    ]

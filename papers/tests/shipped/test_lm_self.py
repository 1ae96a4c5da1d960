"""Pairs that a language model makes of sentences without a partner: small files of the real formats, a fake model."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from paraform.capabilities import Verdicts
from paraform.records import Candidate
from paraform_papers.shipped import lm_self

GUM = "(ROOT (S (NP (DT The) (JJ old) (NN house)) (VP (VBD fell) (PRT (RP down)) (PP (IN in) (NP (NNP May)))) (. .)))"


class Fake:
    """Of "The old …" it says that it is ancient, of all else what it was told."""

    kind = "a fake"
    device = "cpu"

    def say(self, sources: Sequence[str], *, num: int = 4, **how: Any) -> list[list[str]]:
        return [
            [text, "In May the ancient house fell down." if text.startswith("The old house") else text]
            for text in sources
        ]

    def likelihood(self, sources: Sequence[str], targets: Sequence[str]) -> list[NDArray[np.float32]]:
        return [np.full(len(text) + 1, -0.05, np.float32) for text in targets]


def test_what_passes_is_learned_both_ways(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "treebank" / "gum" / "train").mkdir(parents=True)
    for genre in lm_self.FREE_GENRES:
        (tmp_path / "treebank" / "gum" / "train" / f"{genre}.mrg").write_text(f"{GUM}\n")
    context = "The tower of the town is the home of a bird. It was built in 1889 by the men of the town."
    question = {"id": "a", "question": "What is it?", "answers": [{"text": "tower", "answer_start": 4}]}
    squad = {"data": [{"title": "t", "paragraphs": [{"context": context, "qas": [question]}]}]}
    (tmp_path / "squad").mkdir()
    (tmp_path / "squad" / "train-part.json").write_text(json.dumps(squad))
    (tmp_path / "banking77").mkdir()
    with (tmp_path / "banking77" / "train.csv").open("w", newline="") as table:
        texts = [
            ("Where is the card that I ordered?", "a"),
            ("How do I get to the bank?", "b"),
            ("I like it here now.", "c"),
        ]
        csv.writer(table).writerows([("text", "category"), *texts])
    monkeypatch.setattr(lm_self, "measured_by", lambda data: ["it was built in 1889 by the men of the town"])
    asked = [one.text for one in lm_self.without_partner(tmp_path, 0)]
    assert "It was built in 1889 by the men of the town." not in asked and "The old house fell down in May." in asked
    pairs, counts = lm_self.made(tmp_path, Fake(), seed=0, most=99)  # type: ignore[arg-type]
    both = ("The old house fell down in May.", "In May the ancient house fell down.")
    assert {(one.source.text, one.target.text) for one in pairs} == {both, both[::-1]}
    assert counts.rows["train"]["answered"] == len(pairs) / 2 and counts.rows["squad"] == {"not": 1}


class Thinks:
    """A judge that thinks of each answer what it was told."""

    def __init__(self, **same: float) -> None:
        self.same = same

    def judge(self, pairs: Sequence[tuple[str, str]]) -> Verdicts:
        same_N = np.array([self.same[answer] for _, answer in pairs], np.float32)
        return Verdicts(same_N, same_N, same_N)


def test_a_judge_chooses_among_what_likelihoods_refuse() -> None:
    def answer(text: str, failed: str, edits: int = 3) -> Candidate:
        return Candidate(text, "", {"numbers": failed != "numbers", "likely": failed != "likely"}, 0, {"edits": edits})

    row = [answer("a", "likely"), answer("b", ""), answer("c", "numbers"), answer("d", "", edits=2)]
    assert lm_self.best("s", row, None) == "b"
    assert lm_self.best("s", row, Thinks(a=0.8, b=0.6)) == "a"  # type: ignore[arg-type]
    assert lm_self.best("s", row, Thinks(a=0.4, b=0.3)) is None  # type: ignore[arg-type]
    assert lm_self.best("s", row[2:], Thinks()) is None  # type: ignore[arg-type]

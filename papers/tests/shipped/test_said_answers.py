"""Counts, areas and shares of answers that were read, by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from paraform.capabilities import Verdicts
from paraform.corpora.leaks import normalised
from paraform_papers.shipped.said_answers import areas, beside_by, by_suits, counts, judged, usable_of_all
from paraform_papers.shipped.written import WRITTEN, digest

ANSWERS = Path(__file__).parents[3] / "docs" / "ratings" / "said-answers.jsonl"


def test_areas_and_counts() -> None:
    read = [("usable", 0.9), ("usable", 0.4), ("not", 0.5), ("not", 0.1), ("unclear", 9.0)]
    rows = [{"set": "figures", "read": said, "figures": {"forth": value}} for said, value in read]
    assert areas(rows) == {"forth": 0.75}
    assert counts(rows) == {"figures": {"usable": 2, "not": 2, "unclear": 1}}


def test_shares_are_of_all_sentences() -> None:
    def row(system: str, source: str, read: str) -> dict[str, Any]:
        return {"set": f"20261202 {system}", "source": source, "read": read}

    rows = [
        row("candidates", "d", "wrong"),  # which no system answers
        *(row("rules", *one) for one in (("a", "wrong"), ("b", "wrapped"))),
        *(row("with written", *one) for one in (("a", "usable"), ("b", "usable"), ("c", "copy"))),
        row("embedded", "c", "usable"),
        {"set": "figures", "source": "e", "read": "usable"},
    ]
    found = usable_of_all(rows)
    assert {name: some[:2] for name, some in found.items()} == {
        "rules": (0, 4),
        "embedded": (1, 4),
        "with written": (2, 4),
        "rules, more synonyms": (0, 4),
        "default": (0, 4),
        "rules, then its own sentences": (1, 4),
        "rules, then with written": (1, 4),  # a's is the rules', which is wrong
    }
    assert found["rules"][2:] == (0, 0)
    low, high = found["with written"][2:]
    assert low == pytest.approx(0) and high == pytest.approx(1)  # of four


def test_synonyms_count_by_how_many_sentences_they_suit_where_they_are_likely_enough() -> None:
    told = [("most", "usable", 0.0), ("most", "slip", -4.9), ("most", "usable", -5.1), ("some", "copy", 1.0)]
    rows = [{"suits": suits, "read": read, "figures": {"beside": beside}} for suits, read, beside in told]
    assert by_suits(rows) == {"nearly all": (0, 0), "most": (1, 2), "some": (0, 0)}


class Letters:
    """A judge that takes the share of letters that both begin with for how likely it is."""

    kind: ClassVar[str] = "a judge"

    def judge(self, pairs: Sequence[tuple[str, str]], **how: Any) -> Verdicts:
        same = np.array([1.0 if one[0] == other[0] else 0.25 for one, other in pairs], np.float32)
        return Verdicts(same, same, same)


def test_what_a_judge_says_of_candidates_by_the_check_that_they_fail() -> None:
    read = [("a", "usable", []), ("b", "wrong", ["roles"]), ("a", "wrong", ["roles"]), ("a", "slip", [])]
    rows = [
        {"set": "20261202 candidates", "source": "a", "answer": answer, "read": said, "failed": failed}
        for answer, said, failed in read
    ]
    assert judged([*rows, {"set": "figures", "source": "a", "read": "wrong"}], Letters(), "candidates") == {
        "": {"usable": [1.0], "wrong": [], "slip": [1.0]},
        "roles": {"usable": [], "wrong": [0.25, 1.0]},
    }


def test_nothing_learns_from_them() -> None:
    answered = {json.loads(line)["source"] for line in ANSWERS.read_text(encoding="utf-8").splitlines()}
    drawn, digests = {*map(normalised, answered)}, {*map(digest, answered)}
    for name in ("written", "read"):
        lines = WRITTEN.with_name(f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
        texts = [row["source"] for row in rows if "source" in row]
        assert len(texts) > 1000 and not drawn & {*map(normalised, texts)}
        assert not digests & {row.get("digest") for row in rows}


def test_another_models_likelihoods_are_told_by_the_same_answers() -> None:
    class Fake:
        """The shorter the likelier."""

        def likelihood(self, sources: list[str], targets: list[str]) -> list[NDArray[np.float32]]:
            assert len(sources) == len(targets)
            return [np.full(len(text) + 1, -1.0, np.float32) for text in targets]

    rows = [
        {"set": "synonyms", "source": "a big house", "answer": answer, "read": read}
        for answer, read in (("a huge house", "usable"), ("a gigantic house", "wrong"), ("a large house", "wrong"))
    ]
    rows.append({"set": "order", "source": "a", "answer": "b", "read": "usable"})
    assert beside_by(Fake(), rows) == 1.0  # type: ignore[arg-type]
    assert beside_by(Fake(), [*rows, {**rows[1], "read": "usable"}]) == 0.625  # type: ignore[arg-type]

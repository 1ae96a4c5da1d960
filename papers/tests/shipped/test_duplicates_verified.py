"""Near pairs that a judge keeps and drops, drawn to be read: small files of the real format, a fake judge."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from paraform.capabilities import Verdicts
from paraform_papers.shipped import duplicates_verified
from paraform_papers.shipped.duplicates_verified import joined, told, verified


class Fake:
    """A judge that takes pairs without "card" for the same."""

    def judge(
        self, pairs: Sequence[tuple[str, str]], *, cosines: NDArray[np.float32], progress: bool = False
    ) -> Verdicts:
        assert len(cosines) == len(pairs) and (cosines > 0.7).all()
        same_N = np.array(["card" not in one + other for one, other in pairs], np.float32)
        return Verdicts(same_N, same_N, same_N)


def test_what_is_kept_and_dropped_is_drawn_in_one_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplicates_verified, "judge_of", lambda name: Fake())
    (tmp_path / "quora").mkdir()
    rows = [
        "How do I lose my card?\tHow can I lose my card?",
        "How do I learn to swim?\tHow can I learn swimming?",
        "Who wrote Hamlet?\tWho was it that wrote Hamlet?",
    ]
    (tmp_path / "quora" / "test.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    figures = verified(tmp_path, "fake", tmp_path / "out", among=0, seed=0)
    assert (figures["pairs"], figures["kept"], figures["labelled of all"]) == ({"0": 3, "0.5": 2, "0.82": 2}, 2, 1)
    sheet, key = (
        [json.loads(line) for line in (tmp_path / "out" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
        for name in ("sheet", "key")
    )
    assert [row["kept"] for row in key] == ["card" not in row["texts"][0] for row in sheet]
    assert {*sheet[0]} == {"id", "texts"}, "a reader sees nothing of what the judge thinks"
    (tmp_path / "reader.jsonl").write_text(
        "".join(json.dumps({"id": row["id"], "same": row["texts"][0].startswith("Who")}) + "\n" for row in sheet)
    )
    joined(tmp_path / "out", [tmp_path / "reader.jsonl"] * 2)
    rows = [json.loads(line) for line in (tmp_path / "out" / "read.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["says"] for row in rows] == [[row["texts"][0].startswith("Who")] * 2 for row in sheet]


def test_what_was_read_stands_for_what_was_found(tmp_path: Path) -> None:
    """By hand: of 100 pairs 10 are kept at 0.82 and 40 at 0.5, and each of six that were read stands for others."""
    (tmp_path / "figures.json").write_text(json.dumps({"pairs": {"0": 100, "0.5": 40, "0.82": 10}}))
    rows = [(0.9, 0.95, True), (0.85, 0.8, True), (0.6, 0.9, True), (0.55, 0.85, False), (0.1, 0.97, False)]
    (tmp_path / "read.jsonl").write_text(
        "".join(json.dumps({"same": same, "similarity": cosine, "says": [asks]}) + "\n" for same, cosine, asks in rows)
    )
    found = told(tmp_path)["reader 1"]
    assert found["precision from 0.82"][0] == 1 and found["precision from 0.5"][0] == pytest.approx((10 + 15) / 40)
    assert found["precision from 0"][0] == pytest.approx((10 + 15) / 100)
    assert found["precision by cosine, as many"][0] == 0, "the nearest of all stands for 60 pairs, and asks another"
    # Of 25 that ask the same, 10 are above all others; 15 are above the 60, and above the 15 of 0.55.
    assert found["AUC"][0] == 1 and found["AUC by cosine"][0] == pytest.approx((5 * 15 + 15 * 15) / (25 * 75))

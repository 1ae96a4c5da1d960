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
from paraform_papers.shipped.duplicates_verified import read, verified


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
    assert (figures["pairs"], figures["kept"], figures["labelled of all"]) == (3, 2, 1)
    sheet, key = (
        [json.loads(line) for line in (tmp_path / "out" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
        for name in ("sheet", "key")
    )
    assert [row["kept"] for row in key] == ["card" not in row["texts"][0] for row in sheet]
    assert {*sheet[0]} == {"id", "texts"}, "a reader sees nothing of what the judge thinks"
    (tmp_path / "reader.jsonl").write_text(
        "".join(json.dumps({"id": row["id"], "same": row["texts"][0].startswith("Who")}) + "\n" for row in sheet)
    )
    found = read(tmp_path / "out" / "key.jsonl", tmp_path / "reader.jsonl")
    kept_alone = [line for line in (tmp_path / "out" / "key.jsonl").read_text().splitlines() if '"kept": true' in line]
    (tmp_path / "key.jsonl").write_text("\n".join(kept_alone))
    assert {*read(tmp_path / "key.jsonl", tmp_path / "reader.jsonl")} == {"kept"}
    assert found["kept"] == (0.5, 0, 1) and found["dropped"] == (0, 0, 0)

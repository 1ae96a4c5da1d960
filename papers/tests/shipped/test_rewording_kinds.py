"""What is drawn to be rated blind: six kinds of text, the same by the same seed, and none of what is written twice."""

from __future__ import annotations

from pathlib import Path

from paraform_papers.shipped.rewording_kinds import EACH, LEAST, MOST, inputs

WRITTEN = Path(__file__).parents[3] / "docs" / "ratings" / "kinds-written.json"


def test_fifty_of_each_of_six_kinds(data: Path) -> None:
    kinds = inputs(data, WRITTEN, 1)
    assert [*kinds] == ["message", "review", "encyclopaedic", "question", "command", "ticket"]
    assert {len(texts) for texts in kinds.values()} == {EACH}
    assert len({text for texts in kinds.values() for text in texts}) == 6 * EACH
    drawn = [text for kind in ("message", "review", "encyclopaedic", "question") for text in kinds[kind]]
    assert all(LEAST <= len(text.split()) <= MOST for text in drawn)
    assert inputs(data, WRITTEN, 1) == kinds and inputs(data, WRITTEN, 2)["review"] != kinds["review"]

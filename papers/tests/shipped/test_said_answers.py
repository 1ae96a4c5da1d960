"""Areas and counts of answers that were read, by hand."""

from __future__ import annotations

from paraform_papers.shipped.said_answers import areas, counts


def test_areas_and_counts() -> None:
    read = [("usable", 0.9), ("usable", 0.4), ("not", 0.5), ("not", 0.1), ("unclear", 9.0)]
    rows = [{"set": "figures", "read": said, "figures": {"forth": value}} for said, value in read]
    assert areas(rows) == {"forth": 0.75}
    assert counts(rows) == {"figures": {"usable": 2, "not": 2, "unclear": 1}}

"""Rows of guides, which differ in one thing each; a row that was measured is not trained again."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pytest

from paraform_papers.crl import lm_rows
from paraform_papers.crl.lm_rows import COPY, ROWS, brief, made, table

ROOT = Path(__file__).parents[3]
PAGE, RESULTS = ROOT / "docs" / "systems" / "lm.md", ROOT / "papers" / "results" / "lm-rows"


def test_rows_differ_in_one_thing() -> None:
    """From the style vector's, but for the one without both contrasts."""
    own = ROWS["style vector"]
    changed = {
        name: {one.name for one in fields(config) if getattr(config, one.name) != getattr(own, one.name)}
        for name, config in ROWS.items()
    }
    assert changed == {
        "no guide": {"guide"},
        "exemplar's text": {"guide"},
        "tags": {"guide"},
        "style vector": set(),
        "style vector without SCL": {"style_weight"},
        "style vector without CCL": {"content_weight"},
        "style vector without both": {"style_weight", "content_weight"},
    }


def test_what_is_measured_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "9" / "0").mkdir(parents=True)
    (tmp_path / "9" / "0" / "tags.json").write_text("{}")
    monkeypatch.setattr(lm_rows, "load", lambda *_: pytest.fail("data were read"))
    made("tags", tmp_path, tmp_path, 9, 0)
    with pytest.raises(BaseException, match="data were read"):
        made("tags", tmp_path, tmp_path, 9, 1)


def report_of(system: str, value: float) -> dict[str, object]:
    """A report's JSON, with what `brief` leaves out beside it."""

    def one(name: str, who: str, subset: str, of: float) -> dict[str, object]:
        return {
            "name": name,
            "value": of,
            "signature": f"{name}|s",
            "system": who,
            "protocol": "first",
            "subset": subset,
        }

    scores = [
        one(name, who, subset, value + at + (who == COPY))
        for at, name in enumerate(("BLEU", "ED-E", "content kept", "METEOR"))
        for who in (system, COPY)
        for subset in ("all", "least overlap")
    ]
    apart = {"name": "BLEU", "first": system, "second": COPY, "difference": 1.23456, "low": 0.0, "high": 2.0}
    return {"rows": 9, "scores": scores, "comparisons": [apart, {**apart, "second": "copy exemplar"}], "retrieved": []}


def test_a_brief_report_has_three_figures_and_how_far_they_are_from_copying() -> None:
    found = brief(report_of("tags", 1.0))
    assert [*found] == ["rows", "BLEU", "ED-E", "content kept"] and found["rows"] == 9
    assert found["BLEU"] == {
        "signature": "BLEU|s",
        "values": {"tags": {"all": 1.0, "least overlap": 1.0}, COPY: {"all": 2.0, "least overlap": 2.0}},
        "more than copying": [1.2346, 0.0, 2.0],
    }


def test_the_table_has_a_row_a_file_by_pairs_and_copying_last(tmp_path: Path) -> None:
    for size, seed, name, value in ((6000, 0, "tags", 1.0), (500, 1, "no guide", 3.0)):
        place = tmp_path / str(size) / str(seed)
        place.mkdir(parents=True)
        both = {corpus: brief(report_of(name, value)) for corpus in ("quora", "paranmt")}
        (place / f"{name.replace(' ', '-')}.json").write_text(json.dumps(both))
    assert table(tmp_path)[2:] == [
        "| no guide | 500 | 1 | 3.00 | 3.00 | 4.00 | 5.00 | 3.00 | 4.00 |",
        "| tags | 6,000 | 0 | 1.00 | 1.00 | 2.00 | 3.00 | 1.00 | 2.00 |",
        "| copy source |  |  | 2.00 | 2.00 | 3.00 | 4.00 | 2.00 | 3.00 |",
    ]


def test_the_page_has_the_table() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    rows = table(RESULTS)[2:]
    assert len(rows) > 3 and all(row in lines for row in rows)

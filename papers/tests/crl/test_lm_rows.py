"""Rows of guides, which differ in one thing each; a row that was measured is not trained again."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from paraform_papers.crl import lm_rows
from paraform_papers.crl.lm_rows import ROWS, made


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

"""Verdicts by kind, by hand; and of the draw itself, what docs/rewording.md says of it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from paraform_papers.shipped.kinds_read import TOLD, counted, interval, verdicts

RATINGS = Path(__file__).parents[3] / "docs" / "ratings"
PAGE = RATINGS.parent / "rewording.md"


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_what_is_not_strict_is_what_the_reader_said_and_the_rest_is_left_out(tmp_path: Path) -> None:
    sheet = write(tmp_path / "s", [{"instruction": []}, *({"id": name, "source": name.upper()} for name in "abx")])
    ratings = write(
        tmp_path / "r",
        [
            {"id": "a", "acceptable": "strictly"},
            {"id": "b", "acceptable": "leniently", "comment": "wrapped"},
            {"id": "x", "acceptable": "no", "comment": "copy"},
        ],
    )
    key = write(tmp_path / "k", [{"systems": {"default": {"items": ["a", "b"]}, "same": {"items": ["x"]}}}])
    read = verdicts(ratings, sheet, key)
    assert read == {"A": "strictly", "B": "wrapped"}
    own = Counter({"strictly": 1, "wrapped": 1})
    rest = Counter({"left out": 1})
    assert counted(read, {"one": ["A", "B"], "two": ["C"]}) == {"one": own, "two": rest, "all": own + rest}
    assert interval(read, ["A"], ["strictly"]) == (1, 1) and interval(read, ["A"], ["wrong"]) == (0, 0)


@pytest.mark.parametrize(("draw", "readers"), [("kinds", "hk"), ("kinds-2", "pq")])
def test_the_page_has_the_counts_of_both_readings(draw: str, readers: str) -> None:
    kinds = json.loads((RATINGS / f"{draw}-inputs.json").read_text(encoding="utf-8"))
    places = [RATINGS / f"{draw}.{name}" for name in ("sheet.jsonl", "key.json")]
    found = [counted(verdicts(RATINGS / f"{draw}-{name}.jsonl", *places), kinds) for name in readers]
    rows = [line.split("|")[2:-1] for line in PAGE.read_text(encoding="utf-8").splitlines() if ", " in line]
    shown = {tuple(cell.strip() for cell in row) for row in rows}
    for kind in (*kinds, "all"):
        cells = [", ".join(str(one[kind][name]) for one in found) for name in TOLD if name not in ("copy", "left out")]
        left = {one[kind]["left out"] for one in found}
        assert len(left) == 1 and (*cells, str(left.pop())) in shown, kind
    assert sum(found[0]["all"].values()) == pytest.approx(300)

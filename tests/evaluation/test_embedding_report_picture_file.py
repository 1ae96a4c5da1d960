"""Form against meaning as a file: a report's points, in SVG as on the page, in PNG where the SVG has them."""

from __future__ import annotations

import json
import xml.etree.ElementTree as Xml
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread

from paraform.evaluation.embedding.report_picture import picture
from paraform.evaluation.embedding.report_picture_file import HEIGHT, KINDS, WIDTH, draw_points, read_points
from paraform.records import InputError
from paraform.score import Score

SVG = "{http://www.w3.org/2000/svg}"


def report(**forms: float | None) -> dict[str, Any]:
    """As `EmbeddingReport.to_json` has it; meanings are 70, 60, 50 …"""
    summary, points = [], []
    for number, (name, form) in enumerate(forms.items()):
        meaning = Score("meaning", 70.0 - 10 * number, "mean_of:Pearson", name, low=69.0 - 10 * number, high=71.0)
        summary.append(meaning.to_json())
        points.append({"system": name, "floor": number > 0, "meaning": meaning.value})
        if form is not None:
            summary.append(Score("form", form, "", name, low=form - 1, high=form + 1).to_json())
            points[-1]["form"] = form
    return {"summary": summary, "points": points}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "r.json").write_text(json.dumps(report(one=20.0, two=60.0, words=None)), encoding="utf-8")
    return tmp_path / "r.json"


def test_points_come_back_with_their_intervals(file: Path) -> None:
    one, two, words = read_points(file)
    assert (one.system, one.floor, one.meaning.value, one.form and one.form.value) == ("one", False, 70.0, 20.0)
    assert two.floor and two.form is not None and (two.form.low, two.form.high) == (59.0, 61.0)
    assert words.form is None and words.meaning.low == 49.0


def test_the_svg_is_the_pages_picture_with_a_style_of_its_own(file: Path, tmp_path: Path) -> None:
    points = read_points(file)
    draw_points(points, tmp_path / "a.svg")
    root = Xml.parse(tmp_path / "a.svg").getroot()
    style, back, *rest = root
    assert style.tag == f"{SVG}style" and (back.get("width"), back.get("height")) == (str(WIDTH), str(HEIGHT))
    same = Xml.fromstring(picture(points, WIDTH, HEIGHT))
    assert [Xml.tostring(element) for element in rest] == [Xml.tostring(element) for element in same]
    assert root.get("width") == str(WIDTH)


def test_the_png_has_each_mark_where_the_svg_has_it(file: Path, tmp_path: Path) -> None:
    points = read_points(file)
    draw_points(points, tmp_path / "a.png")
    pixels = imread(tmp_path / "a.png")[..., :3]
    assert pixels.shape == (2 * HEIGHT, 2 * WIDTH, 3)
    blue = np.array([int(KINDS["model"][at : at + 2], 16) / 255 for at in (1, 3, 5)])
    rows, columns = np.nonzero((np.abs(pixels - blue) < 0.02).all(-1))
    (disc,) = Xml.fromstring(picture(points, WIDTH, HEIGHT)).iter(f"{SVG}circle")
    centre = np.array([float(disc.get("cx", "")), float(disc.get("cy", ""))])
    assert np.allclose([columns.mean() / 2, rows.mean() / 2], centre, atol=1)  # of the one model alone
    assert np.ptp(rows) / 2 == pytest.approx(12, abs=1.5)  # its diameter


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1]", "no report (TypeError: "),
        ("{", "no report (JSONDecodeError: "),
        ('{"points": []}', "no report (KeyError: 'summary'); expected the JSON that `paraform evaluate report` writes"),
        (json.dumps(report(one=None)), "no form against meaning; expected a report of the families similarity and"),
    ],
)
def test_what_is_no_such_report_is_one_line(text: str, said: str, file: Path) -> None:
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_points(file)
    assert said in str(error.value) and "\n" not in str(error.value)


def test_a_name_may_hold_anything(file: Path, tmp_path: Path) -> None:
    file.write_text(json.dumps(report(**{"$x_1$\u0001<b>&": 20.0})), encoding="utf-8")
    (point,) = read_points(file)
    draw_points([point], tmp_path / "a.svg")
    draw_points([point], tmp_path / "a.png")
    names = [text.text for text in Xml.parse(tmp_path / "a.svg").iter(f"{SVG}text") if text.get("class") == "name"]
    assert names == ["$x_1$ <b>&"] and (tmp_path / "a.png").stat().st_size

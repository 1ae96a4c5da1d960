"""The picture: points stand where their metrics say, by the axes' own ticks, and names are text."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as Xml

import numpy as np
import pytest

from paraform.evaluation.embedding.report_picture import Scale, picture
from paraform.evaluation.embedding.summary import Point
from paraform.score import Score

SVG = "{http://www.w3.org/2000/svg}"


def point(name: str, form: float | None, meaning: float, floor: bool = False) -> Point:
    across = None if form is None else Score("form", form, "", low=form - 1, high=form + 2, digits=1)
    return Point(name, floor, Score("meaning", meaning, "", low=meaning - 1, high=meaning + 1, digits=1), across)


POINTS = [
    point("one", 12.5, 78.3),
    point("two", 40.0, 61.8),
    point("two again", 40.2, 61.9),
    point("random", 30.0, 50.0, floor=True),
    point("words", None, 55.0, floor=True),
]


def by_ticks(svg: Xml.Element, axis: str) -> np.poly1d:
    """From pixels to values, by the ticks that a reader sees."""
    ticks = [text for text in svg.iter(f"{SVG}text") if text.get("class") == f"tick {axis}"]
    assert len(ticks) >= 3
    shift = -4 if axis == "y" else 0  # a tick's text stands on its base line
    pixels = [float(tick.get(axis, "")) + shift for tick in ticks]
    return np.poly1d(np.polyfit(pixels, [float(tick.text or "") for tick in ticks], 1))


@pytest.mark.parametrize("size", [(820, 460), (360, 380)])
def test_points_stand_where_the_metrics_say(size: tuple[int, int]) -> None:
    svg = Xml.fromstring(picture(POINTS, *size))
    x, y = by_ticks(svg, "x"), by_ticks(svg, "y")
    discs = [(x(float(c.get("cx", ""))), y(float(c.get("cy", "")))) for c in svg.iter(f"{SVG}circle")]
    assert np.allclose(discs, [(12.5, 78.3), (40.0, 61.8), (40.2, 61.9)], atol=0.1)
    (square,) = svg.iter(f"{SVG}rect")
    found = x(float(square.get("x", "")) + 5), y(float(square.get("y", "")) + 5)
    assert np.allclose(found, (30.0, 50.0), atol=0.1)
    lines = [line for line in svg.iter(f"{SVG}line") if line.get("class") == "floor"]
    assert len(lines) == 1 and np.isclose(y(float(lines[0].get("y1", ""))), 55.0, atol=0.1)
    crosses = [line for line in svg.iter(f"{SVG}line") if line.get("class") == "interval model"]
    assert np.allclose([x(float(crosses[0].get(key, ""))) for key in ("x1", "x2")], (11.5, 14.5), atol=0.1)
    assert np.allclose([y(float(crosses[1].get(key, ""))) for key in ("y1", "y2")], (77.3, 79.3), atol=0.1)


def test_names_cover_no_other_name_and_stand_inside() -> None:
    svg = Xml.fromstring(picture(POINTS, 360, 380))
    boxes = []
    for text in svg.iter(f"{SVG}text"):
        if text.get("class") == "name":
            x, y, long = float(text.get("x", "")), float(text.get("y", "")), 8.0 * len(text.text or "")
            boxes.append((x, y - 12, x + long, y + 3))
    assert len(boxes) == len(POINTS)
    for one, other in itertools.combinations(boxes, 2):
        assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
    assert all(left >= 0 and right <= 360 for left, _, right, _ in boxes)


def test_a_name_is_text_and_a_long_one_is_cut() -> None:
    hostile = "<script>alert(1)</script>&\"'" + "x" * 100
    svg = Xml.fromstring(picture([point(hostile, 1, 2)], 360, 380))
    assert {element.tag for element in svg.iter()} <= {SVG + tag for tag in ("svg", "line", "text", "circle", "title")}
    (name,) = (text.text or "" for text in svg.iter(f"{SVG}text") if text.get("class") == "name")
    assert name.startswith("<script>") and name.endswith("…") and len(name) < 50
    assert hostile in (next(svg.iter(f"{SVG}title")).text or "")


@pytest.mark.parametrize("ends", [(0.3, 0.9), (-3.0, 97.0), (12.0, 13.5)])
def test_ticks_are_round_and_within(ends: tuple[float, float]) -> None:
    ticks = Scale(*ends, 0, 100).ticks(6)
    assert 2 <= len(ticks) <= 7 and all(ends[0] <= tick <= ends[1] for tick in ticks)
    step = ticks[1] - ticks[0]
    assert round(step / 10 ** np.floor(np.log10(step)), 6) in (1, 2, 5, 10)

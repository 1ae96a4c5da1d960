"""Form against meaning as a picture of its own, from the JSON that `evaluate report` wrote."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as Xml
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paraform.evaluation.embedding.report_picture import picture
from paraform.evaluation.embedding.summary import Point
from paraform.evaluation.pictures import save_plot
from paraform.extensions import needed
from paraform.records import InputError
from paraform.score import Score
from paraform.weights import PathLike, atomic_path

if TYPE_CHECKING:  # its import takes longer than a short answer
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, HEIGHT = 820, 460  # pixels
INK, SOFT, GRID = "#1b1f24", "#5c6670", "#d8dde2"
KINDS = {"model": "#1f5fbf", "floor": "#945700"}
FONTS = {"tick": 12}  # pixels
FONT = 13
POINTS = 0.72  # of a pixel: 100 of these are an inch, as 72 points are
STYLE = (
    f"text {{ font: {FONT}px sans-serif; fill: {INK}; }} .tick {{ font-size: {FONTS['tick']}px; fill: {SOFT}; }}"
    " .name { paint-order: stroke; stroke: #fff; stroke-width: 4px; stroke-linejoin: round; }"
    f" line {{ stroke-width: 1.5; }} .grid {{ stroke: {GRID}; stroke-width: 1; }} .interval {{ opacity: 0.55; }}"
    + "".join(f" .{kind} {{ stroke: {colour}; }}" for kind, colour in KINDS.items())
    + f" circle.model {{ fill: {KINDS['model']}; }} rect.floor {{ fill: #fff; stroke-width: 2.5; }}"
    " line.floor:not(.interval) { stroke-dasharray: 5 4; }"
)


def read_points(path: PathLike) -> list[Point]:
    """The systems of a report, with the intervals of their form and meaning, if there are some.

    Raises: InputError if the file is no such JSON, or no form or no meaning was measured.
    """
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
        summary = {(one["name"], one["system"]): Score(**one, digits=1) for one in found["summary"]}
        points = [_point(one, summary) for one in found["points"]]
    except (ValueError, LookupError, TypeError) as error:
        expected = "the JSON that `paraform evaluate report` writes beside its page"
        raise InputError(f"{path}: no report ({type(error).__name__}: {error}); expected {expected}") from error
    if not any(point.form for point in points):
        raise InputError(
            f"{path}: no form against meaning; expected a report of the families similarity and probing (BShift,"
            " TreeDepth or TopConst)"
        )
    return points


def _point(one: Mapping[str, Any], summary: Mapping[tuple[str, str], Score]) -> Point:
    system = str(one["system"])
    shown = "".join(letter if letter.isprintable() else " " for letter in system)  # XML has no control characters
    form = summary["form", system] if one.get("form") is not None else None
    return Point(shown, bool(one["floor"]), summary["meaning", system], form)


def draw_points(points: Sequence[Point], path: PathLike) -> None:
    """Write `report_picture.picture` of these as what the name ends in: SVG as it is, PNG by matplotlib."""
    drawn = picture(points, WIDTH, HEIGHT)
    if Path(path).suffix.lower() != ".svg":
        save_plot(_rendered(drawn), path, dpi=200)
        return
    head = f'<svg width="{WIDTH}" height="{HEIGHT}" '
    back = f'<style>{STYLE}</style><rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>'
    text = re.sub(r"^<svg (.*?)>", lambda found: f"{head}{found[1]}>{back}", drawn, count=1)
    with atomic_path(path) as unfinished:
        unfinished.write_text(text + "\n", encoding="utf-8")


def _rendered(drawn: str) -> Figure:
    """Our own SVG's lines, marks and texts on a canvas whose unit is a pixel."""
    needed("matplotlib", "a PNG", "eval")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH / 100, HEIGHT / 100))
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, WIDTH), ylim=(HEIGHT, 0))
    axes.set_axis_off()
    for order, element in enumerate(Xml.fromstring(drawn)):
        tag = element.tag.rpartition("}")[2]
        classes = set(element.get("class", "").split())
        colour = next((KINDS[kind] for kind in KINDS if kind in classes), GRID)
        if tag == "text":
            _write(axes, element, classes, order)
        elif tag == "line":
            ends = [[_pixels(element, axis + end) for end in "12"] for axis in "xy"]
            dashed = "floor" in classes and "interval" not in classes
            width = POINTS * (1.0 if "grid" in classes else 1.5)
            alpha = 0.55 if "interval" in classes else 1.0
            axes.plot(*ends, color=colour, lw=width, ls=(0, (5, 4)) if dashed else "-", alpha=alpha, zorder=order)
        elif tag == "circle":
            size = POINTS * 2 * _pixels(element, "r")
            axes.plot(_pixels(element, "cx"), _pixels(element, "cy"), "o", color=colour, ms=size, mew=0, zorder=order)
        else:
            side = _pixels(element, "width")
            x, y = _pixels(element, "x") + side / 2, _pixels(element, "y") + side / 2
            axes.plot(x, y, "s", mec=colour, mfc="w", ms=POINTS * side, mew=POINTS * 2.5, zorder=order)
    return figure


def _write(axes: Axes, element: Xml.Element, classes: set[str], order: int) -> None:
    """A text where it stands; one that is turned says its place in its `transform`."""
    from matplotlib.patheffects import withStroke

    turned = re.match(r"translate\((\S+) (\S+)\)", element.get("transform", ""))
    x, y = (float(turned[1]), float(turned[2])) if turned else (_pixels(element, "x"), _pixels(element, "y"))
    size = next((FONTS[kind] for kind in FONTS if kind in classes), FONT)
    across = {"middle": "center", "end": "right"}.get(element.get("text-anchor", ""), "left")
    text = (element.text or "").replace("$", r"\$")  # which matplotlib would read as mathematics
    halo = [withStroke(linewidth=POINTS * 4, foreground="w")] if "name" in classes else None
    axes.text(
        x, y, text, fontsize=POINTS * size, color=SOFT if "tick" in classes else INK, ha=across, va="baseline",
        rotation=90 if turned else 0, rotation_mode="anchor", path_effects=halo, zorder=order,
    )  # fmt: skip


def _pixels(element: Xml.Element, name: str) -> float:
    return float(element.get(name, "0"))

"""Form against meaning as an SVG of our own: no font, script or style but the page's."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import NamedTuple

from paraform.evaluation.embedding.summary import Point
from paraform.score import Score

LETTER = 8.2
"""Pixels that a letter of 13 pixels is taken for: the page's font is not known here."""

LINE = 16
LEFT, RIGHT, TOP, BOTTOM = 46, 14, 14, 44
X_TITLE, Y_TITLE = "form: found, % of what is above chance", "meaning: mean STS Pearson"


class Scale(NamedTuple):
    """From values to pixels: `low` is drawn at `start` and `high` at `end`."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Where a value is drawn."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, most: int) -> list[float]:
        """Round values within, so many at most."""
        least = (self.high - self.low) / most
        power = 10.0 ** math.floor(math.log10(least))
        step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least)
        first = math.ceil(self.low / step)
        return [step * number for number in range(first, math.floor(self.high / step) + 1)]


class Box(NamedTuple):
    """A rectangle that is taken."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Whether they overlap."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


def picture(points: Sequence[Point], width: int, height: int, classes: str = "") -> str:
    """An `<svg>` of so many pixels: models as discs, floors as squares, a floor without form as a line across.

    Thin lines are the intervals, where there are some. Names stand where they cover no point and no other name, if
    there is such a place near the point.

    Args:
        points: at least one with both metrics.
    """
    placed = [(point.form, point.meaning) for point in points if point.form is not None]
    forms = [value for form, _ in placed for value in _ends(form)]
    meanings = [value for point in points for value in _ends(point.meaning)]
    x = Scale(*_padded(forms), LEFT, width - RIGHT)
    y = Scale(*_padded(meanings), height - BOTTOM, TOP)
    parts = [*_axes(x, y, width, height)]
    taken = [_around(x.at(form.value), y.at(meaning.value), 6) for form, meaning in placed]
    names = []
    for point in points:
        kind = "floor" if point.floor else "model"
        above = y.at(point.meaning.value)
        if point.form is None:
            parts.append(f'<line class="{kind}" x1="{LEFT}" x2="{width - RIGHT}" y1="{above:.1f}" y2="{above:.1f}"/>')
            name, box = _beside(
                point.system, [(width - RIGHT, above - 4, "end"), (width - RIGHT, above + 14, "end")], taken, width
            )
        else:
            across = x.at(point.form.value)
            parts += _intervals(point.form, point.meaning, kind, x, y)
            parts.append(_mark(point, across, above))
            name, box = _beside(point.system, _places(across, above), taken, width)
        taken.append(box)
        names.append(name)
    label = "Form against meaning of " + ", ".join(point.system for point in points)
    head = f'<svg class="{classes}" viewBox="0 0 {width} {height}" role="img" aria-label="{html.escape(label)}"'
    return "\n".join([f'{head} xmlns="http://www.w3.org/2000/svg">', *parts, *names, "</svg>"])


def _ends(score: Score) -> list[float]:
    return [end for end in (score.value, score.low, score.high) if end is not None]


def _padded(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    room = max(0.08 * (high - low), 1.0)
    return low - room, high + room


def _axes(x: Scale, y: Scale, width: int, height: int) -> list[str]:
    bottom, right = height - BOTTOM, width - RIGHT
    parts = []
    for value in x.ticks(max(5, width // 110)):
        at = x.at(value)
        parts.append(f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{bottom}"/>')
        parts.append(f'<text class="tick x" x="{at:.1f}" y="{bottom + LINE}" text-anchor="middle">{value:g}</text>')
    for value in y.ticks(6):
        at = y.at(value)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{right}" y1="{at:.1f}" y2="{at:.1f}"/>')
        parts.append(f'<text class="tick y" x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{value:g}</text>')
    middle = (TOP + bottom) / 2
    parts.append(f'<text x="{(LEFT + right) / 2:.1f}" y="{height - 6}" text-anchor="middle">{X_TITLE}</text>')
    parts.append(f'<text transform="translate(12 {middle:.1f}) rotate(-90)" text-anchor="middle">{Y_TITLE}</text>')
    return parts


def _intervals(form: Score, meaning: Score, kind: str, x: Scale, y: Scale) -> list[str]:
    """Of a point with form, a cross of its two intervals."""
    lines = []
    across, above = x.at(form.value), y.at(meaning.value)
    if form.low is not None and form.high is not None:
        lines.append((x.at(form.low), x.at(form.high), above, above))
    if meaning.low is not None and meaning.high is not None:
        lines.append((across, across, y.at(meaning.low), y.at(meaning.high)))
    return [
        f'<line class="interval {kind}" x1="{x1:.1f}" x2="{x2:.1f}" y1="{y1:.1f}" y2="{y2:.1f}"/>'
        for x1, x2, y1, y2 in lines
    ]


def _mark(point: Point, across: float, above: float) -> str:
    title = f"<title>{html.escape(_told(point))}</title>"
    if point.floor:
        return f'<rect class="floor" x="{across - 5:.1f}" y="{above - 5:.1f}" width="10" height="10">{title}</rect>'
    return f'<circle class="model" cx="{across:.1f}" cy="{above:.1f}" r="6">{title}</circle>'


def _told(point: Point) -> str:
    form = "" if point.form is None else f", form {point.form.shown}"
    return f"{point.system}: meaning {point.meaning.shown}{form}"


def _places(across: float, above: float) -> list[tuple[float, float, str]]:
    """Where a point's name may stand, the best place first: beside the lines of its intervals, then farther off."""
    near = []
    for far in (6, 18, 32, 46):
        for y in (above - far, above + far + 8):
            near += [(across + 9, y, "start"), (across - 9, y, "end")]
    return near


def _beside(name: str, places: Sequence[tuple[float, float, str]], taken: Sequence[Box], width: int) -> tuple[str, Box]:
    """The name at the first place that is free and inside, else at the first one; and the room that it takes."""
    shown = name if len(name) <= (most := int((width - LEFT - RIGHT) / LETTER)) else f"{name[: most - 1]}…"
    long = LETTER * len(shown)
    boxes = []
    for x, y, anchor in places:
        left = min(max(x - (long if anchor == "end" else 0.0), LEFT), width - 2 - long)
        boxes.append(Box(left, y - 12, left + long, y + 3))
    inside = [box for box in boxes if box.top >= 0]
    free = [box for box in inside if not any(box.meets(other) for other in taken)]
    box = (free or inside or boxes)[0]
    return f'<text class="name" x="{box.left:.1f}" y="{box.bottom - 3:.1f}">{html.escape(shown)}</text>', box


def _around(x: float, y: float, radius: float) -> Box:
    return Box(x - radius, y - radius, x + radius, y + radius)

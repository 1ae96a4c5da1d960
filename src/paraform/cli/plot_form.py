"""A picture of how much meaning encoders keep and how much form is left in them, from a report's JSON.

`paraform evaluate report` measures the encoders and writes the JSON beside its page; it needs sets of the families
similarity and probing. Up is more meaning, left is less form; discs are models, squares floors, thin lines 95 %
intervals, a dashed line a floor in which no probe finds form. --out ends in .png or .svg.

Example:
  paraform plot form report.json --out form.svg
"""

from __future__ import annotations

from collections.abc import Sequence

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.output import show
from paraform.records import counted


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    parser.add_argument("report", type=str, metavar="REPORT.json", help="what `paraform evaluate report` wrote")
    parser.add_argument("--out", type=str, required=True, metavar="FILE", help="the picture, .png or .svg")


def run(options: Namespace) -> int:
    """Write the picture; with --json, print the points too."""
    from paraform.evaluation.embedding.report_picture_file import draw_points, read_points
    from paraform.evaluation.pictures import require_picture

    require_picture(options.out)
    points = read_points(options.report)
    draw_points(points, options.out)
    about = {
        "out": options.out,
        "points": [
            {"system": point.system, "floor": point.floor, "meaning": point.meaning.to_json()}
            | ({"form": point.form.to_json()} if point.form else {})
            for point in points
        ],
    }
    return show(options, about, f"{options.out}: {counted(len(points), 'system')}")

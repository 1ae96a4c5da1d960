"""Draws the first table of a page, so that picture and table cannot disagree: a panel a column, a dot a row.

    python tools/draw_table.py docs/results/parabart.md --out docs/results/parabart-first.png
    python tools/draw_table.py docs/results/rivals.md --out docs/results/rivals-first.png \\
        --height BLEU --over "parameters, millions" "seconds a sentence"

A cell is a number, or a number with its interval, `78.3 (77.4 to 79.1)`; what is neither is left out, a column without
any is no panel. Columns with the same words before a comma share the range of their axes: "F1, `syntax`". With
--over a panel is one of these columns, of what something costs, in logarithms, and height is another column.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

CELL = re.compile(r"([+−-]?[\d,]+(?:\.\d+)?)(?: \(([+−-]?[\d.]+) to ([+−-]?[\d.]+)\))?(?:: .*)?")


class Table(NamedTuple):
    """Names of the rows and of the columns, and (value, low, high) by both; low and high are the value without an
    interval."""

    rows: list[str]
    columns: list[str]
    values: dict[tuple[str, str], tuple[float, float, float]]


def first_table(page: str) -> Table:
    """The first table of a page in Markdown. Raises: ValueError if it has none, or no number."""
    lines = re.search(r"^\|.*\n\| ?:?---.*\n((?:\|.*\n)+)", page, re.MULTILINE)
    if lines is None:
        raise ValueError("the page has no table; expected one with a line of | --- | below its head")
    head, _, *body = ([plain(cell) for cell in line.strip().strip("|").split("|")] for line in lines[0].splitlines())
    values = {}
    for row, *cells in body:
        for column, cell in zip(head[1:], cells, strict=True):
            if found := CELL.fullmatch(cell):
                value, low, high = (number(part) if part else number(found[1]) for part in found.groups())
                values[row, column] = value, low, high
    if not values:
        raise ValueError("the first table has no numbers; expected cells such as 78.3 or 78.3 (77.4 to 79.1)")
    columns = [column for column in head[1:] if any(column == its for _, its in values)]
    return Table([row for row, *_ in body], columns, values)


def plain(cell: str) -> str:
    """Without Markdown's marks."""
    return re.sub(r"[`*]", "", cell).strip()


def number(text: str) -> float:
    return float(text.replace("−", "-").replace(",", ""))


def figure_of(table: Table) -> Figure:
    """A panel a column, side by side; the first row on top."""
    figure = Figure(figsize=(2.2 + 2.3 * len(table.columns), 1.0 + 0.34 * len(table.rows)), layout="constrained")
    panels = figure.subplots(1, len(table.columns), sharey=True, squeeze=False)[0]
    for axes, column in zip(panels, table.columns, strict=True):
        for place, row in enumerate(table.rows):
            if (row, column) in table.values:
                value, low, high = table.values[row, column]
                colour = "tab:orange" if place == 0 else "tab:blue"
                axes.errorbar(value, place, xerr=[[value - low], [high - value]], fmt="o", color=colour, capsize=3)
        kind = column.partition(",")[0]
        same = [ends for (_, its), found in table.values.items() if its.partition(",")[0] == kind for ends in found]
        margin = 0.08 * (max(same) - min(same)) or 1.0
        axes.set_xlim(min(same) - margin, max(same) + margin)
        axes.set_title(column, fontsize="medium")
        axes.grid(axis="x", alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_yticks(range(len(table.rows)), table.rows)
    panels[0].set_ylim(len(table.rows) - 0.5, -0.5)
    return figure


def costs_figure(table: Table, height: str, costs: Sequence[str]) -> Figure:
    """A column over each of others, in logarithms; each dot with its row's name. Raises: ValueError for no such one."""
    if unknown := {height, *costs} - {*table.columns}:
        raise ValueError(f"the first table has no column {min(unknown)!r}; it has {', '.join(table.columns)}")
    rows = [row for row in table.rows if (row, height) in table.values]
    figure = Figure(figsize=(5.5 * len(costs), 4.2), layout="constrained")
    panels = figure.subplots(1, len(costs), sharey=True, squeeze=False)[0]
    heights = sorted(table.values[row, height][0] for row in rows)
    near = (heights[-1] - heights[0]) / 20  # two names so near would stand in each other
    for axes, column in zip(panels, costs, strict=True):
        for row in rows:
            if (row, column) in table.values:
                place = table.values[row, column][0], table.values[row, height][0]
                axes.plot(*place, "o", color="tab:orange" if row == rows[0] else "tab:blue")
                above = any(place[1] < other < place[1] + near for other in heights)
                axes.annotate(row, place, xytext=(5, -12 if above else 4), textcoords="offset points", fontsize="small")
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter("")
        axes.margins(x=0.25, y=0.12)
        axes.set_xlabel(column)
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel(height)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=Path, help="a page in Markdown")
    parser.add_argument("--out", type=Path, required=True, help="the picture, a PNG")
    parser.add_argument("--height", metavar="COLUMN", help="a dot's height, of --over")
    parser.add_argument("--over", nargs="+", metavar="COLUMN", default=[], help="a panel each")
    options = parser.parse_args()
    table = first_table(options.page.read_text(encoding="utf-8"))
    (costs_figure(table, options.height, options.over) if options.over else figure_of(table)).savefig(
        options.out, dpi=100
    )


if __name__ == "__main__":
    main()

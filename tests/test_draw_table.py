"""The first table of a page as a picture, and what the pages of results begin with."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
PAGES = sorted((REPOSITORY / "docs/results").glob("*.md"))

specification = importlib.util.spec_from_file_location("draw_table", REPOSITORY / "tools/draw_table.py")
assert specification and specification.loader
draw_table = importlib.util.module_from_spec(specification)
specification.loader.exec_module(draw_table)

PAGE = """Text.

| | F1, **one** | F1, two | words |
| --- | ---: | ---: | --- |
| `a` | 78.3 (77.4 to 79.1) | 1,000 | loose |
| b | −0.16 (−0.36 to 0.01): loose | | many |

| | later |
| --- | ---: |
| a | 5 |
"""


def test_numbers_intervals_and_nothing_else_are_read_and_drawn() -> None:
    table = draw_table.first_table(PAGE)
    assert (table.rows, table.columns) == (["a", "b"], ["F1, one", "F1, two"])
    assert table.values == {
        ("a", "F1, one"): (78.3, 77.4, 79.1),
        ("a", "F1, two"): (1000, 1000, 1000),
        ("b", "F1, one"): (-0.16, -0.36, 0.01),
    }
    left, right = draw_table.figure_of(table).axes
    assert [line.get_xdata().tolist() for line in left.get_lines()][::3] == [[78.3], [-0.16]]  # a dot and two caps
    assert left.get_xlim() == right.get_xlim() and left.get_xlim()[1] > 1000
    with pytest.raises(ValueError, match="no table"):
        draw_table.first_table("| a |\n")
    with pytest.raises(ValueError, match="no numbers"):
        draw_table.first_table("| a | b |\n| --- | --- |\n| c | d |\n")


def test_a_figure_over_its_costs_has_a_dot_a_row_in_logarithms() -> None:
    page = "| | BLEU | seconds | parts |\n| --- | --- | --- | --- |\n| a | 3 | 0.1 | 20 |\n| b | 5 | 10 | |\n"
    figure = draw_table.costs_figure(draw_table.first_table(page), "BLEU", ["seconds", "parts"])
    seconds, parts = figure.axes
    assert [tuple(line.get_xydata()[0]) for line in seconds.lines] == [(0.1, 3.0), (10.0, 5.0)]
    assert [tuple(line.get_xydata()[0]) for line in parts.lines] == [(20.0, 3.0)]
    assert [text.get_text() for text in seconds.texts] == ["a", "b"] and seconds.get_xscale() == "log"
    with pytest.raises(ValueError, match="no column 'words'; it has BLEU, seconds, parts"):
        draw_table.costs_figure(draw_table.first_table(page), "BLEU", ["words"])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_cell_of_a_table_of_results_is_a_paragraph(page: Path) -> None:
    rows = [line for line in page.read_text("utf-8").splitlines() if line.startswith("|")]
    assert [cell for row in rows for cell in re.split(r"(?<!\\)\|", row) if len(cell.split()) > 25] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_of_results_opens_with_five_lines_definitions_a_small_table_and_a_picture(page: Path) -> None:
    opening = page.read_text("utf-8").split("\n## ")[0]
    said, *_ = opening.split("\n|")
    assert len(re.findall(r"^- ", said, re.MULTILINE)) == 5
    assert "**Words.**" in said
    assert len(re.findall(r"^\| ?---", opening, re.MULTILINE)) == 1
    assert 4 <= len(re.findall(r"^\|", opening, re.MULTILINE)) <= 10
    pictures = re.findall(r"^!\[.+\]\((\S+)\)$", opening, re.MULTILINE)
    assert len(pictures) == 1 and (page.parent / pictures[0]).is_file()
    assert len(opening.split()) < 550

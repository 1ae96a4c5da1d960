"""A sheet as a page of its own: no server, no font, script or style from elsewhere, and texts as nothing but texts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from paraform.evaluation.html_page import page_template
from paraform.evaluation.rating import INSTRUCTION, Item
from paraform.evaluation.rating_answers import ACCEPTABLE, BEST, SCALES, WORST
from paraform.weights import PathLike, atomic_path


def write_page(items: Sequence[Item], path: PathLike) -> None:
    """`rating_page` as a file."""
    with atomic_path(path) as unfinished:
        unfinished.write_text(rating_page(items), encoding="utf-8")


def rating_page(items: Sequence[Item]) -> str:
    """HTML that shows one item at a time, keeps the answers in the browser and gives them as a file of JSON lines.

    Texts stand in the page as JSON without `<`, `>` and `&`, and the script sets them as text; the page's policy runs
    no other script than its own, and loads nothing.
    """
    page = page_template("paraform.evaluation", "rating_page.html", "script", "style")
    rows = [{"id": item.id, "source": item.source, "exemplar": item.exemplar, "output": item.output} for item in items]
    name = hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:16]
    questions = {**{scale: [*range(WORST, BEST + 1)] for scale in SCALES}, "acceptable": ACCEPTABLE}
    sheet = json.dumps({"name": name, "instruction": INSTRUCTION, "questions": questions, "items": rows})  # ASCII
    for letter in "<>&":
        sheet = sheet.replace(letter, f"\\u{ord(letter):04x}")
    return page.replace("@sheet@", sheet)

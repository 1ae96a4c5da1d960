"""What is counted of rewordings, by hand; and the page's table, from the file of the draw."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paraform.records import Candidate, Rewording
from paraform_papers.shipped.kinds_counted import alike, gone, in_its_manner, reordered, report

ROOT = Path(__file__).parents[3]


def said(source: str, *answers: str, wrapped: bool = False) -> Rewording:
    return Rewording(source, tuple(Candidate(one, "", {}, 0.0, wrapped=wrapped) for one in answers))


def test_words_that_are_gone_and_their_order() -> None:
    assert gone("the cat, the dog", "The dog and a cat") == 0.25 and not gone("a b", "B A.")
    assert reordered("call me in May", "in May, call me") and not reordered("call me in May", "phone me in May")


@pytest.mark.parametrize(
    ("source", "answer", "kept"),
    [
        ("i owe {x}", "{x} is what i owe", True),
        ("i owe {x}", "I owe {x}", False),
        ("i owe {x}", "i owe it", False),
        ("I owe it", "It is owed by me.", False),
        ("I owe it.", "It is owed by me.", True),
        ("Plant it 9 cm deep.", "Put it 9 CM deep.", False),
        ("The Hague and the sea", "The sea and The Hague", True),
        ("It rains in May.", "In may it rains.", False),
        ("Go home if it rains.", "If it rains, go home.", True),
    ],
)
def test_manner(source: str, answer: str, kept: bool) -> None:
    assert in_its_manner(source, answer) == kept


def test_answers_are_alike_that_share_all_their_words_in_order() -> None:
    same, other = "the cat sat on the mat", "one two three four five six"
    assert alike([same, same]) == pytest.approx(100) and alike([same, other]) < 10


def test_figures_of_a_kind_and_of_all() -> None:
    three = said("a b c d", "b c d x", "c d a b", "a b x y")
    found = {one.source: one for one in (three, said("call me", "could you call me", wrapped=True), said("left out"))}
    figures = report({"one": ["a b c d"], "two": ["call me", "left out"]}, found)
    assert figures["one"]["words gone"] == 0.25 and figures["one"]["with three"] == 1
    assert figures["two"] | {"answered": 1, "wrapped": 1, "copies": 0, "self-BLEU": 0} == figures["two"]
    assert figures["all"]["texts"] == 3 and figures["all"]["words gone"] == 0.125


def test_the_page_has_the_file() -> None:
    kinds = json.loads((ROOT / "papers" / "results" / "kinds-counted.json").read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "rewording.md").read_text(encoding="utf-8")
    names = {"message": "messages", "ticket": "support tickets"}
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line[:1] == "|"]
    for kind, row in kinds.items():
        shares = [f"{row[name]:.0%}" for name in ("words gone", "reordered", "in its manner")]
        counts = [f"{row[name]:,}" for name in ("answered", "wrapped", "copies")]
        cells = [*counts, *shares, f"{row['with three']:,}", f"{row['self-BLEU']:.0f}"]
        assert next(row[0] for row in rows if row[1:] == cells).startswith(names.get(kind, kind)), kind

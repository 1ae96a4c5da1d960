"""Forms by nearest tags, against a brute force."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from paraform.demo.forms import LEAST_EDITS, Forms

TAGS = st.lists(st.sampled_from(["NN", "VB", ".", "DT", "PRP$"]), min_size=1, max_size=6)
ROWS = st.lists(st.tuples(TAGS, TAGS, st.from_regex("[a-c?'é😀][a-c ?]{0,5}", fullmatch=True)), max_size=12)


def distance(one: list[str], other: list[str]) -> int:
    """Levenshtein's, by the table of all prefixes."""
    row = list(range(len(other) + 1))
    for number, tag in enumerate(one, start=1):
        above, row = row, [number]
        for place, its in enumerate(other):
            row.append(min(above[place] + (tag != its), above[place + 1] + 1, row[place] + 1))
    return row[-1]


@given(ROWS, st.lists(st.sampled_from(["NN", "VB", ".", "UH"]), max_size=6), st.integers(0, 4))
def test_the_nearest_that_differ_equal_a_brute_force(
    rows: list[tuple[list[str], list[str], str]], tags: list[str], num: int
) -> None:
    """Tags that no form has are as far as any other."""
    taken, expected = [tags], []
    for _, form_tags, form in sorted(rows, key=lambda row: distance(tags, row[0])):
        if len(expected) < num and all(distance(form_tags, other) >= LEAST_EDITS for other in taken):
            taken.append(form_tags)
            expected.append(form)
    forms = Forms("\t".join((" ".join(source), " ".join(its), text)) for source, its, text in rows)
    assert forms.nearest(tags, num) == forms.nearest(tags, num) == expected


def test_the_embedded_ones_are_whole_and_plain() -> None:
    every = Forms.embedded()
    assert len(every._forms) > 1_000 and not any("\t" in form for *_, form in every._forms)
    found = every.nearest(["MD", "PRP", "VB", "PRP$", "NN", "RB", "."], 200)
    assert len(found) == 200 == len(set(found))

"""Runs of a text that are one thing, found by hand-made examples, and only those."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraform.literals import STAND_IN, covered, literals, uncovered, without_slots
from paraform.words import tokenize


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from [Berlin](city) to [New York](city)?", ["[Berlin](city)", "[New York](city)"]),
        ('in [Rome]{"entity": "city"}.', ['[Rome]{"entity": "city"}']),
        ("send %s to %(who)s, %5.2f of 100% or 50%", ["%s", "%(who)s", "%5.2f"]),
        ("{x}, {{ user.name }} and ${{ it }} or ${PASS}.", ["{x}", "{{ user.name }}", "${{ it }}", "${PASS}"]),
        ("the $order_number, not $50, US$5 or $US50", ["$order_number"]),
        ("<name> or </b>, not a < b > c, nor <stdio.h>", ["<name>", "</b>"]),
        (
            "<a href=\"https://a.b/c\" rel='x'> here </a>, {first name}, {a}",
            ["<a href=\"https://a.b/c\" rel='x'>", "</a>", "{first name}", "{a}"],
        ),
        ('see [a](https://b.c "d e"), not [a](b c) or { return it; }', ['[a](https://b.c "d e")']),
        ("[X] and [FIRST NAME] and [last_name], not [sic]", ["[X]", "[FIRST NAME]", "[last_name]"]),
        ("__X__ #X# @x_1 :x: :+1: #StarWars2 C# #1", ["__X__", "#X#", "@x_1", ":x:", ":+1:", "#StarWars2"]),
        (
            "(https://t.co/9iJ?x=1&y=2), www.a.org/b, http://a.b/c_(d).",
            ["https://t.co/9iJ?x=1&y=2", "www.a.org/b", "http://a.b/c_(d)"],
        ),
        ("mail bob@mail.example.co.uk, please", ["bob@mail.example.co.uk"]),
        ("/etc/passwd ~/a.txt C:\\Users\\me, and/or 1/2 km/h", ["/etc/passwd", "~/a.txt", "C:\\Users\\me"]),
        ("os.path() and print(), f(x)", ["os.path()", "print()"]),
        ("AT&T, R&amp;D and Marks&Spencer &amp; &#39;", ["AT&T", "R&amp;D", "Marks&Spencer", "&amp;", "&#39;"]),
        ("no :(, yes :-)? and <3 but (at 10:30): it", [":(", ":-)", "<3"]),
        ("A plain one; it has none: see (there) - 50% of $5.", []),
    ],
)
def test_by_hand(text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in literals(text)] == found
    words = tokenize(text)
    assert [word for literal in found if (word := "_".join(literal.split())) not in words] == []


@given(st.text(st.sampled_from("ab {}[]()<>$%#@:;/\\&_.\n1" + STAND_IN), max_size=30))
def test_what_is_covered_comes_back(text: str) -> None:
    rest, found = covered(text)
    assert "".join(uncovered([rest], found)) == text and rest.count(STAND_IN) >= len(found)
    spans = [*literals(text)]
    assert all(start < end for start, end in spans)
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(spans))


def test_slots_are_no_code() -> None:
    assert without_slots("Cancel it for {name} on {{ date }}, %s.") == "Cancel it for it on it, it."
    assert without_slots("if (a) { return; }") == "if (a) { return; }"

"""What the rules by trees share."""

from __future__ import annotations

from paraform.rewording.clauses import main_clause, statements, words_of
from paraform.syntax.trees import Tree

JOINED = (
    "(ROOT (S (S (NP (PRP I)) (VP (VBD paid))) (, ,) (CC and) (S (NP (PRP he)) (VP (VBD left))) (CC or)"
    " (S (VP (VBD slept))) (. .)))"
)


def test_the_main_clause_and_its_end() -> None:
    label, parts, ending = main_clause(Tree.parse("(ROOT (SQ (VBZ Is) (NP (PRP it)) (. ?)))"))
    assert (label, words_of(parts), ending) == ("SQ", ["Is", "it"], ["?"])
    assert main_clause(Tree.parse("(ROOT)")) == ("ROOT", [], [])


def test_joined_statements_are_found_where_they_have_a_subject() -> None:
    words = Tree.parse(JOINED).words()
    assert [words[start:end] for start, end in statements(Tree.parse(JOINED))] == [("I", "paid"), ("he", "left")]
    assert statements(Tree.parse("(ROOT (S (NP (PRP I)) (VP (VBD paid))))")) == []

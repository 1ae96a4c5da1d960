"""Adverbials at the other end of their sentence, from trees written by hand."""

from __future__ import annotations

from collections import Counter

import pytest

from paraform.rewording.adverbials import moved
from paraform.syntax import load_parser
from paraform.syntax.trees import Tree
from paraform.words import detokenize, tokenize

IF = "(SBAR (IN {}) (S (NP (PRP I)) (VP (VBP lose) (NP (PRP$ my) (NN card)))))"
WHAT = "(WHNP (WP What)) (SQ (MD can) (NP (PRP I)) (VP (VB do){}))"
DENIED = "(NP (PRP I)) (VP (VBD did) (RB n't) (VP (VB pay){}))"
PAID = "(NP (PRP I)) (VP (VBD paid) (NP (DT a) (NN fee)){})"


def turned(tree: str) -> list[str]:
    return [" ".join(found.words) for found in moved(Tree.parse(tree))]


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        (f"(ROOT (SBARQ {WHAT.format(' ' + IF.format('if'))} (. ?)))", ["if I lose my card , What can I do ?"]),
        (
            f"(ROOT (SBARQ {IF.format('If')} (, ,) {WHAT.format('')} (. ?)))",
            ["What can I do If I lose my card ?"],
        ),
        (
            f"(ROOT (SBARQ {IF.format('If')} (, ,) (RB then) {WHAT.format('')} (. ?)))",
            ["What can I do If I lose my card ?"],
        ),
        (f"(ROOT (S {PAID.format(' (PP (IN during) (NP (NN lunch)))')}))", ["during lunch , I paid a fee"]),
        (f"(ROOT (S {PAID.format(' (NP (JJ last) (NNP Monday))')} (. .)))", ["last Monday , I paid a fee ."]),
        (f"(ROOT (S {PAID.format(' (PP (IN in) (NP (NNP Rome)))')} (. .)))", ["in Rome , I paid a fee ."]),
        (f"(ROOT (S {PAID.format(' (NP (NN yesterday))')} (. .)))", ["yesterday , I paid a fee ."]),
        (
            f"(ROOT (S (PP (IN On) (NP (PRP$ my) (NN card))) (, ,) {PAID.format('')} (. .)))",
            ["I paid a fee On my card ."],
        ),
    ],
    ids=["front", "end", "then", "preposition", "noun phrase", "name", "day", "place"],
)
def test_it_is_moved(tree: str, expected: list[str]) -> None:
    assert turned(tree) == expected


@pytest.mark.parametrize(
    "tree",
    [
        f"(ROOT (SBARQ {IF.format('If')} (, ,) (WHNP (WP What)) (SQ (MD can) (NP (PRP it)) (VP (VB do))) (. ?)))",
        f"(ROOT (S {DENIED.format(' ' + IF.format('because'))} (. .)))",
        "(ROOT (S (NP (PRP I)) (VP (VBP know) (SBAR (WHADVP (WRB when)) (S (NP (PRP I)) (VP (VBP lose)))))))",
        f"(ROOT (S {PAID.format(' (PP (IN in) (NP (NNS coins)))')} (. .)))",
        f"(ROOT (S {PAID.format(' (PP (IN after) (NP (PRP it)))')} (. .)))",
        "(ROOT (SBARQ (WHNP (WRB How) (JJ many) (NNS men)) (SQ (VP (VBP are) (PP (IN in) (NP (NNP Rome))))) (. ?)))",
        "(ROOT (SBARQ (PP (IN At) (NP (WDT what) (NN age))) (SQ (MD can) (NP (PRP I)) (VP (VB go))) (. ?)))",
        "(ROOT (S (NP (PRP I)) (VP (VBP want) (S (VP (TO to) (VP (VB go) (PP (IN in) (NP (NNP May)))))))))",
        "(ROOT (S (NP (PRP I)) (VP (VP (VBD ate)) (CC and) (VP (VBD left) (PP (IN during) (NP (NN lunch)))))))",
        "(ROOT (NP (NP (NNS Ideas)) (PP (IN during) (NP (NN lunch)))))",
        "(ROOT (S (NP (PRP We)) (VP (RB also) (VBP live) (PP (IN in) (NP (NNP Rome)))) (. .)))",
        f"(ROOT (S {PAID.replace('paid', 'promised').format(' (PP (IN within) (NP (CD two) (NNS days)))')} (. .)))",
        "(ROOT (SBARQ (WHNP (WP What)) (SQ (VBD did) (NP (PRP I)) (VP (VB pay) (NP (NN yesterday)))) (. ?)))",
        f"(ROOT (S {PAID.format(' (RB only) ' + IF.format('if'))} (. .)))",
        f"(ROOT (S {DENIED.format(' (PP (IN in) (NP (DT a) (NN day)))')} (. .)))",
        f"(ROOT (S {PAID.format(' ' + IF.format('because').replace('(PRP$ my) (NN card)', '(PRP mine)'))}))",
        "(ROOT (X))",
        "(ROOT)",
    ],
    ids=[
        *("pronoun", "denied", "told", "no place", "before its noun", "be", "asked", "infinitive", "one of two"),
        *("no clause", "lives there", "promised", "asked of a day", "only", "not in a day", "mine"),
        *("no words", "nothing"),
    ],
)
def test_it_stays(tree: str) -> None:
    assert turned(tree) == []


def test_words_stay_the_same() -> None:
    """By the embedded parser."""
    said = ["Why was I charged when I got cash?", "If I were rich, would there be more friends?"]
    for text, tree in zip(said, load_parser()([tokenize(text) for text in said]), strict=True):
        assert tree is not None
        (found,) = moved(tree)
        words = Counter(word.lower() for word in tokenize(text) if word != ",")
        assert Counter(word.lower() for word in found.words if word != ",") == words
        assert found.parsed and not found.wrapped and detokenize(found.words) != text

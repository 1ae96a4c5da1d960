"""Sentences altered so that they say something else: each kind on a tree by hand, every place that it finds."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

import pytest

from paraform.records import InputError
from paraform.rewording.negatives import KINDS, negatives, trees
from paraform.rewording.negatives.altered import Read
from paraform.rewording.negatives.lists import Lists, lists
from paraform.rewording.tagged import Tagged
from paraform.syntax import load_parser
from paraform.syntax.trees import Parser, Tree
from paraform.words import detokenize

LISTS = Lists(
    opposites={("open", "JJ"): ["closed"], ("opened", "VBD"): ["closed"]},
    alike={("trains", "NNS"): ["buses"], ("apple", "NN"): ["fig"]},
    kinds={"Lyon": "city", "Rome": "city", "Maria": "woman", "Anna": "woman"},
    names={"city": ["Lyon", "Rome"], "woman": ["Maria", "Anna"], "surname": ["Adeyemi"]},
)
CAT = "(S (NP (DT The) (NN cat)) (VP (VBD saw) (NP (DT a) (JJ black) (NN dog)) (PP (IN in) (NP (NNP Rome)))) (. .))"
LAMPS = "(S (NP (PDT All) (DT the) (NNS lamps)) (VP (VBP are) (ADJP (JJ open))) (. .))"
OLDER = "(S (NP (PRP It)) (VP (VBZ is) (ADJP (JJR older) (PP (IN than) (NP (PRP me))))))"
STATION = "(S (NP (NNS trains)) (VP (VBP leave) (PP (IN before) (NP (CD five)))) (. .))"


def read(tree: str, text: str = "") -> Read:
    parsed = Tree.parse(tree)
    words = parsed.words()
    return Read(Tagged.read(text or detokenize(words))._replace(tags=parsed.tags()), parsed)


def made(kind: str, tree: str, text: str = "") -> list[str]:
    return [one.text for one in KINDS[kind](read(tree, text), LISTS, random.Random(0))]


@pytest.mark.parametrize(
    ("kind", "tree", "expected"),
    [
        ("roles", "(S (NP (NNP Anna)) (VP (VBD saw) (NP (NNP Tom))) (. .))", ["Tom saw Anna.", "Tom saw Anna."]),
        ("roles", "(S (NP (NP (NNP Anna)) (CC and) (NP (NNP Tom))) (VP (VBD left)))", []),
        ("roles", "(S (NP (NNP Anna)) (VP (VBD met) (NP (NNP Tom))) (. .))", []),
        ("place", CAT, ["The cat saw a black dog in Lyon."]),
        ("name", "(S (NP (NNP Maria)) (VP (VBD left)) (. .))", ["Anna left."]),
        ("name", "(S (NP (NNP Mr.) (NNP Kowalski)) (VP (VBD left)) (. .))", ["Mr. Adeyemi left."]),
        ("negation", CAT, ["The cat did not see a black dog in Rome."]),
        ("negation", LAMPS, ["All the lamps are not open."]),
        ("negation", "(S (NP (PRP I)) (VP (MD ca) (RB n't) (VP (VB pay))))", ["I can pay"]),
        ("negation", "(S (NP (PRP It)) (VP (MD wo) (RB n't) (VP (VB help))) (. .))", ["It will help."]),
        ("negation", "(SQ (MD Can) (NP (PRP I)) (VP (VB pay)) (. ?))", []),
        ("antonym", LAMPS, ["All the lamps are closed."]),
        ("alike", STATION, ["buses leave before five."]),
        ("dropped", CAT, ["The cat saw a black dog.", "The cat saw a dog in Rome."]),
        ("modal", "(SQ (MD Can) (NP (PRP I)) (VP (VB pay)) (. ?))", []),
        ("tense", CAT, ["The cat will see a black dog in Rome."]),
        ("tense", LAMPS, ["All the lamps will be open."]),
        ("compared", OLDER, ["It is younger than me"]),
    ],
)  # fmt: skip
def test_each_kind_finds_its_places(kind: str, tree: str, expected: list[str]) -> None:
    assert sorted(made(kind, tree)) == sorted(expected)


@pytest.mark.parametrize(
    ("kind", "tree", "others"),
    [
        ("number", STATION, {"two", "three", "four", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}),
        ("preposition", STATION, {"after", "during"}),
        ("quantifier", LAMPS, {"Some", "Most", "Few"}),
        ("day", "(S (NP (PRP We)) (VP (VBD met) (NP (NN yesterday))))", {"today", "tomorrow"}),
        ("modal", "(S (NP (PRP We)) (VP (MD must) (VP (VB go))))", {"may", "might"}),
        ("connective", "(S (NP (PRP I)) (VP (VBP go) (SBAR (IN if) (S (NP (PRP it)) (VP (VBZ rains))))))", {"unless"}),
    ],
)
def test_a_word_of_a_set_becomes_another_of_it(kind: str, tree: str, others: set[str]) -> None:
    one = read(tree)
    found = {text for seed in range(40) for text in (a.text for a in KINDS[kind](one, LISTS, random.Random(seed)))}
    source = one.tagged.text.split()
    changed = {new.strip(".") for text in found for new, old in zip(text.split(), source, strict=True) if new != old}
    assert changed == others


def test_digits_become_other_digits_of_the_same_form() -> None:
    tree = "(S (NP (PRP It)) (VP (VBZ costs) (NP (CD 1,250) (NNS euros))) (. .))"
    for text in (one for seed in range(30) for one in texts_of("number", tree, seed)):
        number = text.split()[2]
        assert number != "1,250" and number.replace(",", "").isdigit() and ("," in number) == (len(number) > 3)


def texts_of(kind: str, tree: str, seed: int) -> Sequence[str]:
    return [one.text for one in KINDS[kind](read(tree), LISTS, random.Random(seed))]


def test_what_is_known_of_both_directions() -> None:
    """Without "black" the sentence says less: it still says all of what is left, which no longer says all of it."""
    assert {(one.forth, one.back) for one in KINDS["dropped"](read(CAT), LISTS, random.Random(0))} == {(True, False)}
    denied = CAT.replace("(VBD saw)", "(VBD did) (RB not) (VB see)")
    assert {(one.forth, one.back) for one in KINDS["dropped"](read(denied), LISTS, random.Random(0))} == {(None, False)}
    some = {one.text: one.forth for one in KINDS["quantifier"](read(LAMPS), LISTS, random.Random(0))}
    assert some == {
        "Some the lamps are open.": True,
        "Most the lamps are open.": True,
        "Few the lamps are open.": False,
    }


def test_all_else_stands_as_it_was_written() -> None:
    tree = "(S (NP (DT an) (NN apple)) (VP (VBZ is) (ADJP (JJ open))) (. !))"
    assert made("alike", tree, "an  APPLE is\topen !") == ["a  FIG is\topen !"]
    assert made("antonym", tree, "an  APPLE is\topen !") == ["an  APPLE is\tclosed !"]


def test_an_adjunct_of_another_sentence_comes_behind() -> None:
    one = read(STATION, "Trains leave before five.")
    (altered,) = trees.added(one, LISTS, random.Random(0), ["in Rome"])
    assert altered == ("Trains leave before five in Rome.", False, None)
    assert trees.adjuncts_of(read(CAT)) == ["in Rome"]


def test_the_held_out_part_of_the_lists_is_another_one() -> None:
    training, held, every = lists("training"), lists("held out"), lists()
    for name in ("opposites", "alike", "kinds"):
        parts = [{*getattr(one, name)} for one in (training, held)]
        assert all(parts) and {*getattr(every, name)} == parts[0] | parts[1]
    assert not {*training.kinds} & {*held.kinds}
    assert {*every.names} == {*training.names} == {*held.names}


def test_a_text_has_the_same_negatives_whatever_stands_beside_it() -> None:
    def parse(rows: Sequence[Sequence[str]]) -> list[Tree | None]:
        known = {tuple(tree.words()): tree for tree in map(Tree.parse, (CAT, STATION))}
        return [known[tuple(row)] for row in rows]

    texts = ["The cat saw a black dog in Rome.", "trains leave before five."]
    kinds = [kind for kind in KINDS if kind != "added"]
    alone = [negatives([text], kinds, parse, seed=1)[0] for text in texts]
    assert negatives(texts, kinds, parse, seed=1) == alone
    assert all(
        one.text.lower() != text.lower()
        for text, row in zip(texts, alone, strict=True)
        for some in row.values()
        for one in some
    )


@pytest.fixture(scope="module")
def parse() -> Parser:
    return load_parser(device="cpu")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("roles", "He bought apples, pears, plums and figs."),
        ("roles", "It is a small old grey house."),
        ("roles", "Spain borders France."),
        ("roles", "Italy played against Spain."),
        ("roles", "Mary is a friend of Tom."),
        ("roles", "How far is London from Paris?"),
        ("roles", "London is 300 miles from Paris."),
        ("roles", "John differs from Tom."),
        ("roles", "John is as tall as Tom."),
        ("negation", "I will come whether or not it rains."),
        ("quantifier", "How many cards may I have?"),
        ("quantifier", "Is there some way to pay?"),
        ("quantifier", "No, I did not."),
        ("preposition", "It depends on the weather."),
        ("negation", "Can't I pay by card?"),
        ("negation", "Isn't it late?"),
        ("negation", "I would like to know if my card is active."),
        ("negation", "How long does it take?"),
        ("antonym", "Is the shop open on Sunday?"),
        ("antonym", "How high is the tower?"),
        ("dropped", "Moreover, the city has two airports."),
        ("dropped", "For example, cats sleep all day."),
        ("quantifier", "I waited a few days."),
        ("quantifier", "It is the most popular song."),
        ("tense", "The meeting is tomorrow."),
        ("connective", "Payments by card or phone are free."),
        ("preposition", "It is different from mine."),
    ],
)
def test_what_says_the_same_is_no_negative(parse: Parser, kind: str, text: str) -> None:
    """By the embedded parser: what is denied, exchanged or left out there makes no difference."""
    assert negatives([text], [kind], parse) == [{}]


@pytest.mark.parametrize(
    "text",
    [
        "Nobody saw him in Rome.", "Every tall child laughed.", "He is a former president.",
        "He almost drowned slowly.",
        "He lacks a valid passport.", "According to critics, the film is bad.", "It is the tallest building in Lisbon.",
        "A rope kept him from falling.",
    ],
)  # fmt: skip
def test_what_does_not_follow_is_not_called_so(parse: Parser, text: str) -> None:
    (found,) = negatives([text], ["dropped"], parse)
    assert all(one.forth is None for one in found.get("dropped", []))


def test_an_article_follows_the_next_word(parse: Parser) -> None:
    (found,) = negatives(["An old man had a new car."], ["roles", "dropped"], parse)
    texts = [one.text for some in found.values() for one in some]
    assert {"A new man had an old car.", "A man had a new car."} <= {*texts}
    assert not any(re.search(r"\b[Aa] (old|apple)|\b[Aa]n (new|car|man)", text) for text in texts)


def test_odd_input_is_no_crash(parse: Parser) -> None:
    assert all(
        isinstance(row, dict)
        for row in negatives(["It covers 10² metres.", "½ of it", "?", "\N{SNOWMAN}"], KINDS, parse)
    )
    with pytest.raises(InputError, match="kind 'rolls'; expected one of roles"):
        negatives(["a"], ["rolls"], parse)

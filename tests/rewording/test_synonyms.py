"""Synonyms: each place by hand, on tags by hand."""

from __future__ import annotations

import re

import pytest

from paraform.rewording.frames import frames
from paraform.rewording.rewritten import SUITS
from paraform.rewording.synonyms import substitute, synonyms, takes_an
from paraform.words import tokenize


def split(tagged: str) -> tuple[list[str], list[str]]:
    """`can/MD go/VB` as words and tags."""
    pairs = [word.rsplit("/", 1) for word in tagged.split()]
    return [word for word, _ in pairs], [tag for _, tag in pairs]


def test_synonyms() -> None:
    known = {old: {one.new for one in others if one.suits == "nearly all"} for old, others in synonyms().items()}
    assert ("get",) in known[("receive",)] and ("receive",) not in known.get(("get",), ())  # `>` goes one way
    assert ("somebody",) in known[("someone",)] and ("someone",) in known[("somebody",)]
    assert all(old and new and old != new for old, others in known.items() for new in others)
    found = substitute(["Everyone", "likes", "Movies", "about", "kids"])
    assert [" ".join(one.words) for one in found] == [
        "everybody likes Movies about kids",
        "Everyone likes films about kids",
        "Everyone likes Movies about children",
    ]
    assert found[0].form == "everyone → everybody" and found[0].literals == {"everyone", "everybody"}


def test_a_synonym_with_a_tag_is_for_that_tag_alone() -> None:
    words = ["I", "received", "it"]
    assert [one.words for one in substitute(words, ["PRP", "VBD", "PRP"])] == [["I", "got", "it"]]
    assert substitute(words, ["PRP", "VBN", "PRP"]) == [] == substitute(words)


@pytest.mark.parametrize(
    ("tagged", "expected"),
    [
        ("Is/VBZ it/PRP an/DT entire/JJ day/NN ?/.", "Is it a whole day ?"),
        ("An/DT entire/JJ day/NN", "A whole day"),
        ("a/DT mistake/NN of/IN mine/PRP", "an error of mine"),
        ("the/DT entire/JJ day/NN", "the whole day"),
    ],
)
def test_an_article_follows_the_sound_of_a_synonym(tagged: str, expected: str) -> None:
    assert [" ".join(one.words) for one in substitute(*split(tagged))] == [expected]


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("I need to pay now", True),
        ("I stay because I need to work", True),
        ("how do I need to apply", True),
        ("I know what I need to do", True),
        ("what do I need to open an account", False),
        ("how many papers do I need to apply", False),
        ("the number of papers that I need to apply", False),
        ("the papers I need to apply are lost", False),
        ("do you know what I need to apply", False),
    ],
)
def test_a_need_is_a_duty_where_no_thing_is_needed(text: str, right: bool) -> None:
    found = [" ".join(one.words) for one in substitute(text.split()) if "i have to" in " ".join(one.words).lower()]
    assert found == ([text.replace("I need to", "i have to")] if right else [])


def test_words_after_an() -> None:
    """By ear: "an hour", "a university"; frames do not change an article before a slot, so synonyms alone need it."""
    an = [
        "apple",
        "error",
        "hour",
        "honest",
        "heir",
        "honour",
        "uncle",
        "umbrella",
        "unimportant",
        "ugly",
        "upper",
        "8",
    ]
    an += ["uninteresting", "idea", "onerous"]
    a = ["big", "university", "useful", "unit", "unique", "one", "once", "European", "user", "usual", "utility", "UK"]
    a += ["ubiquitous", "uranium", "euro", "house"]
    assert [word for word in an if not takes_an(word.lower())] == []
    assert [word for word in a if takes_an(word.lower())] == []
    for group in frames():
        before = {
            (slot, word)
            for frame in group
            for word, slot in zip(frame.form, frame.form[1:], strict=False)
            if word in ("a", "an") and slot.startswith("{")
        }
        assert len({slot for slot, _ in before}) == len(before)  # the same article in all forms of a group


@pytest.mark.parametrize(
    ("tagged", "never"),
    [
        ("Why/WRB do/VBP some/DT people/NNS have/VB no/DT friends/NNS ?/.", r"\bany\b"),
        ("They/PRP will/MD have/VB no/DT money/NN next/JJ year/NN ./.", r"\bany\b"),
        ("I/PRP do/VBP n't/RB have/VB any/DT ./.", r"have no"),
        ("I/PRP received/VBD a/DT picture/NN ./.", r"gotten|photo"),
        ("He/PRP has/VBZ received/VBN it/PRP", r"got"),
        ("Tom/NNP is/VBZ my/PRP$ big/JJ brother/NN ./.", r"large"),
        ("Is/VBZ the/DT big/JJ bang/NN real/JJ ?/.", r"large"),
        ("See/VB it/PRP as/IN a/DT whole/NN ./.", r"entire"),
        ("What/WP happens/VBZ when/WRB my/PRP$ purchase/NN is/VBZ declined/VBN ?/.", r"\bbuy\b"),
        ("Is/VBZ my/PRP$ hard/JJ drive/NN full/JJ ?/.", r"difficult"),
        ("I/PRP work/VBP hard/RB every/DT day/NN ./.", r"difficult"),
        ("Can/MD I/PRP film/VB in/IN London/NNP ?/.", r"movie"),
        ("Picture/VB a/DT world/NN without/IN war/NN ./.", r"photo"),
        ("I/PRP fix/VBP my/PRP$ eyes/NNS on/IN you/PRP ./.", r"repair"),
        ("I/PRP am/VBP all/PDT the/DT time/NN getting/VBG it/PRP ./.", r"constantly"),
        ("I/PRP live/VBP here/RB currently/RB ./.", r"at the moment"),
        ("I/PRP 'm/VBP afraid/JJ it/PRP will/MD rain/VB ./.", r"scared"),
        ("The/DT need/NN to/TO win/VB is/VBZ great/JJ ./.", r"have to"),
        ("It/PRP came/VBD at/IN the/DT same/JJ time/NN as/IN you/PRP ./.", r"simultaneously"),
    ],
)
def test_no_synonym_of_another_sense(tagged: str, never: str) -> None:
    assert [one.words for one in substitute(*split(tagged)) if re.search(never, " ".join(one.words))] == []


def test_no_synonym_is_a_word_that_the_sentence_has() -> None:
    assert [one.words for one in substitute(["movies", "last"])] == [["films", "last"]]
    assert substitute(["movies", "and", "films", "last"]) == []


def test_several_synonyms_come_into_a_sentence_at_once() -> None:
    """The fewest first; the least sure of them says how many sentences they suit."""
    found = substitute(["movies", "for", "kids"], most=2)
    assert [" ".join(one.words) for one in found] == ["films for kids", "movies for children", "films for children"]
    assert found[2].form == "movies → films; kids → children" and {one.suits for one in found} == {"nearly all"}
    assert all(len(one.form.split("; ")) == 1 for one in substitute(["movies", "for", "kids"], suits=SUITS))


def test_each_phrase_is_of_words_and_suits_what_it_says() -> None:
    for old, others in synonyms().items():
        assert tuple(tokenize(" ".join(old))) == old and len(old) <= 6
        for one in others:
            assert tuple(tokenize(" ".join(one.new))) == one.new and len(one.new) <= 6 and one.suits in SUITS
            assert not one.tags or len(old) == 1


@pytest.mark.parametrize(
    ("words", "tags", "may"),
    [
        ("call me before the end of May", "VB PRP IN DT NN IN NNP", True),
        ("call me before anyone has left", "VB PRP IN NN VBZ VBN", False),
    ],
)
def test_no_clause_follows_what_stands_before_nouns(words: str, tags: str, may: bool) -> None:
    found = substitute(words.split(), tags.split(), suits=SUITS)
    assert any("prior to" in " ".join(one.words) for one in found) == may

"""Whether the words of an output agree with each other, as far as its source's did."""

from __future__ import annotations

import re

from paraform.rewording.tagged import Tagged

DETERMINING = {"DT", "PDT", "PRP$", "CD", "POS", "WDT", "WP", "WP$"}  # tags
NUMBER = {"is": "NNS", "was": "NNS", "are": "NN", "were": "NN"}  # a verb, and the noun that it does not go with

JOINING = {",", ";", "and", "but", "or", "so", "that", "which", "who", "whom", "whose", "what", "where", "when", "if"}
JOINING |= {"because", "since", "while", "as", "before", "after", "until", "whenever", "although", "though"}


def agrees(source: Tagged, output: Tagged) -> bool:
    """No "what are the best way", no "a cats", no "a account", no "color of banana" of "a banana".

    As many finite verbs as the source has, and as many of "be", of the same number.
    """
    return _agrees(output) and _verbs_agree(source, output) and _keeps_articles(source, output)


def agrees_as_said(source: Tagged, output: Tagged) -> bool:
    """The same of what a language model said, which has other verbs: no more finite ones than it has room for.

    A verb more has a comma, a conjunction or a relative pronoun more: no "there are two licenses are missing". Nor is
    there "why did I be charged".
    """
    more = _finite(output) - _finite(source)
    room = sum(word in JOINING for word in output.lowered) - sum(word in JOINING for word in source.lowered)
    did_be = re.search(r"\b(do|does|did) (n't |not )?\w+ be\b", " ".join(output.lowered))
    return _agrees(output) and _keeps_articles(source, output) and more <= max(0, room) and not did_be


def _agrees(sentence: Tagged) -> bool:
    """Whether no "is" or "are" stands before "the" or "some", adjectives and a noun of the other number.

    Nor "a" before a plural, adjectives between them or not, or before a vowel, "one" and "European" aside.
    """
    words, tags = sentence.lowered, sentence.tags
    tagged = "".join(f"{'A' if word in ('a', 'an') else tag} " for word, tag in zip(words, tags, strict=True))
    if re.search(r"(^| )A (JJ\w? )*NNS ", tagged) or re.search(r"(^| )a [aeio](?!ne|ur)", " ".join(words)):
        return False
    for place, word in enumerate(words):
        if word in NUMBER and words[place + 1 : place + 2] in (["the"], ["some"]):
            end = place + 2
            while end < len(tags) and tags[end].startswith(("JJ", "RB")):
                end += 1
            while tags[end : end + 1] and "".join(tags[end + 1 : end + 2]).startswith("NN"):  # "sex stories"
                end += 1
            several = NUMBER[word] == "NN" and list(tags[end + 1 : end + 2]) == ["CC"]  # "are the cat and the dog"
            if list(tags[end : end + 1]) == [NUMBER[word]] and not several:
                return False
    return True


def _verbs_agree(source: Tagged, output: Tagged) -> bool:
    """As many finite verbs; "is" is no "are"; none of "be", "been" and "being" goes or comes.

    The nouns are the same ones, so that a verb of the other number fits none of them or not the right one.
    """
    one, other = _numbers_of_be(source), _numbers_of_be(output)
    bare = [sum(word in {"be", "been", "being"} for word in sentence.lowered) for sentence in (source, output)]
    return _finite(source) == _finite(output) and bare[0] == bare[1] and (not one or not other or one == other)


def _keeps_articles(source: Tagged, output: Tagged) -> bool:
    """Whether no noun in the singular stands bare that "a" or "the", or another determiner, stood before."""
    (determined, _), (_, bare) = _by_article(source), _by_article(output)
    return not determined & bare


def _by_article(sentence: Tagged) -> tuple[set[str], set[str]]:
    """Nouns in the singular: those that a determiner stands before, and those that none does."""
    found: tuple[set[str], set[str]] = (set(), set())
    bare = True
    for word, tag in zip(sentence.lowered, sentence.tags, strict=True):
        if tag in DETERMINING:
            bare = False
        elif tag == "NN":
            found[bare].add(word)
        elif not tag.startswith(("NN", "JJ", "RB", "VBN", "VBG", "HYPH", "CC")):  # "my bread and butter"
            bare = True
    return found[0] - found[1], found[1]


def _numbers_of_be(sentence: Tagged) -> set[str]:
    forms = {"'s": "is", "'re": "are"}
    finite = (
        forms.get(word, word) for word, tag in zip(sentence.lowered, sentence.tags, strict=True) if tag[:2] == "VB"
    )
    return {NUMBER[word] for word in finite if word in NUMBER}


def _finite(sentence: Tagged) -> int:
    return sum(tag in ("VBZ", "VBP", "VBD", "MD") for tag in sentence.tags)

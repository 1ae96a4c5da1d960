"""Candidates for a sentence before they are judged: the sentence in other frames, and with synonyms."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from paraform.rewording.adverbials import moved
from paraform.rewording.alternations import exchanged
from paraform.rewording.clauses import statements
from paraform.rewording.command_clauses import turned
from paraform.rewording.conjuncts import swapped
from paraform.rewording.frames import LONGEST, rewrite
from paraform.rewording.indirect import indirect
from paraform.rewording.manner import in_manner
from paraform.rewording.reasons import joined_otherwise
from paraform.rewording.rewritten import SUITS, Rewritten, Suits
from paraform.rewording.slots import ENDINGS
from paraform.rewording.synonyms import substitute
from paraform.rewording.tagged import Tagged
from paraform.spans import written
from paraform.syntax.trees import Tree
from paraform.words import detokenize, recase

_CLOSING = re.compile(r"[.?!…]+|[^\w\s\"'“”‘’`]{2,}|[\U0001F300-\U0001FAFF\u2600-\u27BF]")  # "...", ":)", an emoji
MOST_DRAFTS = 200  # of a sentence; one of nothing but synonyms has thousands
TOGETHER = 2  # synonyms that come into a sentence
MOST_PAIRS = 8  # of synonyms that a language model is asked about
LEAST_PAIR = -4.0  # nats


class Draft(NamedTuple):
    """A candidate for a sentence before it is judged.

    Args:
        form: in words.
        exempt: words that `check` does not look at.
        framed: whether it comes from a rule: a frame, a synonym, the tree.
        wrapped: whether that frame puts something around the same words.
        parsed: whether it was made from the sentence's tree, which says who does what to whom.
        said: whether a language model said it, whose likelihoods answer for its words.
        replaced: if nothing but synonyms, or two things exchanged, makes it another: in how many sentences the
            least sure of these does.
    """

    text: str
    form: str
    exempt: frozenset[str]
    framed: bool
    wrapped: bool = False
    parsed: bool = False
    said: bool = False
    replaced: Suits | None = None


def framed_drafts(source: Tagged, cased: Mapping[str, str], tree: Tree | None = None) -> list[Draft]:
    """The source in other frames, with synonyms, and both; and, where it has a tree, turned by it."""
    frames = rewrite(source.words, source.tags, statements(tree) if tree is not None else ())
    if tree is not None and len(source.words) <= LONGEST:
        frames += [*moved(tree), *turned(tree), *joined_otherwise(tree), *indirect(tree)]
    own = dict(zip(source.lowered, source.tags, strict=True))  # in a frame a word is what it was
    both = [
        Rewritten(more.words, f"{one.form}; {more.form}", one.literals | more.literals, one.wrapped, one.parsed)
        for one in frames
        for more in substitute(one.words, [own.get(word.lower(), "") for word in one.words])
    ]
    replaced = written_drafts(substitute(source.words, source.tags, most=TOGETHER), source, cased)
    drafts = {
        one.text: one for one in (*replaced, *written_drafts([*frames, *both], source, cased))
    }  # a frame's own is kept
    return list(drafts.values())[:MOST_DRAFTS]


def unsure_drafts(source: Tagged, cased: Mapping[str, str], tree: Tree | None = None) -> list[Draft]:
    """The source with a synonym, or two things exchanged by its tree: a language model has to tell what suits it."""
    found = [*swapped(tree), *exchanged(tree)] if tree is not None and len(source.words) <= LONGEST else []
    return written_drafts([*found, *substitute(source.words, source.tags, suits=("most", "some"))], source, cased)


def paired_drafts(source: Tagged, cased: Mapping[str, str], alone: Mapping[str, float]) -> list[Draft]:
    """The source with two synonyms at once, the `MOST_PAIRS` likeliest.

    Args:
        alone: forms of drafts with one synonym each that will do, and `beside` of each: of two it adds up to
            `LEAST_PAIR` or more.
    """
    pairs = [
        (sum(alone[form] for form in one.form.split("; ")), one)
        for one in substitute(source.words, source.tags, suits=SUITS, most=2)
        if "; " in one.form and all(form in alone for form in one.form.split("; "))
    ]
    best = sorted((pair for pair in pairs if pair[0] >= LEAST_PAIR), key=lambda pair: -pair[0])
    return written_drafts([one for _, one in best[:MOST_PAIRS]], source, cased)


def written_drafts(found: Sequence[Rewritten], source: Tagged, cased: Mapping[str, str]) -> list[Draft]:
    """Written as the source is: its blanks, marks and capitals; the first `MOST_DRAFTS`, each once."""
    # The writer's own case says more than the usual one ("us", "10 cm"), but of the word that begins the sentence.
    first = source.lowered[0] if source.words else ""
    named = first.isalpha() and len(first) > 1 and source.tags[0].startswith(("NNP", "JJ"))
    names = {first: cased[first]} if named and first in cased else {}
    if source.words and source.tags[0].startswith("NNP") and source.words[0].istitle():
        names.setdefault(source.lowered[0], source.words[0])  # a name whose capital might be the sentence's
    drafts: dict[str, Draft] = {}
    for one in found[:MOST_DRAFTS]:
        words = [word.lower() for word in one.words]
        usual = {word: name for word, name in names.items() if word not in one.literals}
        # "Can we go to the US?": "us" of the frame is not the US, nor is an "us" that the writer has beside it.
        small = one.literals - _kept_acronyms(source, words)
        small |= {word for word in source.words if word.islower() and word.upper() in source.words}
        recased = recase(words, usual, source.words)
        own = [word in small and word != "i" and place > 0 for place, word in enumerate(one.words)]
        again = [words[at] if own[at] else word for at, word in enumerate(recased)]
        again = _closed(_cased_alike(again, source.words), source.words)
        text = in_manner(detokenize(again) if source.cut is None else written(again, source.cut), source.text)
        draft = Draft(text, one.form, one.literals, True, one.wrapped, one.parsed, replaced=one.suits)
        draft = drafts.setdefault(text, draft)
        if one.parsed and not draft.parsed:  # a frame and the tree say the same: the tree answers for who does what
            drafts[text] = draft._replace(parsed=True)
    return list(drafts.values())


def _cased_alike(words: list[str], source: Sequence[str]) -> list[str]:
    """The words, one that the source has in two cases as before the same next word: "The Life of the Mind"."""
    cases: dict[str, set[str]] = {}
    for word in source[1:]:  # what opens the sentence has its capital for that alone
        cases.setdefault(word.lower(), set()).add(word)
    beside = {(one.lower(), other.lower()): one for one, other in itertools.pairwise(source[1:])}
    return [
        beside.get((word.lower(), following.lower()), word) if place and len(cases.get(word.lower(), ())) > 1 else word
        for place, (word, following) in enumerate(zip(words, [*words[1:], ""], strict=True))
    ]


def _closed(words: list[str], source: Sequence[str]) -> list[str]:
    """The words, at their end what the source has there if that is more than a mark of its kind: "...", "?!", ":)"."""
    closing = _closing(source)
    if len(closing) <= 1 and ENDINGS.issuperset(closing):
        return words
    own = _closing(words)
    return [*words[: len(words) - len(own)], *closing]


def _closing(words: Sequence[str]) -> Sequence[str]:
    size = len(words)
    while size and _CLOSING.fullmatch(words[size - 1]):
        size -= 1
    return words[size:]


def _kept_acronyms(source: Tagged, words: Sequence[str]) -> set[str]:
    """Nouns in capitals of a source that a frame names and keeps: "PIN" of "I forgot my PIN"."""
    tagged = zip(source.words, source.tags, strict=True)
    nouns = {word for word, tag in tagged if tag.startswith("NN") and len(word) > 1 and word.isupper()}
    lowered, cased = source.lowered, [*source.words]
    return {
        word.lower() for word in nouns if cased.count(word) == lowered.count(word.lower()) == words.count(word.lower())
    }

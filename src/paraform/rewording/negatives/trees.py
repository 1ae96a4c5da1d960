"""Negatives that the parse makes: roles exchanged, a denial put in or taken out, an adjunct left out or put in."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence

from paraform.rewording.adverbials import CONJUNCTIONS
from paraform.rewording.inflection import base_of
from paraform.rewording.negatives.altered import Altered, Read, with_article
from paraform.rewording.negatives.lists import Lists
from paraform.rewording.negatives.words import AUXILIARIES, STEMS, asks_whether, says_plainly
from paraform.syntax.trees import Tree

_BE = {"is", "are", "was", "were", "am", "be", "been", "being", "'s", "'re", "equals"}
_SYMMETRIC = {"&", "adjacent", "against", "allies", "ally", "alongside", "and", "apart", "beside", "between"}
_SYMMETRIC |= {"border", "bordered", "bordering", "borders", "brother", "close", "colleague", "colleagues", "cousin"}
_SYMMETRIC |= {"cousins", "differ", "differed", "different", "differs", "distance", "equal", "equals", "equivalent"}
_SYMMETRIC |= {"far", "friend", "friends", "including", "joined", "joins", "kilometers", "kilometres", "km", "married"}
_SYMMETRIC |= {"marry", "meet", "meets", "met", "metres", "mile", "miles", "near", "neighbour", "neighbouring"}
_SYMMETRIC |= {"neighbours", "next", "nor", "opposite", "or", "parallel", "partner", "partners", "resemble"}
_SYMMETRIC |= {"resembles", "rival", "rivals", "same", "sibling", "siblings", "similar", "sister", "synonymous"}
_SYMMETRIC |= {"tied", "together", "twin", "twins", "versus", "vs", "well", "with"}
_FAR = {"far", "distance"}  # before two places: from which to which makes no difference
_LIGHT = {"actually", "also", "as", "certain", "even", "further", "hardly", "here", "however", "indeed", "just"}
_LIGHT |= {"n't", "never", "not", "now", "other", "overall", "own", "particular", "please", "really", "respective"}
_LIGHT |= {"same", "so", "specific", "such", "then", "there", "therefore", "thus", "too", "various", "very", "well"}
_NOT_SO = {"according", "alleged", "allegedly", "fake", "false", "former", "from", "future", "into", "out", "perhaps"}
_NOT_SO |= {"planned", "possible", "possibly", "potential", "probably", "reportedly", "supposedly", "theoretical"}
_NOT_SO |= {"would-be"}
_SAYS_NOTHING = {"additionally", "after all", "as a result", "at all", "by the way", "consequently", "for example"}
_SAYS_NOTHING |= {"for instance", "furthermore", "hence", "in addition", "in fact", "in general", "in other words"}
_SAYS_NOTHING |= {"in particular", "in turn", "moreover", "nevertheless", "nonetheless", "of course"}
_SAYS_NOTHING |= {"on the other hand"}
_DENIALS = {"not", "n't", "never"}
_NO_CONDITION = {"because", "although", "though", "after", "before", "since", "while", "which", "who", "where", "that"}
_TENSED = ("VBD", "VBZ", "VBP")
_AHEAD = {"tomorrow", "tonight", "next", "soon", "upcoming", "later", "will"}
MOST_LEFT_OUT = 0.6  # share of a sentence's words


def roles(read: Read, lists: Lists, drawn: random.Random) -> Iterator[Altered]:
    """Two noun phrases exchanged, or two nouns, or their adjectives; none that a symmetric word joins."""
    if read.tree is None:
        return
    words, tags = read.tagged.words, read.tagged.tags
    phrases = [span for node, span in _spans(read.tree) if _is_thing(node)]
    joined = list(_joined(read.tree, 0))
    adjectives = [(at, at + 1) for at, tag in enumerate(tags) if tag == "JJ" and words[at].lower() not in _LIGHT]
    nouns = [(at, at + 1) for at, tag in enumerate(tags) if tag in ("NN", "NNS", "NNP")]
    for spans in (phrases, adjectives, nouns):
        pairs = [pair for pair in itertools.combinations(spans, 2) if _may_exchange(read, joined, *pair)]
        drawn.shuffle(pairs)
        for one, other in pairs[:3]:
            yield Altered(_exchanged(read, one, other))


def _exchanged(read: Read, one: tuple[int, int], other: tuple[int, int]) -> str:
    """The text with two runs of words exchanged; what opens a sentence gives its capital away."""
    text, spans, words = read.cut.text, read.cut.spans, read.tagged.words
    said = [text[spans[start][0] : spans[end - 1][1]] for start, end in (one, other)]
    if one[0] == 0 and words[0][:1].isupper():
        if words[0][1:].islower() and read.tagged.tags[0] not in ("NNP", "NNPS"):
            said[0] = said[0][:1].lower() + said[0][1:]
        said[1] = said[1][:1].upper() + said[1][1:]
    (left, middle), (start, end) = [(spans[a][0], spans[b - 1][1]) for a, b in (one, other)]
    text = with_article(text[:start] + said[0] + text[end:], start)
    return with_article(text[:left] + said[1] + text[middle:], left)


def _may_exchange(
    read: Read, joined: Sequence[Sequence[tuple[int, int]]], one: tuple[int, int], other: tuple[int, int]
) -> bool:
    """Whether two runs of words are of one kind, and stand neither side by side nor to one another as equals do.

    Args:
        joined: as `_joined` has them.
    """
    words, tags = read.lowered, read.tagged.tags
    if one[1] >= other[0]:
        return False
    first, second, between = words[slice(*one)], words[slice(*other)], words[one[1] : other[0]]
    if {*first} & {*second} or words[one[0] - 1 : one[0]] in (["between"], ["both"]):
        return False
    if (
        _SYMMETRIC & {*first, *between, *second}
        or between.count("as") > 1
        or _FAR & {*words[: one[0]]}
        or all(word in _BE | {","} for word in between)
    ):
        return False
    for parts in joined:  # "apples, pears and plums", "a small old house"
        places = [
            next((at for at, part in enumerate(parts) if part[0] <= x[0] and x[1] <= part[1]), -1) for x in (one, other)
        ]
        if -1 not in places and places[0] != places[1]:
            return False
    heads = tags[one[1] - 1], tags[other[1] - 1]
    return heads[0][:2] == heads[1][:2] and (heads[0] == heads[1] or "NNP" in heads)


def _joined(node: Tree, start: int) -> Iterator[list[tuple[int, int]]]:
    """Where parts begin and end that stand side by side as equals: joined by "and" or commas, or before one noun."""
    parts, place = [], start
    for child in node.children:
        end = place + len(child.words())
        if child.label.startswith(("NP", "NN", "JJ", "ADJP")):
            parts.append((place, end))
        yield from _joined(child, place)
        place = end
    labels = {child.label for child in node.children}
    flat = node.label in ("NP", "ADJP", "NX") and not any(child.label == "NP" for child in node.children)
    if len(parts) > 1 and (flat or (node.label in ("NP", "ADJP", "UCP") and labels & {"CC", ","})):
        yield parts


def _is_thing(node: Tree) -> bool:
    """Whether it is a noun phrase without another in it, and no pronoun."""
    tags = node.tags()
    inner = any(child.children for child in node.children)
    return node.label == "NP" and not inner and tags[-1].startswith("NN") and "PRP" not in tags and "EX" not in tags


def negation(read: Read, lists: Lists, drawn: random.Random) -> Iterator[Altered]:
    """A denial put in or taken out; of a question that begins with its verb neither, which asks the same either way."""
    words, tags = read.lowered, read.tagged.tags
    if asks_whether(read):
        return
    denials = [at for at, word in enumerate(words) if _denies(words, at)]
    for at in denials:
        changes = {at: ""}
        if words[at] == "n't" and at and words[at - 1] in STEMS:
            changes[at - 1] = STEMS[words[at - 1]]
        yield Altered(read.with_words(changes))
    if denials or not words:
        return
    for at, (word, tag) in enumerate(zip(words, tags, strict=True)):
        asked = words[-1] == "?" and (not at or not tags[at - 1].startswith(("NN", "PRP", "EX", "CD")))
        if asked or (tag.startswith("VB") and at and tags[at - 1] == "TO"):
            continue
        if word in AUXILIARIES and tag in ("MD", "VBZ", "VBP", "VBD") and _has_verb_behind(tags, at, word):
            yield Altered(read.with_words({at: f"{word} not" if word != "can" else "cannot"}))
        elif tag == "VBP" and word not in AUXILIARIES and word.isalpha():
            yield Altered(read.with_words({at: f"do not {word}"}))
        elif tag in ("VBZ", "VBD") and (base := base_of(word, tag)):
            yield Altered(read.with_words({at: f"{'does' if tag == 'VBZ' else 'did'} not {base}"}))
        elif tag == "VB" and at == 0 and word.isalpha() and word not in ("let", "please"):
            yield Altered(read.with_words({at: f"do not {word}"}))


def _denies(words: Sequence[str], at: int) -> bool:
    """Whether a word denies; "not only" and "whether or not" do not."""
    return words[at] in _DENIALS and words[at + 1 : at + 2] != ["only"] and words[at - 1 : at] != ["or"]


def _has_verb_behind(tags: Sequence[str], at: int, word: str) -> bool:
    """Whether a form of "have" or "do" helps another verb; of "be" and of modal verbs always."""
    if word in ("has", "have", "had", "do", "does", "did"):
        return any(tag in ("VBN", "VB", "VBD") for tag in tags[at + 1 : at + 4])
    return True


def dropped(read: Read, lists: Lists, drawn: random.Random) -> Iterator[Altered]:
    """Without an adjunct: what is left is so, too, if the sentence says it plainly and no condition went."""
    for start, end in _adjuncts(read):
        text = read.with_spans([(start, end, "")])
        words = read.lowered[start:end]
        plain = says_plainly(read) and words[0] not in CONJUNCTIONS - _NO_CONDITION and not _NOT_SO & {*words}
        yield Altered(text, True if plain else None, False)


def added(read: Read, lists: Lists, drawn: random.Random, others: Sequence[str] = ()) -> Iterator[Altered]:
    """With an adjunct of another sentence behind it.

    Args:
        others: adjuncts, as `adjuncts_of` finds them.
    """
    words = read.lowered
    others = [one for one in others if one.lower() not in read.tagged.text.lower()]
    if others and words:
        ends = len(words) - 1 if words[-1] in {".", "?", "!"} else len(words)
        if ends > 2:
            new = drawn.choice(others)
            spans, text = read.cut.spans, read.cut.text
            left = spans[ends - 1][1]
            yield Altered(f"{text[:left]} {new}{text[left:]}", False, None)


def tense(read: Read, lists: Lists, drawn: random.Random) -> Iterator[Altered]:
    """What was or is will be."""
    words, tags = read.lowered, read.tagged.tags
    if _AHEAD & {*words}:
        return  # what is tomorrow will be
    for at, (word, tag) in enumerate(zip(words, tags, strict=True)):
        asked = words[-1:] == ["?"] or (at and tags[at - 1] in ("WRB", "WP"))
        if asked or word in AUXILIARIES - {"is", "are", "was", "were"} or tag not in _TENSED:
            continue
        if word in ("is", "are", "was", "were"):
            yield Altered(read.with_words({at: "will be"}))
        elif base := base_of(word, tag) if tag != "VBP" else word * word.isalpha():
            yield Altered(read.with_words({at: f"will {base}"}))


def adjuncts_of(read: Read) -> list[str]:
    """Adjuncts of a sentence that may stand behind another: clauses and phrases with a preposition, of two words on."""
    text, spans = read.cut.text, read.cut.spans
    found = []
    for start, end in _adjuncts(read):
        movable = read.lowered[start] in CONJUNCTIONS | {"in", "on", "at", "during", "for", "with", "without", "by"}
        if movable and 2 <= end - start <= 8 and start:
            found.append(text[spans[start][0] : spans[end - 1][1]])
    return found


def _adjuncts(read: Read) -> list[tuple[int, int]]:
    """Where adjuncts begin and end: phrases, clauses, adverbs, adjectives and second conjuncts that may be missing."""
    if read.tree is None:
        return []
    most = MOST_LEFT_OUT * len(read.tagged.words)
    found = [span for parent, at, span in _children(read.tree, 0) if _is_adjunct(parent, at)]
    return [
        (start, end)
        for start, end in found
        if end - start <= most
        and read.lowered[start] not in _LIGHT
        and " ".join(read.lowered[start:end]).strip(" ,") not in _SAYS_NOTHING
    ]


def _is_adjunct(parent: Tree, at: int) -> bool:
    child, before = parent.children[at], parent.children[:at]
    label, first = child.label, next(iter(child.words()), "").lower()
    if label == "PP":
        noun_before = parent.label == "NP" and before and before[-1].label == "NP" and first != "of"
        object_before = parent.label == "VP" and any(one.label in ("NP", "PP", "ADVP", "ADJP") for one in before)
        return bool(noun_before or object_before or (parent.label == "S" and first != "of"))
    if label == "SBAR":
        relative = parent.label == "NP" and before and before[-1].label == "NP"
        return bool(relative or first in CONJUNCTIONS)
    if label in ("ADVP", "RB"):
        return parent.label in ("VP", "S") and len(parent.children) > 1
    if label in ("JJ", "ADJP"):
        behind = parent.children[at + 1 :]
        return parent.label == "NP" and bool(behind) and behind[-1].label in ("NN", "NNS")
    return False


def _spans(tree: Tree) -> Iterator[tuple[Tree, tuple[int, int]]]:
    yield tree, (0, len(tree.words()))
    yield from ((parent.children[at], span) for parent, at, span in _children(tree, 0))


def _children(node: Tree, start: int) -> Iterator[tuple[Tree, int, tuple[int, int]]]:
    """Each child below a node: its parent, its place there, and from which word to which it goes."""
    place = start
    for at, child in enumerate(node.children):
        end = place + len(child.words())
        yield node, at, (place, end)
        yield from _children(child, place)
        place = end

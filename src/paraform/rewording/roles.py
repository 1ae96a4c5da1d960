"""Who does what to whom: whether the nouns of a rewording stand to its verbs and prepositions as the source's did."""

from __future__ import annotations

import itertools
from collections.abc import Set

from paraform.rewording.tagged import Tagged

OTHERS = {"in", "of", "on", "at", "with", "for", "about"}
PREPOSITIONS = {"from", "to", "by", "than", "before", "after", "into", "without", "against", "over", "under", "towards"}
# Of these a sentence may have more or fewer and say the same.
LIGHT = {"do", "does", "did", "done", "doing", "be", "is", "are", "was", "were", "been", "being", "am"}
LIGHT |= {"have", "has", "had", "having", "some", "any", "there"}
OWNING = {"have", "has", "had"}


def keeps_roles(source: Tagged, output: Tagged, *, adverbials_move: bool = False) -> bool:
    """Whether the shared nouns stand to the shared verbs and prepositions as they did.

    Of a preposition such as "from": that no shared noun has taken another's place behind it. Of a verb that both have
    once: that no shared noun has gone from before to behind it, or back, unless one of both is passive. Where one is,
    and not the other: that whom something is done by stands before another shared noun in the active one.

    Args:
        adverbials_move: a noun that stands behind the same preposition in both may stand on either side of a verb.
    """
    ours, theirs = _governed(source), _governed(output)
    for noun in ours.keys() & theirs.keys():
        if not ours[noun] & theirs[noun] and any(ours[noun] & theirs[other] for other in theirs if other != noun):
            return False
    nouns = _once(source, "NN") & _once(output, "NN")
    for preposition in PREPOSITIONS:
        here, there = ({noun for noun in nouns if preposition in governed.get(noun, ())} for governed in (ours, theirs))
        if here - there and there - here:
            return False
    free: set[str] = set()
    if adverbials_move:
        ours_all, theirs_all = (_governed(one, PREPOSITIONS | OTHERS) for one in (source, output))
        free = {noun for noun in ours_all.keys() & theirs_all.keys() if ours_all[noun] & theirs_all[noun]}
    before, after = source.lowered, output.lowered
    if _passive(source) != _passive(output):
        active, passive, governed, done = (
            (after, before, ours, theirs) if _passive(source) else (before, after, theirs, ours)
        )
        return not any(
            passive.index(other) < passive.index(agent) and active.index(other) < active.index(agent)
            for agent in nouns
            if "by" in governed.get(agent, ()) and "by" not in done.get(agent, ())
            for other in nouns
        )
    for verb in (_once(source, "VB") & _once(output, "VB")) - (LIGHT - OWNING) - _helping(source):
        for noun in nouns:
            if noun in free:
                continue
            if (before.index(noun) < before.index(verb)) != (after.index(noun) < after.index(verb)):
                return False
    return True


def keeps_phrases(source: Tagged, output: Tagged) -> bool:
    """Whether no noun of the source has got an adjective, noun or preposition that stood before another one there."""

    def phrases(sentence: Tagged) -> set[tuple[str, str]]:
        tagged = itertools.pairwise(zip(sentence.lowered, sentence.tags, strict=True))
        beside = {(a, b) for (a, its), (b, tag) in tagged if its[:2] in ("JJ", "NN") and tag[:2] in ("JJ", "NN")}
        return beside | {(a, b) for b, some in _governed(sentence, PREPOSITIONS | OTHERS).items() for a in some}

    ours = phrases(source)
    taken, known = {word for word, _ in ours}, {*source.lowered}
    return not any(word in taken and noun in known for word, noun in phrases(output) - ours)


def _once(sentence: Tagged, tag: str) -> set[str]:
    words = sentence.lowered
    return {
        word for word, its in zip(words, sentence.tags, strict=True) if its.startswith(tag) and words.count(word) == 1
    }


def _helping(sentence: Tagged) -> set[str]:
    """The forms of "have" that stand before a participle, or before their subject and one."""
    words = sentence.lowered
    return {word for at, word in enumerate(words) if word in OWNING and {"VBN", "VBD"} & {*sentence.tags[at + 1 :]}}


def _governed(sentence: Tagged, prepositions: Set[str] = PREPOSITIONS) -> dict[str, set[str]]:
    """Which of the prepositions stand before each noun that ends a noun phrase."""
    out: dict[str, set[str]] = {}
    preposition = ""
    words = sentence.lowered
    for place, (word, tag) in enumerate(zip(words, sentence.tags, strict=True)):
        if tag in ("IN", "TO") or tag.startswith("VB"):
            preposition = word if word in prepositions else ""
        elif tag.startswith("NN") and not (list(sentence.tags[place + 1 : place + 2]) or [""])[0].startswith("NN"):
            if preposition:
                out.setdefault(word, set()).add(preposition)
            preposition = ""
    return out


def _passive(sentence: Tagged) -> bool:
    be = {"is", "are", "was", "were", "be", "been", "being", "am", "'s", "'re", "get", "got"}
    words = sentence.lowered
    return any(tag == "VBN" and be & set(words[max(0, at - 4) : at]) for at, tag in enumerate(sentence.tags))
